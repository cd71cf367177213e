/* SPDX-License-Identifier: Apache-2.0
 *
 * Inferences for a host, over the console's UART: frames in COBS (a zero byte ends one, and is nowhere else), with a CRC-32.
 * Text may come between frames. A request that is heard twice does no harm: the host asks again where no answer came. The messages
 * are those of n6_link_format.h.
 */
#ifndef N6_LINK_H
#define N6_LINK_H

#include <stdint.h>

#include "n6_link_format.h"
#include "n6_plan.h"

/* network_at: by index, below `count`; each has begun (n6_inference_begin). */
_Noreturn void n6_link_serve(const n6_plan_network_t *(*network_at)(uint32_t index), uint32_t count);

#endif
