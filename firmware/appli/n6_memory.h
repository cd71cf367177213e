/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of the memory plan before the first inference. A RAM bank must be on before it is written.
 */
#ifndef N6_MEMORY_H
#define N6_MEMORY_H

#include <stdbool.h>

#include "n6_network.h"
#include "n6_plan.h"

/* Callbacks for the steps, in this order; each may be NULL. */
typedef struct {
    void (*on_external_ram)(uint32_t id, bool is_mapped);
    void (*on_image)(const n6_plan_image_t *image, uint32_t crc32);
} n6_memory_observer_t;

/* Do all steps of n6_network_open up to the initialisation of the networks. */
n6_network_result_t n6_memory_open(const n6_memory_observer_t *observer);

#endif
