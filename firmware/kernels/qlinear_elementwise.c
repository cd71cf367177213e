/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of int8 computed in float32, as ONNX Runtime does: dequantised, combined, divided by the output's scale.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

void n6k_plain_qlinear_quantize(const n6k_qlinear_quantize_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        op->output[i] = n6k_real_to_output(op->input[i] / op->scale, op->range);
    }
}

typedef float combine_t(float a, float b);

/* Every element of the output, of four dimensions, with the strides of both operands. */
static void combine(const n6k_qlinear_binary_t *op, combine_t *with)
{
    const n6k_strides_t *sizes = &op->sizes;
    int8_t *output = op->output;
    for (uint32_t i = 0; i < sizes->d0; i++) {
        for (uint32_t j = 0; j < sizes->d1; j++) {
            for (uint32_t k = 0; k < sizes->d2; k++) {
                const int8_t *a = op->a + i * op->a_strides.d0 + j * op->a_strides.d1 + k * op->a_strides.d2;
                const int8_t *b = op->b + i * op->b_strides.d0 + j * op->b_strides.d1 + k * op->b_strides.d2;
                for (uint32_t l = 0; l < sizes->d3; l++) {
                    const float left = (float)(a[l * op->a_strides.d3] - op->a_zero_point) * op->a_scale;
                    const float right = (float)(b[l * op->b_strides.d3] - op->b_zero_point) * op->b_scale;
                    *output++ = n6k_real_to_output(with(left, right) / op->output_scale, op->range);
                }
            }
        }
    }
}

static float sum(float a, float b)
{
    return a + b;
}

static float difference(float a, float b)
{
    return a - b;
}

static float product(float a, float b)
{
    return a * b;
}

void n6k_plain_qlinear_add(const n6k_qlinear_binary_t *op)
{
    combine(op, sum);
}

void n6k_plain_qlinear_sub(const n6k_qlinear_binary_t *op)
{
    combine(op, difference);
}

void n6k_plain_qlinear_mul(const n6k_qlinear_binary_t *op)
{
    combine(op, product);
}

#if defined(__ARM_FEATURE_MVE)

void n6k_qlinear_quantize(const n6k_qlinear_quantize_t *op)
{
    const n6k_qlinear_quantize_t local = *op;
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        /* Helium has no division: four scalar ones. */
        const float32x4_t steps = vldrwq_z_f32(local.input + i, lanes) / vdupq_n_f32(local.scale);
        n6k_store_reals_x4(local.output + i, steps, local.range, lanes);
    }
}

typedef enum { ADD, SUB, MUL } operation_t;

/* A row of elements; an operand of stride 0 is one element for all. */
static inline __attribute__((always_inline)) void combine_row(const n6k_qlinear_binary_t *op, operation_t operation,
                                                              const int8_t *a, const int8_t *b, int8_t *output)
{
    const n6k_qlinear_binary_t local = *op; /* which stores through a byte pointer might otherwise change */
    const float32x4_t scale = vdupq_n_f32(local.output_scale);
    const float32x4_t one_a = vdupq_n_f32((float)(*a - local.a_zero_point) * local.a_scale);
    const float32x4_t one_b = vdupq_n_f32((float)(*b - local.b_zero_point) * local.b_scale);
    for (uint32_t i = 0; i < local.sizes.d3; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.sizes.d3 - i);
        float32x4_t x = local.a_strides.d3 ? n6k_load_reals_x4(a + i, local.a_zero_point, local.a_scale, lanes) : one_a;
        const float32x4_t y = local.b_strides.d3 ? n6k_load_reals_x4(b + i, local.b_zero_point, local.b_scale, lanes) : one_b;
        x = operation == ADD ? vaddq_f32(x, y) : operation == SUB ? vsubq_f32(x, y) : vmulq_f32(x, y);
        n6k_store_reals_x4(output + i, x / scale, local.range, lanes);
    }
}

static inline __attribute__((always_inline)) void combine_rows(const n6k_qlinear_binary_t *op, operation_t operation)
{
    const n6k_strides_t sizes = op->sizes, to_a = op->a_strides, to_b = op->b_strides;
    int8_t *output = op->output;
    for (uint32_t i = 0; i < sizes.d0; i++) {
        for (uint32_t j = 0; j < sizes.d1; j++) {
            for (uint32_t k = 0; k < sizes.d2; k++, output += sizes.d3) {
                combine_row(op, operation, op->a + i * to_a.d0 + j * to_a.d1 + k * to_a.d2,
                            op->b + i * to_b.d0 + j * to_b.d1 + k * to_b.d2, output);
            }
        }
    }
}

void n6k_qlinear_add(const n6k_qlinear_binary_t *op)
{
    combine_rows(op, ADD);
}

void n6k_qlinear_sub(const n6k_qlinear_binary_t *op)
{
    combine_rows(op, SUB);
}

void n6k_qlinear_mul(const n6k_qlinear_binary_t *op)
{
    combine_rows(op, MUL);
}

#else

void n6k_qlinear_quantize(const n6k_qlinear_quantize_t *op)
{
    n6k_plain_qlinear_quantize(op);
}

void n6k_qlinear_add(const n6k_qlinear_binary_t *op)
{
    n6k_plain_qlinear_add(op);
}

void n6k_qlinear_sub(const n6k_qlinear_binary_t *op)
{
    n6k_plain_qlinear_sub(op);
}

void n6k_qlinear_mul(const n6k_qlinear_binary_t *op)
{
    n6k_plain_qlinear_mul(op);
}

#endif
