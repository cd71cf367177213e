/* SPDX-License-Identifier: Apache-2.0
 *
 * Inferences for a host, over the console's UART: frames in COBS (a zero byte ends one, and stands nowhere else), with a CRC-32.
 * Text may come between frames. A request that is heard twice does no harm: the host asks again where no answer came.
 *
 *     request   type, sequence, payload, CRC-32 of all of it (little endian)
 *     answer    type | 0x80, the same sequence, status, payload, CRC-32
 */
#ifndef N6_LINK_H
#define N6_LINK_H

#include <stdint.h>

#include "n6_plan.h"

#define N6_LINK_VERSION 2u

typedef enum {
    N6_LINK_HELLO = 1,   /* -> version (16 bits), networks (16), CPU clock in Hz (32) */
    N6_LINK_NETWORK = 2, /* index (8 bits) -> bytes of inputs, bytes of outputs, epochs (32 each), name */
    N6_LINK_INPUT = 3,   /* index, offset (32), data */
    N6_LINK_RUN = 4,     /* index -> cycles (32) */
    N6_LINK_OUTPUT = 5,  /* index, offset (32), size (8) -> data */
    N6_LINK_EPOCHS = 6,  /* index, first (16) -> cycles of each: start, core, end (32 each), as many as fit */
} n6_link_type_t;

typedef enum {
    N6_LINK_OK = 0,
    N6_LINK_UNKNOWN = 1, /* no such type or network */
    N6_LINK_RANGE = 2,   /* outside of the buffers */
} n6_link_status_t;

/* network_at: by index, below `count`; each has begun (n6_inference_begin). */
_Noreturn void n6_link_serve(const n6_plan_network_t *(*network_at)(uint32_t index), uint32_t count);

#endif
