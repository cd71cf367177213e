/* SPDX-License-Identifier: Apache-2.0
 *
 * The application: gives the networks the memory of their plan, checks and places their weights, runs each on its test vectors
 * and prints what comes out. The order of the steps is that of ST's applications; a RAM bank has to be on before it is written.
 */
#include <stddef.h>

#include "n6_appli.h"
#include "n6_axisram.h"
#include "n6_board.h"
#include "n6_cache.h"
#include "n6_console.h"
#include "n6_crc32.h"
#include "n6_fault.h"
#include "n6_inference.h"
#include "n6_link.h"
#include "n6_npu.h"
#if N6_RUNTIME_DRIVES_NPU
#include "n6_st_runtime.h"
#endif
#include "n6_plan.h"
#include "n6_reg.h"
#include "n6_slot.h"

const char n6_program[] = "appli";

static void power_banks(void)
{
    for (uint32_t i = 0; i < n6_plan_bank_count; i++) {
        const n6_plan_bank_t *bank = &n6_plan_banks[i];
        if (!n6_axisram_enable(bank->rcc_enable_mask, bank->ramcfg_cr, bank->first_word, bank->last_word)) {
            n6_appli_stop("N6-FW-024 does not keep what is written: ", bank->name);
        }
    }
}

static void map_external_ram(void)
{
    if (n6_plan_open_external_ram != NULL) {
        const char *refused = n6_appli_open_external_ram(n6_plan_open_external_ram);
        if (refused[0] != '\0') {
            n6_appli_stop(refused, "");
        }
    }
}

static void copy(const n6_plan_image_t *image)
{
    /* Whole words: flash slots and memory pools are longer than the data in them by its trailer at least. */
    for (uint32_t offset = 0; offset < image->bytes; offset += 4u) {
        N6_REG32(image->destination + offset) = N6_REG32(image->source + offset);
    }
    /* To memory, where the NPU reads, and out of the cache, so that the check below reads memory too. */
    n6_dcache_clean_invalidate(image->destination, image->bytes);
}

static void place_weights(void)
{
    for (uint32_t i = 0; i < n6_plan_image_count; i++) {
        const n6_plan_image_t *image = &n6_plan_images[i];
        uint32_t crc32;
        n6_slot_status_t status = n6_slot_check(image->source, image->bytes, image->signature, &crc32);
        if (status != N6_SLOT_OK) {
            n6_appli_stop(n6_slot_text(status), image->pool);
        }
        if (image->destination != image->source) {
            copy(image);
            if (n6_crc32((const uint8_t *)(uintptr_t)image->destination, image->bytes) != crc32) {
                n6_appli_stop("N6-FW-025 differs from flash after copying: ", image->pool);
            }
        }
        n6_put("n6 image ");
        n6_put(image->pool);
        n6_put(image->destination != image->source ? " copied bytes=" : " in-place bytes=");
        n6_put_u32(image->bytes);
        n6_put(" crc=");
        n6_put_hex32(crc32);
        n6_put(" ok");
        n6_put_end();
    }
}

static uint32_t epochs_of_all(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n6_plan_network_count; i++) {
        count += n6_inference_epochs(n6_plan_networks[i].instance->network->epoch_block_items());
    }
    return count;
}

static const n6_plan_network_t *network_at(uint32_t index)
{
    return &n6_plan_networks[index];
}

int main(void)
{
    n6_caches_enable();
    n6_console_open();
    n6_put("n6 appli start model=");
    n6_put(n6_plan_application);
    n6_put(" epochs=");
    n6_put_u32(epochs_of_all());
    n6_put(" clock=");
    n6_put_u32(N6_CPU_HZ);
    n6_put_end();
    power_banks();
    map_external_ram();
    if (!n6_npu_enable()) {
        n6_appli_stop("N6-FW-027 stays busy: ", "CACHEAXI");
    }
    n6_npu_open_rif();
#if N6_RUNTIME_DRIVES_NPU
    n6_st_runtime_open();
#endif
    place_weights();
    n6_inference_open();
    uint32_t runs = 0;
    for (uint32_t i = 0; i < n6_plan_network_count; i++) {
        if (!n6_inference_begin(&n6_plan_networks[i])) {
            n6_appli_stop("N6-FW-028 does not take its input and output buffers: ", n6_plan_networks[i].model);
        }
        runs += n6_appli_run(&n6_plan_networks[i], runs);
    }
    n6_put("n6 done runs=");
    n6_put_u32(runs);
    n6_put_end();
    n6_link_serve(network_at, n6_plan_network_count);
}
