/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection of elements by a mask. Plain C only: networks select among a few boxes.
 */
#include <string.h>

#include "broadcast.h"
#include "n6_kernels_plain.h"

void n6k_plain_select(const n6k_select_t *op)
{
    const uint32_t bytes = op->bytes;
    uint8_t *output = op->output;
    n6k_runs_t runs;
    n6k_runs_start(&runs, &op->broadcast);
    do {
        const uint8_t *const chosen = op->a + runs.a;
        const uint8_t *from = (const uint8_t *)op->b + (size_t)runs.b * bytes;
        for (uint32_t i = 0; i < op->broadcast.run; i++, output += bytes, from += op->broadcast.b_step * bytes) {
            if (chosen[op->broadcast.a_step * i] != 0) {
                memcpy(output, from, bytes);
            }
        }
    } while (n6k_runs_next(&runs));
}

void n6k_select(const n6k_select_t *op)
{
    n6k_plain_select(op);
}
