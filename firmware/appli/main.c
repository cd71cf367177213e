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
#include "n6_console.h"
#include "n6_fault.h"
#if N6_FIELD_REPORT
#include "n6_field.h"
#endif
#include "n6_inference.h"
#include "n6_link.h"
#include "n6_memory.h"
#include "n6_plan.h"
#if N6_ON_REQUEST
#include "n6_watchdog.h"

/* The watchdog period: longer than the poll of a blob at the slowest clock, shorter than the time after which the host repeats a
 * request. The watchdog resets a chip whose CPU hangs on a silent bus. The link feeds it while it waits for a request. */
#define REQUEST_MS 60000u
#endif

static void put_image(const n6_plan_image_t *image, uint32_t crc32)
{
    n6_put("n6 image ");
    n6_put(image->pool);
    n6_put(image->destination != image->source ? " copied bytes=" : " in-place bytes=");
    n6_put_u32(image->bytes);
    n6_put(" crc=");
    n6_put_hex32(crc32);
    n6_put(" ok");
    n6_put_end();
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
    n6_put("n6 appli error ");
    n6_put(n6_blob_text(why.status));
    n6_put_hex32(why.place);
    n6_put(" is ");
    n6_put_hex32(why.value);
    n6_put_end();
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
    n6_put("n6 appli start model=");
    n6_put(n6_plan_application);
    n6_put(" epochs=");
    n6_put_u32(epochs_of_all());
    n6_put(" clock=");
    n6_put_u32(N6_CPU_HZ);
    n6_put_end();
    const n6_memory_observer_t console = {n6_appli_put_external_ram, put_image};
    n6_network_result_t memory = n6_memory_open(&console);
    if (memory.why[0] != '\0') {
        n6_appli_stop(memory.why, memory.what);
    }
#if N6_FIELD_REPORT
    n6_field_put_appli();
#endif
    uint32_t runs = 0;
    for (uint32_t i = 0; i < n6_plan_network_count; i++) {
        if (!n6_inference_begin(&n6_plan_networks[i])) {
            n6_appli_stop("N6-FW-028 rejects its input and output buffers: ", n6_plan_networks[i].model);
        }
#if !N6_ON_REQUEST
        runs += n6_appli_run(&n6_plan_networks[i], runs);
        n6_inference_restart(&n6_plan_networks[i]); /* for the sequence that arrives over the link */
#endif
    }
    n6_put("n6 done runs=");
    n6_put_u32(runs);
    n6_put_end();
#if N6_ON_REQUEST
    n6_watchdog_start(REQUEST_MS);
#endif
    n6_link_serve(network_at, n6_plan_network_count);
}
