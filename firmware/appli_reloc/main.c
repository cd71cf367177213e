/* SPDX-License-Identifier: Apache-2.0
 *
 * The application for relocatable models. It finds each model in its flash slot, installs it, runs it on its test vectors and
 * prints the results. It contains no network, so that a new model does not change it.
 */
#include "n6_appli.h"
#include "n6_board_clock.h"
#include "n6_cache.h"
#include "n6_console_lines.h"
#include "n6_fault.h"
#if N6_FIELD_REPORT
#include "n6_field.h"
#endif
#include "n6_inference.h"
#include "n6_model.h"
#include "n6_npu.h"
#include "n6_trial.h"
#if N6_RUNTIME_DRIVES_NPU
#include "n6_st_runtime.h"
#endif

static const n6_plan_network_t *network_at(uint32_t index)
{
    return &n6_loaded_models[index].network;
}

int main(void)
{
    n6_caches_enable();
    n6_console_open();
    N6_LINE(appli_start, .loader = "reloc", .model = n6_models_application, .clock = N6_CPU_HZ);
    if (!n6_npu_enable()) {
        n6_appli_stop("N6-FW-027 stays busy: ", "CACHEAXI");
    }
#if !N6_CONFINE
    /* Confined models do not use the NPU, so the NPU gets no access to memory. */
    n6_npu_open_rif();
#endif
#if N6_RUNTIME_DRIVES_NPU
    n6_st_runtime_open();
#endif
#if N6_FIELD_REPORT
    n6_field_put_appli();
#endif
    n6_inference_open();
    n6_trial_resume();
    for (uint32_t i = 0; i < n6_model_count; i++) {
        if (!n6_model_load(&n6_models[i], &n6_loaded_models[i])) {
            n6_appli_stop("N6-FW-056 no slot has a working model: ", n6_models[i].name);
        }
    }
    uint32_t runs = n6_appli_run_all(network_at, n6_model_count);
    (void)n6_trial_confirm();
    n6_appli_serve(runs, network_at, n6_model_count);
}
