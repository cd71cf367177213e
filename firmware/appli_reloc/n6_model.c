/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_model.h"

#include <stddef.h>

#include "n6_appli.h"
#include "n6_axisram.h"
#include "n6_cache.h"
#include "n6_console_lines.h"
#include "n6_crc32.h"
#include "n6_inference.h"
#include "n6_network_buffers.h"
#include "n6_reg.h"
#include "n6_reloc_check.h"
#include "n6_soc_cpu.h"
#include "n6_trial.h"
#include "n6_try.h"
#if N6_TRIAL
#include "n6_watchdog.h"
#endif

/* The time limit for an installation and a first inference. Slower models are of no use to an application. */
#define TRIAL_MS 10000u

static const n6_reloc_header_t *header_of(const n6_model_slot_t *slot)
{
    return (const n6_reloc_header_t *)(uintptr_t)slot->file;
}

static uint32_t up(uint32_t bytes, uint32_t alignment)
{
    return (bytes + alignment - 1u) & ~(alignment - 1u);
}

/* Power the banks of a pool, and the next bank if the NPU may read ahead into it. Return false if a part of the pool is outside
 * the banks for models, or if a bank does not work. */
static bool prepare_pool(const n6_reloc_pool_t *pool)
{
    uint32_t start = pool->destination | N6_SECURE_BIT;
    uint32_t last = start + up(pool->bytes, 8u), end = last + n6_model_read_ahead;
    for (uint32_t i = 0; i < n6_model_bank_count; i++) {
        const n6_model_bank_t *bank = &n6_model_banks[i];
        if (bank->base <= start && start < end && start < bank->base + bank->bytes) {
            if (bank->bank.rcc_enable_mask != 0u &&
                !n6_axisram_enable(bank->bank.rcc_enable_mask, bank->bank.ramcfg_cr, bank->bank.first_word, bank->bank.last_word)) {
                return false;
            }
            start = bank->base + bank->bytes < end ? bank->base + bank->bytes : end;
        }
    }
    return start >= last;
}

static bool is_segment(const n6_reloc_pool_t *pool)
{
    return N6_RELOC_POOL_TYPE(pool->flags) == N6_RELOC_POOL_RELOC;
}

/* Map the external RAM for the first model that needs it. Return "", or an error (id and text). */
static const char *take_external_ram(const n6_model_t *model, uint32_t bytes)
{
    if (bytes > model->external_ram_bytes) {
        return "N6-FW-059 needs more external RAM than the board has";
    }
    return n6_xspi_psram_is_mapped() ? "" : n6_appli_open_external_ram(n6_models_open_external_ram);
}

/* Write the pools back to memory, so that the NPU reads the data that the CPU wrote. */
static void clean_pools(const n6_reloc_pool_t *pool)
{
    for (; pool->flags != 0u; pool++) {
        if (!is_segment(pool)) {
            n6_dcache_clean_invalidate(pool->destination, pool->bytes);
        }
    }
}

/* Place the buffers that the network requires from the application after the model in its RAM. */
static bool take_buffers(const n6_model_t *model, n6_loaded_model_t *loaded, const LL_Buffer_InfoTypeDef *buffers, uint32_t is_input)
{
    uint32_t index = 0;
    for (const LL_Buffer_InfoTypeDef *buffer = buffers; buffer->name != NULL; buffer++) {
        if (buffer->is_param) {
            continue;
        }
        if (buffer->is_user_allocated) {
            uint32_t bytes = LL_Buffer_len(buffer), count = loaded->network.own_buffer_count;
            uint32_t start = up(loaded->installed_bytes, N6_CACHE_LINE);
            if (count == N6_MODEL_OWN_BUFFERS || start > model->executable_ram_bytes || bytes > model->executable_ram_bytes - start) {
                return false;
            }
            loaded->own_buffers[count] = (n6_plan_own_buffer_t){is_input, index, model->executable_ram + start, bytes};
            loaded->network.own_buffer_count = count + 1u;
            loaded->installed_bytes = start + up(bytes, N6_CACHE_LINE);
        }
        index++;
    }
    return true;
}

static bool runs_on_cpu(const EpochBlock_ItemTypeDef *epochs)
{
    for (; !EpochBlock_IsLastEpochBlock(epochs); epochs++) {
        if (!EpochBlock_IsEpochPureSW(epochs)) {
            return false;
        }
    }
    return true;
}

