/* SPDX-License-Identifier: Apache-2.0
 *
 * PReLU of int8 in float32: negative values are multiplied by the slope of the channel.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

void n6k_plain_real_prelu(const n6k_real_prelu_t *op)
{
    for (uint32_t row = 0; row < op->rows; row++) {
        for (uint32_t i = 0; i < op->depth; i++) {
            const uint32_t place = row * op->depth + i;
            const float x = (float)(op->input[place] - op->input_zero_point) * op->input_scale;
            const float result = x < 0 ? op->slopes[i] * x : x;
            op->output[place] = n6k_real_to_output(result / op->output_scale, op->range);
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_real_prelu(const n6k_real_prelu_t *op)
{
    const n6k_real_prelu_t local = *op; /* a copy, since stores through a byte pointer may alias it */
    const float32x4_t output_scale = vdupq_n_f32(local.output_scale);
    const int8_t *input = local.input;
    int8_t *output = local.output;
    for (uint32_t row = local.rows; row > 0; row--, input += local.depth, output += local.depth) {
        for (uint32_t i = 0; i < local.depth; i += 4) {
            const mve_pred16_t lanes = vctp32q(local.depth - i);
            const float32x4_t x = n6k_load_reals_x4(input + i, local.input_zero_point, local.input_scale, lanes);
            const float32x4_t result = vmulq_m_f32(x, x, vldrwq_z_f32(local.slopes + i, lanes), vcmpltq_n_f32(x, 0));
            n6k_store_reals_x4(output + i, result / output_scale, local.range, lanes);
        }
    }
}

#else

void n6k_real_prelu(const n6k_real_prelu_t *op)
{
    n6k_plain_real_prelu(op);
}

#endif
