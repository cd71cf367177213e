/* SPDX-License-Identifier: Apache-2.0
 *
 * Selection of elements by indices that the network computes. Plain C only: most of the work is copying.
 */
#include <string.h>

#include "n6_kernels_plain.h"

/* Return the position of the element for the indices at a place, counted in elements. The nearest valid index replaces an
 * invalid one, at which the reference resolver stops. */
static uint32_t position(const n6k_take_t *op, uint32_t place)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < op->depth; i++, place++) {
        const int64_t index = op->wide ? ((const int64_t *)op->indices)[place] : ((const int32_t *)op->indices)[place];
        const uint32_t last = op->sizes[i] - 1;
        const uint32_t inside = index < 0 ? 0 : (index > (int64_t)last ? last : (uint32_t)index);
        found = found * op->sizes[i] + inside;
    }
    return found;
}

void n6k_plain_take(const n6k_take_t *op)
{
    const uint8_t *input = op->input;
    uint8_t *output = op->output;
    for (uint32_t batch = 0; batch < op->batches; batch++) {
        for (uint32_t block = 0; block < op->blocks; block++, input += op->block_bytes) {
            for (uint32_t i = 0; i < op->count; i++, output += op->bytes) {
                memcpy(output, input + (size_t)position(op, (batch * op->count + i) * op->depth) * op->bytes, op->bytes);
            }
        }
    }
}

void n6k_take(const n6k_take_t *op)
{
    n6k_plain_take(op);
}