/* Make a first inference. Return "", or an error (id and text) if the model must not be used. */
static const char *self_test(n6_plan_network_t *network, const n6_model_trailer_t *trailer)
{
    const uint8_t *input = trailer->test_input_bytes == 0u ? NULL : n6_model_slot_test_input(trailer);
    uint32_t crc32;
    if (!n6_inference_begin(network)) {
        return "N6-FW-028 rejects its input and output buffers";
    }
    /* A network of the CPU may keep state: the file does not record it. A network that uses the NPU keeps none. */
    network->keeps_state = runs_on_cpu(network->instance->exec_state.first_epoch_block);
    if (!N6_RUNTIME_DRIVES_NPU && !network->keeps_state) {
        return "N6-FW-053 has epochs of the NPU, which this firmware's runtime does not drive";
    }
    if (!n6_inference_try(network, input, trailer->test_input_bytes, &crc32)) {
        return "N6-FW-054 the self-test has another size than the inputs";
    }
    n6_inference_restart(network);
    return trailer->has_expected != 0u && crc32 != trailer->test_outputs_crc32 ? "N6-FW-055 the self-test gives other outputs" : "";
}

#if N6_CONFINE
const n6_confine_t *n6_confine_of(const NN_Instance_TypeDef *instance)
{
    /* The instance is the first member. */
    return &((const n6_loaded_model_t *)(const void *)instance)->confine;
}

static bool give(n6_confine_t *confine, uint32_t start, uint32_t bytes, bool is_writable, bool is_executable)
{
    return n6_confine_add(confine, (n6_confine_span_t){start, start + bytes, is_writable, is_executable});
}

/* List the memory of a model for the MPU: code and variables, slot, pools. Return false if the MPU cannot describe it. */
static bool confine(const n6_model_slot_t *slot, const ll_aton_reloc_config *config, n6_confine_t *confine)
{
    const bool in_place = config->mode != AI_RELOC_RT_LOAD_MODE_COPY;
    *confine = (n6_confine_t){.count = 0u};
    bool fits = give(confine, config->exec_ram_addr, config->exec_ram_size, true, !in_place) &&
                give(confine, slot->file, slot->file_bytes, false, in_place) &&
                give(confine, slot->params, slot->params_bytes, false, false) &&
                give(confine, config->ext_ram_addr, config->ext_ram_size, true, false);
    for (const n6_reloc_pool_t *pool = n6_reloc_pools(header_of(slot)); fits && pool->flags != 0u; pool++) {
        fits = is_segment(pool) || give(confine, pool->destination | N6_SECURE_BIT, up(pool->bytes, 8u), true, false);
    }
    return fits;
}
#endif

const char *n6_model_install(const n6_model_t *model, const n6_model_slot_t *slot, const n6_model_trailer_t *test,
                             n6_loaded_model_t *loaded)
{
    const n6_reloc_header_t *header = header_of(slot);
    n6_reloc_status_t status = n6_reloc_check(header, slot->file_bytes);
    if (status != N6_RELOC_FITS) {
        return n6_reloc_text(status);
    }
    for (const n6_reloc_pool_t *pool = n6_reloc_pools(header); pool->flags != 0u; pool++) {
        if (!is_segment(pool) && !prepare_pool(pool)) {
            return "N6-FW-050 a memory pool is not in RAM that models may use, or that RAM does not keep written data";
        }
    }
    ll_aton_reloc_info info;
    ll_aton_reloc_config config = {
        .exec_ram_addr = (uintptr_t)model->executable_ram,
        .exec_ram_size = model->executable_ram_bytes,
        .ext_param_addr = header->params_offset == 0u ? slot->params : 0u,
        .mode = n6_models_load_mode,
    };
    if (ll_aton_reloc_get_info(slot->file, &info) != AI_RELOC_RT_ERR_NONE) {
        return n6_reloc_text(N6_RELOC_NO_MODEL);
    }
    uint32_t needed = n6_models_load_mode == AI_RELOC_RT_LOAD_MODE_COPY ? info.rt_ram_copy : info.rt_ram_xip;
    if (needed > model->executable_ram_bytes) {
        return "N6-FW-051 needs more executable RAM than the board has";
    }
    if (info.ext_ram_sz != 0u) {
        const char *refused = take_external_ram(model, info.ext_ram_sz);
        if (refused[0] != '\0') {
            return refused;
        }
        config.ext_ram_addr = model->external_ram;
        config.ext_ram_size = model->external_ram_bytes;
    }
    uint32_t began = N6_REG32(N6_DWT_CYCCNT);
    if (ll_aton_reloc_install(slot->file, &config, &loaded->instance) != AI_RELOC_RT_ERR_NONE) {
        return "N6-FW-052 the loader rejects it";
    }
#if N6_CONFINE
    if (!confine(slot, &config, &loaded->confine)) {
        return "N6-FW-084 its memory has more pieces than the MPU has regions";
    }
#endif
    loaded->install_cycles = N6_REG32(N6_DWT_CYCCNT) - began;
    n6_dcache_clean_invalidate(config.exec_ram_addr, needed);
    n6_icache_invalidate();
    clean_pools(n6_reloc_pools(header));
    n6_dcache_clean_invalidate(config.ext_ram_addr, info.ext_ram_sz);
    loaded->installed_bytes = needed;
    loaded->network = (n6_plan_network_t){.model = model->name, .instance = &loaded->instance, .index = (uint32_t)(model - n6_models)};
    loaded->network.is_classification = model->is_classification;
    loaded->network.vectors = model->vectors;
    loaded->network.own_buffers = loaded->own_buffers;
    if (!take_buffers(model, loaded, n6_network_inputs(&loaded->instance), 1u) ||
        !take_buffers(model, loaded, n6_network_outputs(&loaded->instance), 0u)) {
        return "N6-FW-051 needs more executable RAM than the board has";
    }
    return self_test(&loaded->network, test);
}

