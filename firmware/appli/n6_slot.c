/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_slot.h"

#include <stddef.h>

#include "n6_crc32.h"
#include "n6_slot_trailer.h"

#define ERASED 0xFFFFFFFFu

n6_slot_status_t n6_slot_check(uint32_t source, uint32_t bytes, uint32_t signature, uint32_t *crc32)
{
    const uint8_t *data = (const uint8_t *)(uintptr_t)source;
    uint32_t offset = (bytes + N6_SLOT_TRAILER_ALIGNMENT - 1u) & ~(N6_SLOT_TRAILER_ALIGNMENT - 1u);
    const n6_slot_trailer_t *trailer = (const n6_slot_trailer_t *)(uintptr_t)(source + offset);
    *crc32 = n6_crc32(data, bytes);
    if (trailer->magic == ERASED && trailer->crc32 == ERASED) {
        for (uint32_t i = 0; i < bytes; i++) {
            if (data[i] != 0xFFu) {
                return N6_SLOT_TRUNCATED;
            }
        }
        return N6_SLOT_ERASED;
    }
    if (trailer->magic != N6_SLOT_TRAILER_MAGIC || trailer->bytes != bytes || trailer->signature != signature) {
        return N6_SLOT_WRONG;
    }
    return trailer->crc32 == *crc32 ? N6_SLOT_OK : N6_SLOT_DAMAGED;
}

#if N6_TRUST
static uint32_t aligned(uint32_t bytes, uint32_t alignment)
{
    return (bytes + alignment - 1u) & ~(alignment - 1u);
}

#if N6_ENCRYPTION
n6_encryption_t n6_slot_encryption(uint32_t source, uint32_t bytes)
{
    uint32_t offset = aligned(bytes, N6_SLOT_TRAILER_ALIGNMENT) + sizeof(n6_slot_trailer_t);
    return *(const n6_encryption_t *)(uintptr_t)(source + offset);
}
#endif

const char *n6_slot_verify(uint32_t source, uint32_t data, uint32_t bytes, uint32_t signature, n6_trust_part_t behind,
                           const uint8_t *subject)
{
    /* A copy: flash that returns other data at a second read is not read again. */
    uint32_t offset = aligned(bytes, N6_SLOT_TRAILER_ALIGNMENT);
    n6_slot_trailer_t trailer = *(const n6_slot_trailer_t *)(uintptr_t)(source + offset);
    const n6_trust_image_t image = {
        .subject = subject,
        .fixed = {{NULL, 0u}, {&trailer, sizeof trailer}, behind},
        .weights = {(const void *)(uintptr_t)data, bytes},
    };
    if (trailer.bytes != bytes || trailer.signature != signature) {
        return n6_slot_text(N6_SLOT_WRONG);
    }
    return n6_trust_lists(n6_release, &image, N6_TRUST >= N6_TRUST_FULL) ? "" : N6_TRUST_NOT_LISTED;
}
#endif

const char *n6_slot_text(n6_slot_status_t status)
{
    switch (status) {
    case N6_SLOT_OK:
        return "";
    case N6_SLOT_ERASED:
        return "N6-FW-020 erased flash slot of ";
    case N6_SLOT_TRUNCATED:
        return "N6-FW-021 truncated image in the flash slot of ";
    case N6_SLOT_WRONG:
        return "N6-FW-022 image of another network in the flash slot of ";
    case N6_SLOT_DAMAGED:
        return "N6-FW-023 damaged image (CRC) in the flash slot of ";
    }
    return "";
}
