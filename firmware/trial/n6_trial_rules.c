/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trial_rules.h"

#include <stddef.h>

n6_journal_entry_t *n6_trial_find(n6_journal_record_t *record, uint32_t subject, uint32_t image)
{
    for (uint32_t i = 0; i < N6_JOURNAL_ENTRIES; i++) {
        n6_journal_entry_t *entry = &record->entries[i];
        if (entry->state != N6_IMAGE_UNKNOWN && entry->subject == subject && entry->image == image) {
            return entry;
        }
    }
    return NULL;
}

static bool is_among(uint32_t image, const uint32_t *images, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (images[i] == image) {
            return true;
        }
    }
    return false;
}

void n6_trial_keep_images(n6_journal_record_t *record, uint32_t subject, const uint32_t *images, uint32_t count)
{
    for (uint32_t i = 0; i < N6_JOURNAL_ENTRIES; i++) {
        n6_journal_entry_t *entry = &record->entries[i];
        if (entry->state != N6_IMAGE_UNKNOWN && entry->subject == subject && !is_among(entry->image, images, count)) {
            *entry = (n6_journal_entry_t){0};
        }
    }
}

static n6_trial_verdict_t begin(n6_journal_record_t *record, uint32_t subject, uint32_t image)
{
    for (uint32_t i = 0; i < N6_JOURNAL_ENTRIES; i++) {
        if (record->entries[i].state == N6_IMAGE_UNKNOWN) {
            record->entries[i] = (n6_journal_entry_t){subject, image, N6_IMAGE_TRYING, 1u};
            return N6_TRIAL_BEGINS;
        }
    }
    return N6_TRIAL_NO_ROOM;
}

n6_trial_verdict_t n6_trial_judge(n6_journal_record_t *record, uint32_t subject, uint32_t image, uint32_t starts)
{
    n6_journal_entry_t *entry = n6_trial_find(record, subject, image);
    if (entry == NULL) {
        return begin(record, subject, image);
    }
    if (entry->state == N6_IMAGE_CONFIRMED) {
        return N6_TRIAL_WORKS;
    }
    if (entry->state == N6_IMAGE_FAILED) {
        return N6_TRIAL_FAILED;
    }
    if (entry->starts >= starts) {
        entry->state = N6_IMAGE_FAILED;
        return N6_TRIAL_GIVEN_UP;
    }
    entry->starts++;
    return N6_TRIAL_BEGINS;
}
