/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_slot.h"

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
