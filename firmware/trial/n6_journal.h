/* SPDX-License-Identifier: Apache-2.0
 *
 * The board's journal of started images, in two copies of a flash sector. Records follow one another; the newest whole record is
 * valid. After a power cut during a write the previous record is valid. The older copy is erased only when the newer one is
 * full.
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
    N6_IMAGE_TRYING,    /* was started `starts` times, and has not confirmed itself */
    N6_IMAGE_CONFIRMED, /* works */
    N6_IMAGE_FAILED,    /* is not started again */
} n6_image_state_t;

/* An image. subject: the model or the Appli. image: identifies the image of a subject. state: n6_image_state_t. */
typedef struct {
    uint32_t subject;
    uint32_t image;
    uint16_t state;
    uint16_t starts;
} n6_journal_entry_t;

/* A record in flash: one page of a NOR, programmed at once. sequence: counts up and may wrap. */
typedef struct {
    uint32_t magic;
    uint32_t sequence;
    n6_journal_entry_t entries[N6_JOURNAL_ENTRIES];
    uint32_t reserved;
    uint32_t crc32; /* of the words before it */
} n6_journal_record_t;

_Static_assert(sizeof(n6_journal_record_t) == 256u, "a page");

/* The flash of the journal. content: both copies in the CPU's address space, copy_bytes apart. records: number per erase unit.
 * erase, program: by offset from content; they return false if the flash failed. */
typedef struct {
    const uint8_t *content;
    uint32_t copy_bytes;
    uint32_t records;
    bool (*erase)(uint32_t offset);
    bool (*program)(uint32_t offset, const void *data, uint32_t bytes);
} n6_journal_flash_t;

/* Read the newest whole record, or a record without entries. */
void n6_journal_read(const n6_journal_flash_t *flash, n6_journal_record_t *record);

/* Append a record; set its sequence and crc32. Return false if the flash does not keep it; the previous record stays valid. */
bool n6_journal_write(const n6_journal_flash_t *flash, n6_journal_record_t *record);

#endif
