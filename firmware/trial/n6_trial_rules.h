/* SPDX-License-Identifier: Apache-2.0
 *
 * Which image may be started: one that has confirmed itself, or a new one, a few times, until it does.
 */
#ifndef N6_TRIAL_RULES_H
#define N6_TRIAL_RULES_H

#include "n6_journal.h"

typedef enum {
    N6_TRIAL_WORKS,    /* it was confirmed: nothing has to be remembered */
    N6_TRIAL_BEGINS,   /* one start more, which has to be remembered first */
    N6_TRIAL_FAILED,   /* it is not started again */
    N6_TRIAL_GIVEN_UP, /* it has failed just now, with its last start, which has to be remembered */
    N6_TRIAL_NO_ROOM,  /* there are more images than a record has entries */
} n6_trial_verdict_t;

/* The entry of an image, or NULL. */
n6_journal_entry_t *n6_trial_find(n6_journal_record_t *record, uint32_t subject, uint32_t image);

/* Forgets the images of a subject that are no longer there. */
void n6_trial_keep_images(n6_journal_record_t *record, uint32_t subject, const uint32_t *images, uint32_t count);

/* Whether an image may be started, and that it now is. starts: at most so many before it is confirmed. */
n6_trial_verdict_t n6_trial_judge(n6_journal_record_t *record, uint32_t subject, uint32_t image, uint32_t starts);

#endif
