/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_SLOT_H
#define N6_SLOT_H

#include <stdint.h>
#if N6_TRUST

#include "n6_encryption_format.h"
#include "n6_trust.h"
#endif

typedef enum {
    N6_SLOT_OK,
    N6_SLOT_ERASED,    /* nothing is programmed */
    N6_SLOT_TRUNCATED, /* the data begins, but its end is not programmed */
    N6_SLOT_WRONG,     /* data of another length or of another network */
    N6_SLOT_DAMAGED,   /* the CRC differs from that of the trailer */
} n6_slot_status_t;

/* Check data in flash against its trailer (n6_slot_trailer.h). crc32: of the data. */
n6_slot_status_t n6_slot_check(uint32_t source, uint32_t bytes, uint32_t signature, uint32_t *crc32);

#if N6_TRUST
/* Compare data that n6_slot_check() accepted with the release. data: the copy in use, or the data in flash itself, which is
 * digested with trust=full. behind: a copy of the bytes behind the trailer, if the release covers them. subject: as the release
 * names it. Return "", or an error (id and text) to be followed by the data's
 * name. */
const char *n6_slot_verify(uint32_t source, uint32_t data, uint32_t bytes, uint32_t signature, n6_trust_part_t behind,
                           const uint8_t *subject);
#endif

#if N6_ENCRYPTION
/* Return the record of encrypted data in flash, which is behind its trailer. */
n6_encryption_t n6_slot_encryption(uint32_t source, uint32_t bytes);
#endif

/* Return the error of a status (id and text), to be followed by the data's name; "" for N6_SLOT_OK. */
const char *n6_slot_text(n6_slot_status_t status);

#endif
