/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_model_slot.h"

#include <stddef.h>

#include "n6_crc32.h"

#define ALIGNMENT N6_MODEL_TRAILER_ALIGNMENT

const uint8_t *n6_model_slot_test_input(const n6_model_trailer_t *trailer)
{
    return (const uint8_t *)(trailer + 1);
}

n6_model_slot_status_t n6_model_slot_check(uint32_t address, uint32_t bytes, uint32_t slot_bytes, const n6_model_trailer_t **trailer)
{
    *trailer = NULL;
    if (bytes == 0u) {
        return N6_MODEL_SLOT_EMPTY;
    }
    if (bytes > slot_bytes || slot_bytes - bytes < ALIGNMENT + sizeof(n6_model_trailer_t)) {
        return N6_MODEL_SLOT_TRUNCATED;
    }
    uint32_t offset = (bytes + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
    const n6_model_trailer_t *found = (const n6_model_trailer_t *)(uintptr_t)(address + offset);
    if (found->magic != N6_MODEL_TRAILER_MAGIC || found->layout != N6_MODEL_TRAILER_LAYOUT || found->bytes != bytes ||
        found->trailer_crc32 != n6_crc32((const uint8_t *)found, offsetof(n6_model_trailer_t, trailer_crc32))) {
        return N6_MODEL_SLOT_TRUNCATED;
    }
    if (found->test_input_bytes > slot_bytes - offset - sizeof *found ||
        n6_crc32((const uint8_t *)(uintptr_t)address, bytes) != found->crc32 ||
        n6_crc32(n6_model_slot_test_input(found), found->test_input_bytes) != found->test_input_crc32) {
        return N6_MODEL_SLOT_DAMAGED;
    }
    *trailer = found;
    return N6_MODEL_SLOT_OK;
}

const char *n6_model_slot_text(n6_model_slot_status_t status)
{
    switch (status) {
    case N6_MODEL_SLOT_OK:
        return "";
    case N6_MODEL_SLOT_EMPTY:
        return "N6-FW-020 erased flash slot";
    case N6_MODEL_SLOT_TRUNCATED:
        return "N6-FW-021 truncated image in the flash slot";
    case N6_MODEL_SLOT_DAMAGED:
        return "N6-FW-023 damaged image (CRC) in the flash slot";
    }
    return "";
}
