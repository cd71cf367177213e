/* SPDX-License-Identifier: Apache-2.0
 *
 * What applications have in common, whether their networks are linked into them or installed.
 */
#ifndef N6_APPLI_H
#define N6_APPLI_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_plan.h"

/* Says why, with an id in front, and sleeps for ever. */
_Noreturn void n6_appli_stop(const char *id_and_text, const char *what);

/* Says what the external RAM is. */
void n6_appli_put_external_ram(uint32_t id, bool is_mapped);

/* Maps the external RAM and says so. Returns "", or why it cannot be used. */
const char *n6_appli_open_external_ram(n6_psram_status_t (*open)(uint32_t *id));

/* Runs a network on its test vectors, or once on zeros where it has none. first: number of the first run. Returns how many
 * there were. */
uint32_t n6_appli_run(const n6_plan_network_t *network, uint32_t first);

#endif
