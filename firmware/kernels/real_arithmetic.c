/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of int8 computed in float32 step by step: dequantised, combined, divided by the output's scale.
 */
#include "broadcast_rows.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

typedef enum { ADD, SUB, MUL, DIV, MAX, MIN } operation_t;

static inline __attribute__((always_inline)) float combined(operation_t operation, float x, float y)
{
    switch (operation) {
    case ADD:
        return x + y;
    case SUB:
        return x - y;
    case MUL:
        return x * y;
    case DIV:
        return x / y;
    case MAX:
        return x > y ? x : y;
    default:
        return x < y ? x : y;
    }
}

static inline __attribute__((always_inline)) void plain_row(const n6k_real_binary_t *op, operation_t operation,
                                                            const int8_t *a, const int8_t *b, int8_t *output)
{
    for (uint32_t i = 0; i < op->sizes.d3; i++) {
        const float x = (float)(a[i * op->a_strides.d3] - op->a_zero_point) * op->a_scale;
        const float y = (float)(b[i * op->b_strides.d3] - op->b_zero_point) * op->b_scale;
        output[i] = n6k_real_to_output(combined(operation, x, y) / op->output_scale, op->range);
    }
}

static void plain_add_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    plain_row(op, ADD, a, b, output);
}

static void plain_sub_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    plain_row(op, SUB, a, b, output);
}

static void plain_mul_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    plain_row(op, MUL, a, b, output);
}

static void plain_div_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    plain_row(op, DIV, a, b, output);
}

static void plain_max_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    plain_row(op, MAX, a, b, output);
}

static void plain_min_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    plain_row(op, MIN, a, b, output);
}

void n6k_plain_real_add(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_add_row);
}

void n6k_plain_real_sub(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_sub_row);
}

void n6k_plain_real_mul(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_mul_row);
}

void n6k_plain_real_div(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_div_row);
}

void n6k_plain_real_max(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_max_row);
}

void n6k_plain_real_min(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, plain_min_row);
}

#if defined(__ARM_FEATURE_MVE)

static inline __attribute__((always_inline)) float32x4_t combined_x4(operation_t operation, float32x4_t x, float32x4_t y)
{
    switch (operation) {
    case ADD:
        return vaddq_f32(x, y);
    case SUB:
        return vsubq_f32(x, y);
    case MUL:
        return vmulq_f32(x, y);
    case DIV:
        return x / y; /* Helium has no division: four scalar ones */
    case MAX:
        return vmaxnmq_f32(x, y);
    default:
        return vminnmq_f32(x, y);
    }
}

/* An operand of stride 0 is one element for all. */
static void __attribute__((noinline)) row_of(const n6k_real_binary_t *op, operation_t operation, const int8_t *a,
                                             const int8_t *b, int8_t *output)
{
    const n6k_real_binary_t local = *op; /* which stores through a byte pointer might otherwise change */
    const float32x4_t scale = vdupq_n_f32(local.output_scale);
    const float32x4_t one_a = vdupq_n_f32((float)(*a - local.a_zero_point) * local.a_scale);
    const float32x4_t one_b = vdupq_n_f32((float)(*b - local.b_zero_point) * local.b_scale);
    const uint32_t many_a = local.a_strides.d3, many_b = local.b_strides.d3;
    for (uint32_t i = 0; i < local.sizes.d3; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.sizes.d3 - i);
        float32x4_t x = many_a ? n6k_load_reals_x4(a + i, local.a_zero_point, local.a_scale, lanes) : one_a;
        const float32x4_t y = many_b ? n6k_load_reals_x4(b + i, local.b_zero_point, local.b_scale, lanes) : one_b;
        x = combined_x4(operation, x, y);
        n6k_store_reals_x4(output + i, x / scale, local.range, lanes);
    }
}

static void add_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    row_of(op, ADD, a, b, output);
}

static void sub_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    row_of(op, SUB, a, b, output);
}

static void mul_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    row_of(op, MUL, a, b, output);
}

static void div_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    row_of(op, DIV, a, b, output);
}

static void max_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    row_of(op, MAX, a, b, output);
}

static void min_row(const void *op, const int8_t *a, const int8_t *b, int8_t *output)
{
    row_of(op, MIN, a, b, output);
}

void n6k_real_add(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, add_row);
}

void n6k_real_sub(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, sub_row);
}

void n6k_real_mul(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, mul_row);
}

void n6k_real_div(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, div_row);
}

void n6k_real_max(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, max_row);
}

void n6k_real_min(const n6k_real_binary_t *op)
{
    n6k_for_each_row(op, op->a, op->b, op->output, op->sizes, op->a_strides, op->b_strides, min_row);
}

#else

void n6k_real_add(const n6k_real_binary_t *op)
{
    n6k_plain_real_add(op);
}

void n6k_real_sub(const n6k_real_binary_t *op)
{
    n6k_plain_real_sub(op);
}

void n6k_real_mul(const n6k_real_binary_t *op)
{
    n6k_plain_real_mul(op);
}

void n6k_real_div(const n6k_real_binary_t *op)
{
    n6k_plain_real_div(op);
}

void n6k_real_max(const n6k_real_binary_t *op)
{
    n6k_plain_real_max(op);
}

void n6k_real_min(const n6k_real_binary_t *op)
{
    n6k_plain_real_min(op);
}

#endif
