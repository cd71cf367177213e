/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_reloc_check.h"

#include <stdbool.h>

#include "ll_aton_NN_interface.h"

#define CPUID 0xE000ED00u /* Arm Cortex-M55 manual: SCB */
#define CPUID_PART(cpuid) ((cpuid) >> 4 & N6_RELOC_CPU_MASK)
#define CPACR 0xE000ED88u
#define CPACR_CP10_CP11 (0xFu << 20)

#if LL_ATON_VERSION_MAJOR > 1 || LL_ATON_VERSION_MINOR > 1 || LL_ATON_VERSION_MICRO >= 3
#define OWN_CONTEXT_WORD N6_RELOC_CONTEXT_WORD
#else
#define OWN_CONTEXT_WORD N6_RELOC_CONTEXT_WORD_OLD
#endif
#define HAS_STRUCT_SIZES (N6_RELOC_OWN_VERSION >= N6_RELOC_VERSION(1, 1, 1))
#define HEADER_BYTES ((OWN_CONTEXT_WORD + 1u) * 4u)

#ifdef LL_ATON_EB_DBG_INFO
#define OWN_DEBUG_INFO N6_RELOC_FLAG_DEBUG_INFO
#else
#define OWN_DEBUG_INFO 0u
#endif

static uint32_t reg(uint32_t address)
{
    return *(volatile const uint32_t *)(uintptr_t)address;
}

static const uint32_t *words_of(const n6_reloc_header_t *model)
{
    return (const uint32_t *)(const void *)model;
}

/* Return true if the words [offset, offset + bytes) are inside a segment of `limit` bytes. */
static bool is_inside(uint32_t offset, uint32_t bytes, uint32_t limit)
{
    return offset <= limit && bytes <= limit - offset && offset % 4u == 0u;
}

static bool in_segment(uint32_t address, uint32_t segment)
{
    return N6_RELOC_SEGMENT(address) == segment;
}

static bool ends_behind(uint32_t start, uint32_t end, uint32_t segment)
{
    return in_segment(start, segment) && in_segment(end, segment) && start <= end;
}

