/* SPDX-License-Identifier: Apache-2.0
 *
 * What the memory plan asks for before the first inference. A RAM bank has to be on before it is written.
 */
#ifndef N6_MEMORY_H
#define N6_MEMORY_H

#include <stdbool.h>

#include "n6_network.h"
#include "n6_plan.h"

/* Told of what happens, in this order; each may be NULL. */
typedef struct {
    void (*on_external_ram)(uint32_t id, bool is_mapped);
    void (*on_image)(const n6_plan_image_t *image, uint32_t crc32);
} n6_memory_observer_t;

/* All that n6_network_open does before the networks are initialised. */
n6_network_result_t n6_memory_open(const n6_memory_observer_t *observer);

#endif
