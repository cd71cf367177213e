/* SPDX-License-Identifier: Apache-2.0
 *
 * Fully connected layer, int8, by weights with a zero point, which is multiplied with the sum of each row.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_fully_connected_asymmetric(const n6k_fully_connected_asymmetric_t *op)
{
    for (uint32_t i = 0; i < op->batches * op->outputs; i++) {
        const uint32_t o = i % op->outputs;
        const int8_t *row = op->input + i / op->outputs * op->inputs;
        const int8_t *weights = op->weights + o * op->inputs;
        int32_t sum = op->bias[o];
        for (uint32_t k = 0; k < op->inputs; k++) {
            sum += row[k] * (weights[k] - op->weights_zero_point);
        }
        op->output[i] = n6k_to_output(n6k_scale_real(sum, op->scale[o]), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Compute the sum of x and its products with two rows of weights. */
static inline void dot_and_sum(const int8_t *x, const int8_t *w0, const int8_t *w1, uint32_t inputs, int32_t sums[3])
{
    int32_t a = 0, b = 0, plain = 0;
    uint32_t i = 0;
    for (; i + 16 <= inputs; i += 16) {
        const int8x16_t values = vldrbq_s8(x + i);
        a = vmladavaq_s8(a, values, vldrbq_s8(w0 + i));
        b = vmladavaq_s8(b, values, vldrbq_s8(w1 + i));
        plain = vaddvaq_s8(plain, values);
    }
    if (i < inputs) {
        const mve_pred16_t lanes = vctp8q(inputs - i);
        const int8x16_t values = vldrbq_z_s8(x + i, lanes);
        a = vmladavaq_s8(a, values, vldrbq_z_s8(w0 + i, lanes));
        b = vmladavaq_s8(b, values, vldrbq_z_s8(w1 + i, lanes));
        plain = vaddvaq_s8(plain, values);
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = plain;
}

void n6k_fully_connected_asymmetric(const n6k_fully_connected_asymmetric_t *op)
{
    const int8_t *row = op->input;
    int8_t *output = op->output;
    for (uint32_t batch = op->batches; batch > 0; batch--, row += op->inputs) {
        for (uint32_t o = 0; o < op->outputs; o += 2) {
            const uint32_t count = op->outputs - o < 2 ? 1 : 2;
            const int8_t *weights = op->weights + o * op->inputs;
            int32_t sums[3];
            dot_and_sum(row, weights, weights + (count - 1) * op->inputs, op->inputs, sums);
            for (uint32_t i = 0; i < count; i++) {
                const int32_t sum = op->bias[o + i] + sums[i] - op->weights_zero_point * sums[2];
                *output++ = n6k_to_output(n6k_scale_real(sum, op->scale[o + i]), op->range);
            }
        }
    }
}

#else

void n6k_fully_connected_asymmetric(const n6k_fully_connected_asymmetric_t *op)
{
    n6k_plain_fully_connected_asymmetric(op);
}

#endif
