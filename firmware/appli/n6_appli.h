/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions common to all applications, with linked or with installed networks.
 */
#ifndef N6_APPLI_H
#define N6_APPLI_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_link.h"
#include "n6_plan.h"

/* Print the error, its id first, and sleep for ever. */
_Noreturn void n6_appli_stop(const char *id_and_text, const char *what);

/* Print the id and the mapping state of the external RAM. */
void n6_appli_put_external_ram(uint32_t id, bool is_mapped);

/* Map the external RAM and print its id and state. Return "", or an error message (id and text) if the RAM is unusable. */
const char *n6_appli_open_external_ram(n6_psram_status_t (*open)(uint32_t *id));

/* Run a network on its test vectors, or once on zeros if it has none. first: number of the first run. Return the number of
 * runs. */
uint32_t n6_appli_run(const n6_plan_network_t *network, uint32_t first);

/* Run each network, after its n6_inference_begin; with N6_ON_REQUEST run none. Return the number of runs. */
uint32_t n6_appli_run_all(n6_network_at_t *network_at, uint32_t count);

/* Report the number of runs and answer requests for ever. */
_Noreturn void n6_appli_serve(uint32_t runs, n6_network_at_t *network_at, uint32_t count);

#endif
