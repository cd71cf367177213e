/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_SLOT_H
#define N6_SLOT_H

#include <stdint.h>

typedef enum {
    N6_SLOT_OK,
    N6_SLOT_ERASED,    /* nothing was programmed */
    N6_SLOT_TRUNCATED, /* begins, but its end was not programmed */
    N6_SLOT_WRONG,     /* data of another length or of another network */
    N6_SLOT_DAMAGED,   /* its CRC is not that of its trailer */
} n6_slot_status_t;

/* Data in flash with its trailer (n6_slot_trailer.h). crc32: of the data. */
n6_slot_status_t n6_slot_check(uint32_t source, uint32_t bytes, uint32_t signature, uint32_t *crc32);

#if N6_TRUST
/* The signature over such data, which n6_slot_check() has found whole. data: the copy that is used, or the data in flash itself; with
 * trust=full it is verified, too. Returns "", or id and words in front of the data's name. */
const char *n6_slot_verify(uint32_t source, uint32_t data, uint32_t bytes, uint32_t signature);
#endif

/* What to print for a status: id and words. */
const char *n6_slot_text(n6_slot_status_t status);

#endif
