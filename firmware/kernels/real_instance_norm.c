/* SPDX-License-Identifier: Apache-2.0
 *
 * Instance normalisation of int8 in float32, in the order of ONNX Runtime.
 */
#include "n6_kernels_plain.h"
#include "real.h"
#include "real_sums.h"

static void normalise(const n6k_real_instance_norm_t *op)
{
    const float pixels = (float)op->pixels;
    n6k_reals_t reals = {.step = op->channels, .zero_point = op->input_zero_point, .scale = op->input_scale};
    for (uint32_t c = 0; c < op->channels; c++) {
        reals.from = op->input + c;
        reals.mean = 0;
        reals.squares = 0;
        const float mean = n6k_sum_in_vectors(&reals, op->pixels, n6k_before_vectors(c, op->pixels)) / pixels;
        reals.mean = mean;
        reals.squares = 1;
        const float variance = n6k_sum_in_vectors(&reals, op->pixels, 0) / pixels;
        const float factor = 1.0f / n6k_square_root(variance + op->epsilon) * op->scale[c];
        const float shift = op->bias[c] - mean * factor;
        reals.mean = 0;
        reals.squares = 0;
        for (uint32_t i = 0; i < op->pixels; i++) {
            const float result = n6k_real_at(&reals, i) * factor + shift;
            op->output[i * op->channels + c] = n6k_real_to_output(result / op->output_scale, op->range);
        }
    }
}

void n6k_plain_real_instance_norm(const n6k_real_instance_norm_t *op)
{
    normalise(op);
}

void n6k_real_instance_norm(const n6k_real_instance_norm_t *op)
{
    normalise(op);
}
