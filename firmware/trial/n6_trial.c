/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trial.h"

#include <stddef.h>

#include "n6_boot_header.h"
#include "n6_console_lines.h"
#include "n6_nor_write.h"
#include "n6_reg.h"
#include "n6_soc_programs.h"
#include "n6_trial_rules.h"
#include "n6_watchdog.h"

/* Each copy has one sector of the board. Only its first part is used: a sector of the smallest erase size of the NOR. */
#define COPY_BYTES (N6_TRIAL_JOURNAL_BYTES / N6_JOURNAL_COPIES)

/* A word of the header before the Appli in RAM, which is no longer used. */
#define HANDED_OVER (N6_APPLI_LOAD_ADDRESS + offsetof(n6_boot_header_t, reserved_1))

static const char GIVEN_UP[] = "N6-FW-080 started on trial and was not confirmed";
static const char NOT_WRITTEN[] = "N6-FW-081 the journal of trials cannot be written";
static const char NO_ROOM[] = "N6-FW-082 the journal of trials has no room for another image";

static bool erase(uint32_t offset)
{
    return n6_nor_erase(N6_TRIAL_JOURNAL_ADDRESS + offset);
}

static bool program(uint32_t offset, const void *data, uint32_t bytes)
{
    return n6_nor_program(N6_TRIAL_JOURNAL_ADDRESS + offset, data, bytes);
}

static const n6_journal_flash_t flash = {
    .content = (const uint8_t *)(uintptr_t)N6_TRIAL_JOURNAL_ADDRESS,
    .copy_bytes = COPY_BYTES,
    .records = N6_NOR_SECTOR_BYTES / sizeof(n6_journal_record_t),
    .erase = erase,
    .program = program,
};

/* The current record, and one bit per entry that is on trial in this start. */
static n6_journal_record_t record;
static uint32_t on_trial;

static uint32_t bit_of(const n6_journal_entry_t *entry)
{
    return 1u << (uint32_t)(entry - record.entries);
}

bool n6_trial_open(void)
{
    const n6_reset_cause_t cause = n6_watchdog_reset_cause();
    if (cause.is_watchdog) {
        n6_line_trial_watchdog();
    }
    n6_journal_read(&flash, &record);
    on_trial = 0u;
    return cause.is_watchdog || cause.is_program;
}

void n6_trial_hand_over(uint32_t image)
{
    N6_REG32(HANDED_OVER) = image;
}

/* Return the entry of the Appli that the FSBL starts, or NULL. */
static const n6_journal_entry_t *started_appli(void)
{
    return N6_TRIAL_APPLI_ADDRESS != 0u ? n6_trial_find(&record, N6_TRIAL_APPLI, N6_REG32(HANDED_OVER)) : NULL;
}

bool n6_trial_is_confirmed(void)
{
    const n6_journal_entry_t *entry = started_appli();
    return entry != NULL && entry->state == N6_IMAGE_CONFIRMED;
}

void n6_trial_resume(void)
{
    (void)n6_trial_open();
    const n6_journal_entry_t *entry = started_appli();
    /* An Appli that has failed runs as the last resort, and may prove that it works. */
    if (entry != NULL && entry->state != N6_IMAGE_CONFIRMED) {
        on_trial |= bit_of(entry);
    }
}

void n6_trial_keep(uint32_t subject, const uint32_t *images, uint32_t count)
{
    n6_trial_keep_images(&record, subject, images, count);
}

const char *n6_trial_begin(uint32_t subject, const char *name, uint32_t image)
{
    switch (n6_trial_judge(&record, subject, image, N6_TRIAL_STARTS)) {
    case N6_TRIAL_WORKS:
        return "";
    case N6_TRIAL_FAILED:
        return GIVEN_UP;
    case N6_TRIAL_GIVEN_UP:
        return n6_journal_write(&flash, &record) ? GIVEN_UP : NOT_WRITTEN;
    case N6_TRIAL_NO_ROOM:
        return NO_ROOM;
    case N6_TRIAL_BEGINS:
        break;
    }
    if (!n6_journal_write(&flash, &record)) {
        return NOT_WRITTEN;
    }
    const n6_journal_entry_t *entry = n6_trial_find(&record, subject, image);
    on_trial |= bit_of(entry);
    N6_LINE(trial_begin, .name = name, .image = entry->image, .start = entry->starts, .of = N6_TRIAL_STARTS);
    n6_watchdog_start(N6_TRIAL_WATCHDOG_MS);
    return "";
}

void n6_trial_begin_anyway(uint32_t subject, const char *name, uint32_t image)
{
    const n6_journal_entry_t *entry = n6_trial_find(&record, subject, image);
    if (entry != NULL) {
        on_trial |= bit_of(entry);
    }
    N6_LINE(trial_last_resort, .name = name);
    n6_watchdog_start(N6_TRIAL_WATCHDOG_MS);
}

void n6_trial_reject(uint32_t subject, uint32_t image)
{
    n6_journal_entry_t *entry = n6_trial_find(&record, subject, image);
    if (entry == NULL || (on_trial & bit_of(entry)) == 0u) {
        return;
    }
    on_trial &= ~bit_of(entry);
    if (entry->state == N6_IMAGE_FAILED) {
        /* A last resort that failed again: its starts are not limited, so recording each would wear the flash. */
        return;
    }
    entry->state = N6_IMAGE_FAILED;
    /* If the write fails, the count of its starts still limits them. */
    (void)n6_journal_write(&flash, &record);
}

bool n6_trial_confirm(void)
{
    if (on_trial == 0u) {
        return true;
    }
    for (uint32_t i = 0; i < N6_JOURNAL_ENTRIES; i++) {
        if ((on_trial >> i & 1u) != 0u) {
            record.entries[i].state = N6_IMAGE_CONFIRMED;
        }
    }
    n6_watchdog_feed();
    bool written = n6_journal_write(&flash, &record);
    if (written) {
        n6_line_trial_confirmed();
    } else {
        N6_LINE(trial_not_confirmed, .reason = NOT_WRITTEN);
    }
    on_trial = 0u;
    n6_watchdog_start(N6_WATCHDOG_MAX_MS);
    return written;
}
