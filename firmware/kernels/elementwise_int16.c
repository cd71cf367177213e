/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum, difference and product of int16 tensors, the second repeated where it is smaller.
 */
#include "columns.h"
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

void n6k_plain_sum_int16(const n6k_sum_int16_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t a = n6k_scale_double(op->a[i] * (1 << op->left_shift), op->a_multiplier, op->a_shift);
        const int32_t given = op->b[i % op->elements_b];
        const int32_t b = n6k_scale_double(given * (1 << op->left_shift), op->b_multiplier, op->b_shift);
        const int32_t sum = op->b_sign < 0 ? a - b : a + b;
        op->output[i] = n6k_to_int16(n6k_scale_double(sum, op->out_multiplier, op->out_shift), op->range);
    }
}

void n6k_plain_mul_int16(const n6k_mul_int16_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t product = op->a[i] * op->b[i % op->elements_b];
        op->output[i] = n6k_to_int16(n6k_scale_double(product, op->multiplier, op->shift), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Four elements of a tensor that is repeated; `position` stays below its length. */
static inline int32x4_t four_of(const int16_t *from, uint32_t elements, uint32_t *position)
{
    int32_t values[4];
    for (uint32_t i = 0; i < 4; i++) {
        values[i] = from[*position];
        *position = *position + 1 == elements ? 0 : *position + 1;
    }
    return vld1q_s32(values);
}

static inline int32x4_t clamped(int32x4_t x, n6k_output_int16_t range)
{
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(range.clamp_min)), vdupq_n_s32(range.clamp_max));
}

static inline int32x4_t scaled(int32x4_t x, int32_t multiplier, int32_t shift)
{
    return n6k_scale_double_x4(x, vdupq_n_s32(multiplier), vdupq_n_s32(shift));
}

void n6k_sum_int16(const n6k_sum_int16_t *op)
{
    const n6k_sum_int16_t local = *op;
    uint32_t position = 0;
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        const int32x4_t given = local.elements_b == local.elements ? vldrhq_z_s32(local.b + i, lanes)
                                                                   : four_of(local.b, local.elements_b, &position);
        const int32x4_t first = vshlq_r_s32(vldrhq_z_s32(local.a + i, lanes), local.left_shift);
        const int32x4_t a = scaled(first, local.a_multiplier, local.a_shift);
        const int32x4_t b = scaled(vshlq_r_s32(given, local.left_shift), local.b_multiplier, local.b_shift);
        const int32x4_t sum = local.b_sign < 0 ? vsubq_s32(a, b) : vaddq_s32(a, b);
        vstrhq_p_s32(local.output + i, clamped(scaled(sum, local.out_multiplier, local.out_shift), local.range), lanes);
    }
}

void n6k_mul_int16(const n6k_mul_int16_t *op)
{
    const n6k_mul_int16_t local = *op;
    uint32_t position = 0;
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        const int32x4_t given = local.elements_b == local.elements ? vldrhq_z_s32(local.b + i, lanes)
                                                                   : four_of(local.b, local.elements_b, &position);
        const int32x4_t product = vmulq_s32(vldrhq_z_s32(local.a + i, lanes), given);
        vstrhq_p_s32(local.output + i, clamped(scaled(product, local.multiplier, local.shift), local.range), lanes);
    }
}

#else

void n6k_sum_int16(const n6k_sum_int16_t *op)
{
    n6k_plain_sum_int16(op);
}

void n6k_mul_int16(const n6k_mul_int16_t *op)
{
    n6k_plain_mul_int16(op);
}

#endif