/* The content of a slot. test: the trailer with the self-test; that of the weights if they are a separate file, since other
 * weights give other outputs. refused: the error that rules the model out, or "". is_held: only the journal of trials rules
 * it out. */
typedef struct {
    const n6_model_trailer_t *trailer;
    const n6_model_trailer_t *test;
    const char *refused;
    bool is_held;
} slot_content_t;

static slot_content_t read_slot(const n6_model_t *model, const n6_model_slot_t *slot)
{
    const n6_reloc_header_t *header = header_of(slot);
    slot_content_t content = {NULL, NULL, "", false};
    uint32_t bytes = header->magic == N6_RELOC_MAGIC ? n6_reloc_file_bytes(header, slot->file_bytes) : 0u;
    n6_model_slot_status_t status = n6_model_slot_check(slot->file, bytes, slot->file_bytes, &content.trailer);
    content.test = content.trailer;
    if (status == N6_MODEL_SLOT_OK && content.trailer->model_crc32 != model->name_crc32) {
        content.refused = "N6-FW-057 another model";
        return content;
    }
    if (status == N6_MODEL_SLOT_OK && header->params_offset == 0u) {
        const n6_model_trailer_t *weights = NULL;
        const n6_reloc_context_t *context = n6_reloc_context(header, slot->file_bytes);
        status = n6_model_slot_check(slot->params, context->params_file_bytes, slot->params_bytes, &weights);
        if (status == N6_MODEL_SLOT_OK && weights->signature != content.trailer->signature) {
            content.refused = "N6-FW-022 weights of another network";
            return content;
        }
        content.test = weights;
    }
    content.refused = n6_model_slot_text(status);
    return content;
}

static void put_refused(const n6_model_t *model, uint32_t slot, const char *why)
{
    N6_LINE(model_refused, .name = model->name, .slot = slot, .reason = why);
}

static void put_loaded(const n6_model_t *model, uint32_t slot, const slot_content_t *content, const n6_loaded_model_t *loaded)
{
    N6_LINE(model, .name = model->name, .slot = slot, .revision = content->trailer->revision,
            .is_xip = n6_models_load_mode != AI_RELOC_RT_LOAD_MODE_COPY, .at = model->slots[slot].file,
            .bytes = content->trailer->bytes, .ram = (uint32_t)(uintptr_t)model->executable_ram,
            .used = loaded->installed_bytes, .epochs = n6_inference_epochs(loaded->instance.exec_state.first_epoch_block),
            .cycles = loaded->install_cycles, .crc = content->trailer->crc32);
}

/* Compare revisions, which count up and may wrap. */
static bool is_newer(const slot_content_t *a, const slot_content_t *b)
{
    return (int32_t)(a->trailer->revision - b->trailer->revision) > 0;
}

/* An installation of untested code. refused: the error that rules it out, or "". */
typedef struct {
    const n6_model_t *model;
    const n6_model_slot_t *slot;
    const n6_model_trailer_t *test;
    n6_loaded_model_t *loaded;
    const char *refused;
} trial_t;

