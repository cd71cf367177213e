/* SPDX-License-Identifier: Apache-2.0
 *
 * What a board remembers of the images that it has started, in two copies of a flash sector: records one behind the other, of which the
 * newest whole one holds. A power cut while a record is written leaves the one before; the older copy is erased only once the newer
 * one is full.
 */
#ifndef N6_JOURNAL_H
#define N6_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#define N6_JOURNAL_MAGIC 0x4A54364Eu /* N6TJ */
#define N6_JOURNAL_ENTRIES 20u
#define N6_JOURNAL_COPIES 2u

typedef enum {
    N6_IMAGE_UNKNOWN,
    N6_IMAGE_TRYING,    /* was started so many times, and has not confirmed itself */
    N6_IMAGE_CONFIRMED, /* works */
    N6_IMAGE_FAILED,    /* is not started again */
} n6_image_state_t;

/* subject: what images are of, a model or the Appli. image: tells them apart. state: n6_image_state_t. */
typedef struct {
    uint32_t subject;
    uint32_t image;
    uint16_t state;
    uint16_t starts;
} n6_journal_entry_t;

/* As it stands in flash; a page of a NOR, programmed at once. sequence: counts up and may wrap. */
typedef struct {
    uint32_t magic;
    uint32_t sequence;
    n6_journal_entry_t entries[N6_JOURNAL_ENTRIES];
    uint32_t reserved;
    uint32_t crc32; /* of the words in front of it */
} n6_journal_record_t;

_Static_assert(sizeof(n6_journal_record_t) == 256u, "a page");

/* Where the journal is. content: both copies, as the CPU reads them, copy_bytes apart. records: that fit into what erase erases. erase,
 * program: by offset from content; false where the flash did not do it. */
typedef struct {
    const uint8_t *content;
    uint32_t copy_bytes;
    uint32_t records;
    bool (*erase)(uint32_t offset);
    bool (*program)(uint32_t offset, const void *data, uint32_t bytes);
} n6_journal_flash_t;

/* The newest whole record, or one without entries. */
void n6_journal_read(const n6_journal_flash_t *flash, n6_journal_record_t *record);

/* Behind the newest one: sets sequence and crc32. False where the flash does not keep it; what was read before is still there. */
bool n6_journal_write(const n6_journal_flash_t *flash, n6_journal_record_t *record);

#endif
