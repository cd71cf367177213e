/* SPDX-License-Identifier: Apache-2.0
 *
 * Division of vectors by their Euclidean length, int8.
 */
#include "fixed32.h"
#include "helium.h"
#include "n6_kernels_plain.h"

#define OUTPUT_BITS 7 /* the output's step is 1/128 */

void n6k_plain_l2_normalization(const n6k_l2_normalization_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    for (uint32_t row = op->rows; row > 0; row--, input += op->depth, output += op->depth) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t x = input[i] - op->input_zero_point;
            sum += (uint32_t)(x * x);
        }
        const n6k_scaling_t by = n6k_inverse_square_root((int32_t)sum);
        for (uint32_t i = 0; i < op->depth; i++) {
            const int32_t x = input[i] - op->input_zero_point;
            output[i] = (int8_t)n6k_clamp(n6k_scale_double(x, by.multiplier, by.shift + OUTPUT_BITS), INT8_MIN, INT8_MAX);
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_l2_normalization(const n6k_l2_normalization_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    for (uint32_t row = op->rows; row > 0; row--, input += op->depth, output += op->depth) {
        int32_t sum = 0;
        for (uint32_t i = 0; i < op->depth; i += 8) {
            const mve_pred16_t lanes = vctp16q(op->depth - i);
            const int16x8_t x = vsubq_n_s16(vldrbq_z_s16(input + i, lanes), (int16_t)op->input_zero_point);
            sum = vmladavaq_p_s16(sum, x, x, lanes);
        }
        const n6k_scaling_t by = n6k_inverse_square_root(sum);
        const int32_t shift = by.shift + OUTPUT_BITS;
        for (uint32_t i = 0; i < op->depth; i += 4) {
            const mve_pred16_t lanes = vctp32q(op->depth - i);
            const int32x4_t x = vsubq_n_s32(vldrbq_z_s32(input + i, lanes), op->input_zero_point);
            int32x4_t y = n6k_scale_x4(x, by.multiplier, shift);
            y = vminq_s32(vmaxq_s32(y, vdupq_n_s32(INT8_MIN)), vdupq_n_s32(INT8_MAX));
            vstrbq_p_s32(output + i, y, lanes);
        }
    }
}

#else

void n6k_l2_normalization(const n6k_l2_normalization_t *op)
{
    n6k_plain_l2_normalization(op);
}

#endif
