/* SPDX-License-Identifier: Apache-2.0
 *
 * The application for relocatable models: finds each in its flash slot, installs it, runs it on its test vectors and prints what
 * comes out. It holds no network of its own, so that a new model leaves it as it is.
 */
#include <stddef.h>

#include "n6_cache.h"
#include "n6_console.h"
#include "n6_fault.h"
#include "n6_inference.h"
#include "n6_model.h"
#include "n6_npu.h"
#include "n6_slot.h"

const char n6_program[] = "appli";

#define MODELS_MAX 16u

static n6_loaded_model_t loaded[MODELS_MAX];

static _Noreturn void stop(const char *id_and_text, const char *what)
{
    n6_put("n6 appli error ");
    n6_put(id_and_text);
    n6_put(what);
    n6_put_end();
    n6_sleep_for_ever();
}

/* first: number of the network's first run. Returns how many there were. */
static uint32_t run_network(const n6_plan_network_t *network, uint32_t first)
{
    const n6_plan_vectors_t *vectors = &network->vectors;
    uint32_t crc32;
    if (vectors->count == 0u) {
        (void)n6_inference_run(network, first, NULL, 0u, 1);
        return 1u;
    }
    n6_slot_status_t status = n6_slot_check(vectors->source, vectors->count * vectors->bytes_each, 0u, &crc32);
    if (status != N6_SLOT_OK) {
        stop(n6_slot_text(status), "vectors");
    }
    for (uint32_t i = 0; i < vectors->count; i++) {
        const uint8_t *input = (const uint8_t *)(uintptr_t)(vectors->source + i * vectors->bytes_each);
        if (!n6_inference_run(network, first + i, input, vectors->bytes_each, i == 0u)) {
            stop("N6-FW-026 a test vector has another size than the inputs of ", network->model);
        }
    }
    return vectors->count;
}

int main(void)
{
    n6_caches_enable();
    n6_console_open();
    n6_put("n6 appli start loader=reloc model=");
    n6_put(n6_models_application);
    n6_put_end();
    if (!n6_npu_enable()) {
        stop("N6-FW-027 stays busy: ", "CACHEAXI");
    }
    n6_npu_open_rif();
    n6_inference_open();
    uint32_t count = n6_model_count < MODELS_MAX ? n6_model_count : MODELS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (!n6_model_load(&n6_models[i], &loaded[i])) {
            stop("N6-FW-056 no slot holds a model that works: ", n6_models[i].name);
        }
    }
    uint32_t runs = 0;
    for (uint32_t i = 0; i < count; i++) {
        runs += run_network(&loaded[i].network, runs);
    }
    n6_put("n6 done runs=");
    n6_put_u32(runs);
    n6_put_end();
    return 0;
}
