/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_journal.h"

#include <stddef.h>
#include <string.h>

#include "n6_crc32.h"

#define RECORD_BYTES sizeof(n6_journal_record_t)
#define CRC_OFFSET offsetof(n6_journal_record_t, crc32)
#define ERASED 0xFFu

/* The position of a record. */
typedef struct {
    uint32_t copy;
    uint32_t index;
} place_t;

static uint32_t offset_of(const n6_journal_flash_t *flash, place_t place)
{
    return place.copy * flash->copy_bytes + place.index * RECORD_BYTES;
}

static bool read_whole(const n6_journal_flash_t *flash, place_t place, n6_journal_record_t *record)
{
    memcpy(record, flash->content + offset_of(flash, place), RECORD_BYTES);
    return record->magic == N6_JOURNAL_MAGIC && record->crc32 == n6_crc32((const uint8_t *)record, CRC_OFFSET);
}

static bool find_newest(const n6_journal_flash_t *flash, place_t *place, n6_journal_record_t *newest)
{
    bool found = false;
    for (uint32_t copy = 0; copy < N6_JOURNAL_COPIES; copy++) {
        for (uint32_t index = 0; index < flash->records; index++) {
            n6_journal_record_t record;
            if (!read_whole(flash, (place_t){copy, index}, &record)) {
                continue;
            }
            if (!found || (int32_t)(record.sequence - newest->sequence) > 0) {
                *newest = record;
                *place = (place_t){copy, index};
                found = true;
            }
        }
    }
    return found;
}

void n6_journal_read(const n6_journal_flash_t *flash, n6_journal_record_t *record)
{
    place_t place;
    if (!find_newest(flash, &place, record)) {
        memset(record, 0, RECORD_BYTES);
    }
}

/* Check that a place and the rest of its copy are erased. The remains of a record after a power cut are skipped. */
static bool is_erased_from(const n6_journal_flash_t *flash, place_t place)
{
    const uint8_t *content = flash->content + offset_of(flash, place);
    for (uint32_t i = 0; i < (flash->records - place.index) * RECORD_BYTES; i++) {
        if (content[i] != ERASED) {
            return false;
        }
    }
    return true;
}

static bool program(const n6_journal_flash_t *flash, place_t place, const n6_journal_record_t *record)
{
    uint32_t offset = offset_of(flash, place);
    return flash->program(offset, record, RECORD_BYTES) && memcmp(flash->content + offset, record, RECORD_BYTES) == 0;
}

bool n6_journal_write(const n6_journal_flash_t *flash, n6_journal_record_t *record)
{
    n6_journal_record_t newest;
    place_t place = {N6_JOURNAL_COPIES - 1u, flash->records - 1u};
    uint32_t sequence = find_newest(flash, &place, &newest) ? newest.sequence + 1u : 0u;
    record->magic = N6_JOURNAL_MAGIC;
    record->sequence = sequence;
    record->crc32 = n6_crc32((const uint8_t *)record, CRC_OFFSET);
    while (++place.index < flash->records) {
        if (is_erased_from(flash, place) && program(flash, place, record)) {
            return true;
        }
    }
    place = (place_t){(place.copy + 1u) % N6_JOURNAL_COPIES, 0u};
    return flash->erase(place.copy * flash->copy_bytes) && program(flash, place, record);
}