static void install(void *argument)
{
    trial_t *trial = argument;
    trial->refused = n6_model_install(trial->model, trial->slot, trial->test, trial->loaded);
}

/* Return a number that identifies an image: other code, other weights or another revision give another number. */
static uint32_t image_of(const slot_content_t *content)
{
    const uint32_t trailers[] = {content->trailer->trailer_crc32, content->test->trailer_crc32};
    return n6_crc32((const uint8_t *)trailers, sizeof trailers);
}

static void forget_others(const n6_model_t *model, const slot_content_t *contents)
{
    uint32_t images[N6_MODEL_SLOTS], count = 0;
    for (uint32_t slot = 0; slot < model->slot_count; slot++) {
        if (contents[slot].refused[0] == '\0') {
            images[count++] = image_of(&contents[slot]);
        }
    }
    n6_trial_keep(model->name_crc32, images, count);
}

/* Feed the watchdog of an Appli on trial: reading or verifying a large model takes seconds. */
static void feed_watchdog(void)
{
#if N6_TRIAL
    n6_watchdog_feed();
#endif
}

/* Verify and install the model of a slot. is_last_resort: even if the journal does not allow it. Return "", or an error (id and
 * text). */
static const char *try_slot(const n6_model_t *model, uint32_t slot, slot_content_t *content, bool is_last_resort,
                            n6_loaded_model_t *loaded)
{
    const n6_model_slot_t *used = &model->slots[slot];
    const char *refused;
    feed_watchdog();
    content->is_held = false;
#if N6_TRUST
    n6_model_slot_t verified;
    const n6_verified_ram_t ram = {model->verified_ram, model->verified_ram_bytes};
    refused = n6_model_verify(used, &model->subject, ram, &verified);
    if (refused[0] != '\0') {
        return refused;
    }
    used = &verified;
#endif
    uint32_t image = N6_TRIAL ? image_of(content) : 0u;
    if (is_last_resort) {
        n6_trial_begin_anyway(model->name_crc32, model->name, image);
    } else {
        refused = n6_trial_begin(model->name_crc32, model->name, image);
        content->is_held = refused[0] != '\0';
        if (content->is_held) {
            return refused;
        }
    }
    trial_t trial = {model, used, content->test, loaded, "N6-FW-058 faults or does not end"};
    (void)n6_try(install, &trial, TRIAL_MS);
#if N6_CONFINE
    if (n6_confine_broke_out()) {
        trial.refused = "N6-FW-083 accesses memory that is not its own";
    }
#endif
    if (trial.refused[0] != '\0') {
        n6_trial_reject(model->name_crc32, image);
    }
    return trial.refused;
}

/* Return the slot of the newest usable model, or of the newest one that only the journal rules out; N6_MODEL_SLOTS: none. */
static uint32_t newest(const n6_model_t *model, const slot_content_t *contents, bool is_held)
{
    uint32_t best = N6_MODEL_SLOTS;
    for (uint32_t slot = 0; slot < model->slot_count; slot++) {
        bool is_candidate = is_held ? contents[slot].is_held : contents[slot].refused[0] == '\0';
        if (is_candidate && (best == N6_MODEL_SLOTS || is_newer(&contents[slot], &contents[best]))) {
            best = slot;
        }
    }
    return best;
}

bool n6_model_load(const n6_model_t *model, n6_loaded_model_t *loaded)
{
    slot_content_t contents[N6_MODEL_SLOTS];
    for (uint32_t slot = 0; slot < model->slot_count; slot++) {
        feed_watchdog();
        contents[slot] = read_slot(model, &model->slots[slot]);
        if (contents[slot].refused[0] != '\0') {
            put_refused(model, slot, contents[slot].refused);
        }
    }
    if (N6_TRIAL) {
        forget_others(model, contents);
    }
    /* First the models that the journal of trials allows, then the others. */
    bool is_last_resort = false;
    for (;;) {
        uint32_t best = newest(model, contents, is_last_resort);
        if (best == N6_MODEL_SLOTS) {
            if (is_last_resort || !N6_TRIAL) {
                return false;
            }
            is_last_resort = true;
            continue;
        }
        contents[best].refused = try_slot(model, best, &contents[best], is_last_resort, loaded);
        if (contents[best].refused[0] == '\0') {
            put_loaded(model, best, &contents[best], loaded);
            return true;
        }
        put_refused(model, best, contents[best].refused);
    }
}
