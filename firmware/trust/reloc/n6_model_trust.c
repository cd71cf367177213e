/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_model_trust.h"

#include <string.h>

#include "n6_model_trailer.h"
#include "n6_reloc_check.h"
#include "n6_trust.h"

static uint32_t aligned(uint32_t bytes, uint32_t alignment)
{
    return (bytes + alignment - 1u) & ~(alignment - 1u);
}

/* A part of a slot: a file, its trailer and test input. code: of the copy; weights: the rest of the file, in flash. */
typedef struct {
    const uint8_t *subject;
    n6_trust_part_t code;
    n6_trust_part_t weights;
    uint32_t flash;
    uint32_t room;
} part_t;

/* Look a part up in the release. trailer: receives a copy of its trailer. */
static bool is_listed(const part_t *part, n6_model_trailer_t *trailer)
{
    uint32_t bytes = part->code.bytes + part->weights.bytes;
    uint32_t offset = aligned(bytes, N6_MODEL_TRAILER_ALIGNMENT);
    if (bytes > part->room || part->room - bytes < N6_MODEL_TRAILER_ALIGNMENT + sizeof *trailer) {
        return false;
    }
    memcpy(trailer, (const void *)(uintptr_t)(part->flash + offset), sizeof *trailer);
    offset += sizeof *trailer;
    uint32_t test_bytes = trailer->test_input_bytes;
    if (test_bytes > part->room - offset) {
        return false;
    }
    /* The revision is not part of the release: a model gets it at programming. */
    n6_model_trailer_t fixed = *trailer;
    fixed.revision = 0u;
    fixed.trailer_crc32 = 0u;
    const n6_trust_image_t image = {
        .subject = part->subject,
        .fixed = {part->code, {&fixed, sizeof fixed}, {(const void *)(uintptr_t)(part->flash + offset), test_bytes}},
        .weights = part->weights,
    };
    return n6_trust_lists(n6_release, &image, N6_TRUST >= N6_TRUST_FULL);
}

const char *n6_model_verify(const n6_model_slot_t *slot, const n6_model_subject_t *subject, n6_verified_ram_t ram,
                            n6_model_slot_t *verified)
{
    const n6_reloc_header_t *flash = (const n6_reloc_header_t *)(uintptr_t)slot->file;
    uint32_t bytes = n6_reloc_file_bytes(flash, slot->file_bytes), split = flash->params_offset;
    uint32_t code = split == 0u ? bytes : split;
    if (bytes == 0u || code > bytes) {
        return N6_TRUST_NOT_LISTED;
    }
    if (code > ram.bytes) {
        return "N6-FW-094 needs more RAM for its verified copy: ";
    }
    memcpy(ram.start, flash, code);
    n6_reloc_header_t *copy = (n6_reloc_header_t *)(void *)ram.start;
    n6_model_trailer_t trailer;
    const part_t file = {
        subject->model,
        {copy, code},
        {(const void *)(uintptr_t)(slot->file + code), bytes - code},
        slot->file,
        slot->file_bytes,
    };
    if (!is_listed(&file, &trailer)) {
        return N6_TRUST_NOT_LISTED;
    }
    *verified = (n6_model_slot_t){.file = (uint32_t)(uintptr_t)copy, .file_bytes = code};
    /* Check the verified copy against the values read before: flash may have returned other data then. */
    const n6_reloc_context_t *context = n6_reloc_context(copy, code);
    if (copy->params_offset != split || context == NULL || trailer.bytes != bytes) {
        return N6_TRUST_NOT_LISTED;
    }
    if (split != 0u) {
        verified->params = slot->file + split;
        verified->params_bytes = bytes - split;
        /* The copy ends before its weights: for a loader they are a separate file. */
        copy->params_offset = 0u;
        return "";
    }
    n6_model_trailer_t of_weights;
    const part_t params = {
        subject->params,
        {NULL, 0u},
        {(const void *)(uintptr_t)slot->params, context->params_file_bytes},
        slot->params,
        slot->params_bytes,
    };
    verified->params = slot->params;
    verified->params_bytes = slot->params_bytes;
    if (!is_listed(&params, &of_weights)) {
        return N6_TRUST_NOT_LISTED;
    }
    return of_weights.signature == trailer.signature ? "" : "N6-FW-022 weights of another network";
}
