/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer, int16 by int8 weights, with 64-bit accumulators.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

void n6k_plain_fully_connected_int16(const n6k_fully_connected_int16_t *op)
{
    for (uint32_t i = 0; i < op->batches * op->outputs; i++) {
        const uint32_t o = i % op->outputs;
        const int16_t *row = op->input + i / op->outputs * op->inputs;
        const int8_t *weights = op->weights + o * op->inputs;
        int64_t sum = op->bias[o];
        for (uint32_t k = 0; k < op->inputs; k++) {
            sum += row[k] * weights[k];
        }
        op->output[i] = n6k_to_int16(n6k_scale_real_wide(sum, op->scale[o]), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_fully_connected_int16(const n6k_fully_connected_int16_t *op)
{
    const int16_t *row = op->input;
    int16_t *output = op->output;
    for (uint32_t batch = op->batches; batch > 0; batch--, row += op->inputs) {
        for (uint32_t o = 0; o < op->outputs; o += 2) {
            const uint32_t count = op->outputs - o < 2 ? 1 : 2;
            const int8_t *weights = op->weights + o * op->inputs;
            const int8_t *next = weights + (count - 1) * op->inputs;
            int64_t sums[2] = {op->bias[o], op->bias[o + count - 1]};
            for (uint32_t i = 0; i < op->inputs; i += 8) {
                const mve_pred16_t lanes = vctp16q(op->inputs - i);
                const int16x8_t x = vldrhq_z_s16(row + i, lanes);
                sums[0] = vmlaldavaq_s16(sums[0], x, vldrbq_z_s16(weights + i, lanes));
                sums[1] = vmlaldavaq_s16(sums[1], x, vldrbq_z_s16(next + i, lanes));
            }
            for (uint32_t i = 0; i < count; i++) {
                *output++ = n6k_to_int16(n6k_scale_real_wide(sums[i], op->scale[o + i]), op->range);
            }
        }
    }
}

#else

void n6k_fully_connected_int16(const n6k_fully_connected_int16_t *op)
{
    n6k_plain_fully_connected_int16(op);
}

#endif