static uint32_t up8(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

static bool is_multiple_of_4(uint32_t a, uint32_t b, uint32_t c)
{
    return (a | b | c) % 4u == 0u;
}

/* Check the places of the data image and the table of relocations: both after the read-only part, one after another. */
static bool has_sound_layout(const n6_reloc_header_t *model, uint32_t bytes)
{
    uint32_t read_only = N6_RELOC_OFFSET(model->data_image);
    uint32_t image = N6_RELOC_OFFSET(model->bss_start);
    return in_segment(model->data_image, N6_RELOC_SEGMENT_FLASH) && read_only >= HEADER_BYTES && read_only % 8u == 0u &&
           model->data_start == N6_RELOC_SEGMENT_RAM << 28 &&
           ends_behind(model->data_start, model->bss_start, N6_RELOC_SEGMENT_RAM) &&
           ends_behind(model->bss_start, model->bss_end, N6_RELOC_SEGMENT_RAM) &&
           ends_behind(model->got_start, model->got_end, N6_RELOC_SEGMENT_RAM) &&
           is_inside(N6_RELOC_OFFSET(model->got_start), model->got_end - model->got_start, image) &&
           ends_behind(model->rel_start, model->rel_end, N6_RELOC_SEGMENT_FLASH) && read_only <= bytes &&
           image <= bytes - read_only && N6_RELOC_OFFSET(model->rel_start) >= read_only + image &&
           is_inside(N6_RELOC_OFFSET(model->rel_start), model->rel_end - model->rel_start, bytes) &&
           is_multiple_of_4(model->bss_start, model->got_end, model->rel_end) && up8(N6_RELOC_OFFSET(model->rel_end)) <= bytes &&
           in_segment(model->pools, N6_RELOC_SEGMENT_RAM) &&
           is_inside(N6_RELOC_OFFSET(model->pools), sizeof(n6_reloc_pool_t), image) && model->params_offset <= bytes;
}

const n6_reloc_context_t *n6_reloc_context(const n6_reloc_header_t *model, uint32_t bytes)
{
    const uint32_t *words = words_of(model);
    if (bytes < HEADER_BYTES || !has_sound_layout(model, bytes)) {
        return NULL;
    }
    uint32_t address = words[in_segment(words[N6_RELOC_CONTEXT_WORD_OLD], N6_RELOC_SEGMENT_RAM) ? N6_RELOC_CONTEXT_WORD_OLD
                                                                                                : N6_RELOC_CONTEXT_WORD];
    uint32_t offset = N6_RELOC_OFFSET(address);
    if (!in_segment(address, N6_RELOC_SEGMENT_RAM) ||
        !is_inside(offset, sizeof(n6_reloc_context_t), N6_RELOC_OFFSET(model->bss_start))) {
        return NULL;
    }
    return (const n6_reloc_context_t *)(const void *)((const uint8_t *)model + N6_RELOC_OFFSET(model->data_image) + offset);
}

const n6_reloc_pool_t *n6_reloc_pools(const n6_reloc_header_t *model)
{
    const uint8_t *image = (const uint8_t *)model + N6_RELOC_OFFSET(model->data_image);
    return (const n6_reloc_pool_t *)(const void *)(image + N6_RELOC_OFFSET(model->pools));
}

uint32_t n6_reloc_file_bytes(const n6_reloc_header_t *model, uint32_t bytes)
{
    const n6_reloc_context_t *context = n6_reloc_context(model, bytes);
    if (context == NULL) {
        return 0u;
    }
    if (model->params_offset == 0u) {
        return up8(N6_RELOC_OFFSET(model->rel_end));
    }
    return context->params_file_bytes <= bytes - model->params_offset ? model->params_offset + context->params_file_bytes : 0u;
}

/* Return true if a loader copies from the weights or points to them. The loader's action for this type of pool decides, not the
 * content that the pool declares. */
static bool uses_weights(const n6_reloc_pool_t *pool)
{
    uint32_t type = N6_RELOC_POOL_TYPE(pool->flags);
    bool is_filled = N6_RELOC_POOL_CONTENT(pool->flags) != N6_RELOC_POOL_ACTIVATIONS;
    return type == N6_RELOC_POOL_COPY || (type == N6_RELOC_POOL_RELOC && (is_filled || N6_RELOC_POOL_ID(pool->flags) == 0u));
}

/* Check that a pool's weights are in the file. A loader copies multiples of 8 bytes. */
static bool has_its_weights(const n6_reloc_pool_t *pool, uint32_t params_bytes)
{
    uint32_t limit = up8(params_bytes);
    return !uses_weights(pool) || (pool->offset_in_params <= limit && up8(pool->bytes) <= limit - pool->offset_in_params);
}

/* The range of link addresses of each segment, in bytes; 0 if the model has no such segment. */
typedef struct {
    uint32_t read_only;
    uint32_t ram;
    uint32_t params;
    uint32_t external_ram;
} limits_t;

/* Return true for a pool of a kind that a loader supports, no larger than a segment. */
static bool is_sound_pool(const n6_reloc_pool_t *pool)
{
    uint32_t type = N6_RELOC_POOL_TYPE(pool->flags), content = N6_RELOC_POOL_CONTENT(pool->flags);
    return type >= N6_RELOC_POOL_RELOC && type <= N6_RELOC_POOL_RESET && content >= N6_RELOC_POOL_PARAM &&
           content <= N6_RELOC_POOL_MIXED && pool->bytes <= N6_RELOC_OFFSET_MASK;
}

/* Record the limit of a segment. A segment of weights must be read only, and each kind may occur only once. */
static bool takes_segment(const n6_reloc_pool_t *pool, limits_t *limits)
{
    uint32_t id = N6_RELOC_POOL_ID(pool->flags), content = N6_RELOC_POOL_CONTENT(pool->flags);
    bool sound = id == 0u ? content == N6_RELOC_POOL_PARAM && (pool->flags & N6_RELOC_POOL_WRITE) == 0u : id == 1u;
    uint32_t *limit = id == 0u ? &limits->params : &limits->external_ram;
    if (!sound || *limit != 0u) {
        return false;
    }
    *limit = up8(pool->bytes);
    return true;
}

static bool has_sound_pools(const n6_reloc_header_t *model, uint32_t params_bytes, limits_t *limits)
{
    const n6_reloc_pool_t *pools = n6_reloc_pools(model);
    uint32_t room = (N6_RELOC_OFFSET(model->bss_start) - N6_RELOC_OFFSET(model->pools)) / sizeof *pools;
    for (uint32_t i = 0; i <= N6_RELOC_POOLS_MAX && i < room; i++) {
        if (pools[i].flags == 0u) {
            return true;
        }
        if (!in_segment(pools[i].name, N6_RELOC_SEGMENT_FLASH) ||
            N6_RELOC_OFFSET(pools[i].name) >= N6_RELOC_OFFSET(model->data_image) || !is_sound_pool(&pools[i]) ||
            !has_its_weights(&pools[i], params_bytes)) {
            return false;
        }
        if (N6_RELOC_POOL_TYPE(pools[i].flags) == N6_RELOC_POOL_RELOC && !takes_segment(&pools[i], limits)) {
            return false;
        }
    }
    return false;
}

/* Check that entries are Thumb functions in the code, and that the context is at the place for a loader of this version. */
static bool has_sound_entries(const n6_reloc_header_t *model)
{
    const uint32_t *words = words_of(model);
    for (uint32_t i = sizeof(n6_reloc_header_t) / 4u; i < OWN_CONTEXT_WORD; i++) {
        uint32_t offset = N6_RELOC_OFFSET(words[i]);
        if (!in_segment(words[i], N6_RELOC_SEGMENT_FLASH) || offset < HEADER_BYTES ||
            offset >= N6_RELOC_OFFSET(model->data_image) || offset % 2u == 0u) {
            return false;
        }
    }
    return in_segment(words[OWN_CONTEXT_WORD], N6_RELOC_SEGMENT_RAM);
}

/* Check a word that a loader rebases: it must be a null pointer, or a link address inside its segment. */
static bool is_link_address(uint32_t word, const limits_t *limits)
{
    uint32_t offset = N6_RELOC_OFFSET(word);
    switch (N6_RELOC_SEGMENT(word)) {
    case N6_RELOC_SEGMENT_FLASH:
        return offset <= limits->read_only;
    case N6_RELOC_SEGMENT_RAM:
        return offset <= limits->ram;
    case N6_RELOC_SEGMENT_PARAM_0:
        return limits->params != 0u && offset <= limits->params;
    case N6_RELOC_SEGMENT_PARAM_1:
        return limits->external_ram != 0u && offset <= limits->external_ram;
    default:
        return word == 0u;
    }
}

/* Check that [start, end) of the file, in bytes, is padding. Remaining entries of a part that was shortened are an error. */
static bool is_empty(const n6_reloc_header_t *model, uint32_t start, uint32_t end)
{
    const uint32_t *words = words_of(model);
    for (uint32_t i = start / 4u; i < end / 4u; i++) {
        if (words[i] != 0u) {
            return false;
        }
    }
    return true;
}

static bool has_whole_tables(const n6_reloc_header_t *model)
{
    uint32_t image = N6_RELOC_OFFSET(model->data_image);
    uint32_t rel_end = N6_RELOC_OFFSET(model->rel_end);
    uint32_t table_end = model->params_offset == 0u ? up8(rel_end) : model->params_offset;
    return rel_end <= table_end &&
           is_empty(model, image + N6_RELOC_OFFSET(model->data_end), image + N6_RELOC_OFFSET(model->got_start)) &&
           is_empty(model, image + N6_RELOC_OFFSET(model->got_end), image + N6_RELOC_OFFSET(model->bss_start)) &&
           is_empty(model, image + N6_RELOC_OFFSET(model->bss_start), N6_RELOC_OFFSET(model->rel_start)) &&
           is_empty(model, rel_end, table_end);
}

/* Check the relocations. A loader writes to every address in the table, so each must be a word of the model's data, not of the
 * GOT. */
static bool has_sound_relocations(const n6_reloc_header_t *model, const limits_t *limits)
{
    const uint8_t *file = (const uint8_t *)model;
    const uint8_t *image = file + N6_RELOC_OFFSET(model->data_image);
    uint32_t got = N6_RELOC_OFFSET(model->got_start), got_end = N6_RELOC_OFFSET(model->got_end);
    for (uint32_t at = got; at < got_end; at += 4u) {
        if (!is_link_address(*(const uint32_t *)(const void *)(image + at), limits)) {
            return false;
        }
    }
    for (uint32_t entry = N6_RELOC_OFFSET(model->rel_start); entry < N6_RELOC_OFFSET(model->rel_end); entry += 4u) {
        uint32_t address = *(const uint32_t *)(const void *)(file + entry);
        uint32_t at = N6_RELOC_OFFSET(address);
        if (!in_segment(address, N6_RELOC_SEGMENT_RAM) || !is_inside(at, 4u, N6_RELOC_OFFSET(model->bss_start)) ||
            (got <= at && at < got_end) || !is_link_address(*(const uint32_t *)(const void *)(image + at), limits)) {
            return false;
        }
    }
    return true;
}

/* Check that a loader writes only to the RAM that it was given, and to memory pools. */
static bool is_sound(const n6_reloc_header_t *model, const n6_reloc_context_t *context)
{
    limits_t limits = {.read_only = N6_RELOC_OFFSET(model->data_image), .ram = N6_RELOC_OFFSET(model->bss_end)};
    return has_sound_entries(model) && has_sound_pools(model, context->params_file_bytes, &limits) && has_whole_tables(model) &&
           has_sound_relocations(model, &limits);
}

/* Check the security state. A non-secure firmware cannot reach the memory of a secure model; the reverse works. The loader of
 * ll_aton 1.1.0 accepts models of its own state only. This file is compiled in that state. */
static bool is_reachable(uint32_t flags)
{
#if defined(__ARM_FEATURE_CMSE) && __ARM_FEATURE_CMSE == 3
    return HAS_STRUCT_SIZES || (flags & N6_RELOC_FLAG_SECURE) != 0u;
#else
    return (flags & N6_RELOC_FLAG_SECURE) == 0u;
#endif
}

n6_reloc_status_t n6_reloc_check(const n6_reloc_header_t *model, uint32_t bytes)
{
    if ((uintptr_t)model % 4u != 0u || bytes < HEADER_BYTES || model->magic != N6_RELOC_MAGIC) {
        return N6_RELOC_NO_MODEL;
    }
    uint32_t flags = model->flags;
    if (flags >> 24 != (N6_RELOC_API_MAJOR << 4 | N6_RELOC_API_MINOR)) {
        return N6_RELOC_WRONG_API;
    }
    if ((flags & N6_RELOC_CPU_MASK) != CPUID_PART(reg(CPUID))) {
        return N6_RELOC_WRONG_CPU;
    }
    const n6_reloc_context_t *context = n6_reloc_context(model, bytes);
    if (context == NULL || n6_reloc_file_bytes(model, bytes) == 0u) {
        return N6_RELOC_DAMAGED;
    }
    if (context->version != N6_RELOC_OWN_VERSION || context->version_dev != LL_ATON_VERSION_DEV) {
        return N6_RELOC_WRONG_VERSION;
    }
    if ((flags & N6_RELOC_FLAG_FPU) != 0u && (reg(CPACR) & CPACR_CP10_CP11) != CPACR_CP10_CP11) {
        return N6_RELOC_FPU_OFF;
    }
    if (!is_reachable(flags)) {
        return N6_RELOC_WRONG_SECURITY;
    }
    if ((flags & N6_RELOC_FLAG_DEBUG_INFO) != OWN_DEBUG_INFO) {
        return N6_RELOC_WRONG_DEBUG_INFO;
    }
    if ((flags & N6_RELOC_FLAG_ASYNC) == 0u) {
        return N6_RELOC_WRONG_RUNTIME_MODE;
    }
    if (HAS_STRUCT_SIZES &&
        context->struct_sizes != (sizeof(LL_Buffer_InfoTypeDef) | sizeof(EpochBlock_ItemTypeDef) << 8)) {
        return N6_RELOC_WRONG_STRUCTS;
    }
    return is_sound(model, context) ? N6_RELOC_FITS : N6_RELOC_DAMAGED;
}

const char *n6_reloc_text(n6_reloc_status_t status)
{
    switch (status) {
    case N6_RELOC_FITS:
        return "";
    case N6_RELOC_NO_MODEL:
        return "N6-FW-040 not a relocatable model";
    case N6_RELOC_WRONG_API:
        return "N6-FW-041 another version of the reloc format than 8.0";
    case N6_RELOC_WRONG_CPU:
        return "N6-FW-042 compiled for another CPU";
    case N6_RELOC_FPU_OFF:
        return "N6-FW-043 the FPU is off";
    case N6_RELOC_WRONG_SECURITY:
        return "N6-FW-044 compiled for the other security state";
    case N6_RELOC_WRONG_DEBUG_INFO:
        return "N6-FW-045 its epoch table and the firmware's differ in debug fields";
    case N6_RELOC_WRONG_RUNTIME_MODE:
        return "N6-FW-046 compiled for a runtime that polls";
    case N6_RELOC_WRONG_VERSION:
        return "N6-FW-047 compiled for another version of ll_aton";
    case N6_RELOC_WRONG_STRUCTS:
        return "N6-FW-048 its tables have another layout";
    case N6_RELOC_DAMAGED:
        return "N6-FW-049 damaged: it contains an address outside of the model";
    }
    return "";
}
