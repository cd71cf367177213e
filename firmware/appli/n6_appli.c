/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_appli.h"

#include <stddef.h>

#include "n6_console_lines.h"
#include "n6_fault.h"
#include "n6_inference.h"
#include "n6_link.h"
#include "n6_slot.h"
#if N6_TRIAL || N6_ON_REQUEST
#include "n6_watchdog.h"
#endif

/* The watchdog period: longer than the poll of a blob at the slowest clock, shorter than the time after which the host repeats a
 * request. The watchdog resets a chip whose CPU hangs on a silent bus. The link feeds it while it waits for a request. */
#define REQUEST_MS 60000u

const char n6_program[] = "appli";

_Noreturn void n6_appli_stop(const char *id_and_text, const char *what)
{
    N6_LINE(error, .program = N6_LINE_ERROR_APPLI, .reason = id_and_text, .reason_of = what);
    n6_sleep_for_ever();
}

void n6_appli_put_external_ram(uint32_t id, bool is_mapped)
{
    N6_LINE(psram, .id = id, .is_mapped = is_mapped);
}

const char *n6_appli_open_external_ram(n6_psram_status_t (*open)(uint32_t *id))
{
    uint32_t id = 0;
    n6_psram_status_t status = open(&id);
    n6_appli_put_external_ram(id, status == N6_PSRAM_OK);
    return n6_xspi_psram_text(status);
}

uint32_t n6_appli_run(const n6_plan_network_t *network, uint32_t first)
{
    const n6_plan_vectors_t *vectors = &network->vectors;
    uint32_t crc32;
    if (vectors->count == 0u) {
        (void)n6_inference_run(network, first, NULL, 0u, 1);
        return 1u;
    }
    n6_slot_status_t status = n6_slot_check(vectors->source, vectors->count * vectors->bytes_each, 0u, &crc32);
    if (status != N6_SLOT_OK) {
        n6_appli_stop(n6_slot_text(status), "vectors");
    }
#if N6_TRUST
    const char *refused =
        n6_slot_verify(vectors->source, vectors->source, vectors->count * vectors->bytes_each, 0u, (n6_trust_part_t){NULL, 0u},
                       vectors->subject);
    if (refused[0] != '\0') {
        n6_appli_stop(refused, "vectors");
    }
#endif
    for (uint32_t i = 0; i < vectors->count; i++) {
#if N6_TRIAL
        n6_watchdog_feed();
#endif
        const uint8_t *input = (const uint8_t *)(uintptr_t)(vectors->source + i * vectors->bytes_each);
        if (!n6_inference_run(network, first + i, input, vectors->bytes_each, i == 0u)) {
            n6_appli_stop("N6-FW-026 a test vector has another size than the inputs of ", network->model);
        }
    }
    return vectors->count;
}

uint32_t n6_appli_run_all(n6_network_at_t *network_at, uint32_t count)
{
    uint32_t runs = 0;
#if !N6_ON_REQUEST
    for (uint32_t i = 0; i < count; i++) {
        runs += n6_appli_run(network_at(i), runs);
        n6_inference_restart(network_at(i)); /* for the sequence that arrives over the link */
    }
#else
    (void)network_at, (void)count;
#endif
    return runs;
}

_Noreturn void n6_appli_serve(uint32_t runs, n6_network_at_t *network_at, uint32_t count)
{
    N6_LINE(done, .runs = runs);
#if N6_ON_REQUEST
    n6_watchdog_start(REQUEST_MS);
#endif
    n6_link_serve(network_at, count);
}
