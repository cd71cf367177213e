/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules for starts: a confirmed image may always be started, a new image a few times, until it confirms itself.
 */
#ifndef N6_TRIAL_RULES_H
#define N6_TRIAL_RULES_H

#include "n6_journal.h"

typedef enum {
    N6_TRIAL_WORKS,    /* the image is confirmed: nothing to record */
    N6_TRIAL_BEGINS,   /* one more start, which must be recorded first */
    N6_TRIAL_FAILED,   /* the image is not started again */
    N6_TRIAL_GIVEN_UP, /* the image has just failed, after its last start, which must be recorded */
    N6_TRIAL_NO_ROOM,  /* more images than entries of a record */
} n6_trial_verdict_t;

/* Return the entry of an image, or NULL. */
n6_journal_entry_t *n6_trial_find(n6_journal_record_t *record, uint32_t subject, uint32_t image);

/* Remove the images of a subject that no longer exist. */
void n6_trial_keep_images(n6_journal_record_t *record, uint32_t subject, const uint32_t *images, uint32_t count);

/* Decide about the start of an image, and count the start in the record. starts: the most before it is confirmed. */
n6_trial_verdict_t n6_trial_judge(n6_journal_record_t *record, uint32_t subject, uint32_t image, uint32_t starts);

#endif
