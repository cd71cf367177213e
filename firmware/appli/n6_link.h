/* SPDX-License-Identifier: Apache-2.0
 *
 * Inferences for a host, over the console's UART: COBS frames with a CRC-32. A zero byte ends a frame and occurs nowhere else.
 * Text may appear between frames. A repeated request does no harm: the host repeats a request that got no answer. The messages
 * are those of n6_link_format.h.
 */
#ifndef N6_LINK_H
#define N6_LINK_H

#include <stdint.h>

#include "n6_link_format.h"
#include "n6_plan.h"

/* Return the network of an index below the number of networks. */
typedef const n6_plan_network_t *n6_network_at_t(uint32_t index);

/* Answer requests for ever, about networks after their n6_inference_begin. */
_Noreturn void n6_link_serve(n6_network_at_t *network_at, uint32_t count);

#endif
