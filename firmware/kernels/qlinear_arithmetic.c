/* SPDX-License-Identifier: Apache-2.0
 *
 * Sum and product of int8 elements like ONNX Runtime's QLinearAdd and QLinearMul: the scales are combined first.
 */
#include "broadcast_rows.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

static void plain_add_row(const void *operator, const int8_t *a, const int8_t *b, int8_t *output)
{
    const n6k_qlinear_add_t *op = operator;
    for (uint32_t i = 0; i < op->sizes.d3; i++) {
        const float x = (float)(a[i * op->a_strides.d3] + op->a_offset);
        const float y = (float)(b[i * op->b_strides.d3] + op->b_offset);
        const float number = __builtin_fmaf(op->a_ratio, x, __builtin_fmaf(op->b_ratio, y, op->constant));
        output[i] = n6k_number_to_output(number, op->output_offset, op->range);
    }
}

static void plain_mul_row(const void *operator, const int8_t *a, const int8_t *b, int8_t *output)
{
    const n6k_qlinear_mul_t *op = operator;
    for (uint32_t i = 0; i < op->sizes.d3; i++) {
        const int32_t x = a[i * op->a_strides.d3] - op->a_zero_point;
        const int32_t y = b[i * op->b_strides.d3] - op->b_zero_point;
        output[i] = n6k_number_to_output((float)(x * y) * op->ratio + op->zero_point, op->output_offset, op->range);
    }
}

void n6k_plain_qlinear_add(const n6k_qlinear_add_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_add_row);
}

void n6k_plain_qlinear_mul(const n6k_qlinear_mul_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_mul_row);
}

#if defined(__ARM_FEATURE_MVE)

/* Load four elements of an operand, or its only element. */
static inline int32x4_t load_x4(const int8_t *from, uint32_t i, uint32_t stride, mve_pred16_t lanes)
{
    return stride ? vldrbq_z_s32(from + i, lanes) : vdupq_n_s32(*from);
}

static void add_row(const void *operator, const int8_t *a, const int8_t *b, int8_t *output)
{
    const n6k_qlinear_add_t op = *(const n6k_qlinear_add_t *)operator; /* a copy, since a store may alias it */
    for (uint32_t i = 0; i < op.sizes.d3; i += 4) {
        const mve_pred16_t lanes = vctp32q(op.sizes.d3 - i);
        const int32x4_t x = vaddq_n_s32(load_x4(a, i, op.a_strides.d3, lanes), op.a_offset);
        const int32x4_t y = vaddq_n_s32(load_x4(b, i, op.b_strides.d3, lanes), op.b_offset);
        float32x4_t number = vfmaq_n_f32(vdupq_n_f32(op.constant), vcvtq_f32_s32(y), op.b_ratio);
        number = vfmaq_n_f32(number, vcvtq_f32_s32(x), op.a_ratio);
        n6k_store_numbers_x4(output + i, number, op.output_offset, op.range, lanes);
    }
}

static void mul_row(const void *operator, const int8_t *a, const int8_t *b, int8_t *output)
{
    const n6k_qlinear_mul_t op = *(const n6k_qlinear_mul_t *)operator;
    for (uint32_t i = 0; i < op.sizes.d3; i += 4) {
        const mve_pred16_t lanes = vctp32q(op.sizes.d3 - i);
        const int32x4_t x = vsubq_n_s32(load_x4(a, i, op.a_strides.d3, lanes), op.a_zero_point);
        const int32x4_t y = vsubq_n_s32(load_x4(b, i, op.b_strides.d3, lanes), op.b_zero_point);
        const float32x4_t product = vmulq_n_f32(vcvtq_f32_s32(vmulq_s32(x, y)), op.ratio);
        const float32x4_t number = vaddq_n_f32(product, op.zero_point);
        n6k_store_numbers_x4(output + i, number, op.output_offset, op.range, lanes);
    }
}

void n6k_qlinear_add(const n6k_qlinear_add_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, add_row);
}

void n6k_qlinear_mul(const n6k_qlinear_mul_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, mul_row);
}

#else

void n6k_qlinear_add(const n6k_qlinear_add_t *op)
{
    n6k_plain_qlinear_add(op);
}

void n6k_qlinear_mul(const n6k_qlinear_mul_t *op)
{
    n6k_plain_qlinear_mul(op);
}

#endif
