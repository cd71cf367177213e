/* SPDX-License-Identifier: Apache-2.0
 *
 * The application. It gives the networks the memory of their plan, checks and places their weights, runs each network on its
 * test vectors and prints the results.
 */
#if !N6_RUNTIME_DRIVES_NPU
#include "ll_aton_npu.h"
#endif
#include "n6_appli.h"
#include "n6_board_clock.h"
#include "n6_cache.h"
#include "n6_console_lines.h"
#include "n6_fault.h"
#if N6_FIELD_REPORT
#include "n6_field.h"
#endif
#include "n6_inference.h"
#include "n6_memory.h"
#include "n6_plan.h"

static void put_image(const n6_plan_image_t *image, uint32_t crc32)
{
    N6_LINE(image, .pool = image->pool, .is_copied = image->destination != image->source, .bytes = image->bytes, .crc = crc32);
}

static uint32_t epochs_of_all(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n6_plan_network_count; i++) {
        count += n6_inference_epochs(n6_plan_networks[i].instance->network->epoch_block_items());
    }
    return count;
}

#if !N6_RUNTIME_DRIVES_NPU
_Noreturn void n6_blob_failed(n6_blob_result_t why)
{
    N6_LINE(blob_error, .reason = n6_blob_text(why.status), .place = why.place, .value = why.value);
    n6_sleep_for_ever();
}
#endif

static const n6_plan_network_t *network_at(uint32_t index)
{
    return &n6_plan_networks[index];
}

int main(void)
{
    n6_caches_enable();
    n6_console_open();
    N6_LINE(appli_start, .model = n6_plan_application, .has_epochs = true, .epochs = epochs_of_all(), .clock = N6_CPU_HZ);
    const n6_memory_observer_t console = {n6_appli_put_external_ram, put_image};
    n6_network_result_t memory = n6_memory_open(&console);
    if (memory.why[0] != '\0') {
        n6_appli_stop(memory.why, memory.what);
    }
#if N6_FIELD_REPORT
    n6_field_put_appli();
#endif
    for (uint32_t i = 0; i < n6_plan_network_count; i++) {
        if (!n6_inference_begin(&n6_plan_networks[i])) {
            n6_appli_stop("N6-FW-028 rejects its input and output buffers: ", n6_plan_networks[i].model);
        }
    }
    n6_appli_serve(n6_appli_run_all(network_at, n6_plan_network_count), network_at, n6_plan_network_count);
}
