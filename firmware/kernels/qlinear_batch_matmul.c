/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two int8 matrices, none of them constant, like ONNX Runtime's QLinearMatMul.
 */
#include "dot.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

void n6k_plain_qlinear_batch_matmul(const n6k_qlinear_batch_matmul_t *op)
{
    int8_t *output = op->output;
    for (uint32_t batch = 0; batch < op->batches; batch++) {
        for (uint32_t row = 0; row < op->rows; row++) {
            const int8_t *x = op->x + batch * op->x_stride + row * op->depth;
            for (uint32_t column = 0; column < op->columns; column++) {
                const int8_t *y = op->y + batch * op->y_stride + column * op->depth;
                int32_t sum = 0;
                for (uint32_t i = 0; i < op->depth; i++) {
                    sum += (x[i] - op->x_zero_point) * (y[i] - op->y_zero_point);
                }
                *output++ = n6k_real_to_output((float)sum * op->scale, op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Multiply a row. starts: the start value of each column's sum, without the row's part. */
static void multiply_row(const n6k_qlinear_batch_matmul_t *op, const int8_t *x, const int8_t *y, const int32_t *starts,
                         int8_t *output)
{
    const int32_t of_row = op->y_zero_point * n6k_sum_of(x, op->depth);
    for (uint32_t column = 0; column < op->columns; column += 4, y += 4 * op->depth) {
        const uint32_t count = op->columns - column < 4 ? op->columns - column : 4;
        const mve_pred16_t lanes = vctp32q(count);
        int32_t sums[4];
        vst1q_s32(sums, vsubq_n_s32(vldrwq_z_s32(starts + column, lanes), of_row));
        n6k_dot_rows(x, y, op->depth, count, op->depth, sums);
        const float32x4_t steps = vmulq_n_f32(vcvtq_f32_s32(vld1q_s32(sums)), op->scale);
        n6k_store_reals_x4(output + column, steps, op->range, lanes);
    }
}

void n6k_qlinear_batch_matmul(const n6k_qlinear_batch_matmul_t *op)
{
    const int32_t products = (int32_t)op->depth * op->x_zero_point * op->y_zero_point;
    int8_t *output = op->output;
    for (uint32_t batch = 0; batch < op->batches; batch++) {
        const int8_t *x = op->x + batch * op->x_stride, *y = op->y + batch * op->y_stride;
        for (uint32_t column = 0; column < op->columns; column++) {
            op->scratch[column] = products - op->x_zero_point * n6k_sum_of(y + column * op->depth, op->depth);
        }
        for (uint32_t row = 0; row < op->rows; row++, x += op->depth, output += op->columns) {
            multiply_row(op, x, y, op->scratch, output);
        }
    }
}

#else

void n6k_qlinear_batch_matmul(const n6k_qlinear_batch_matmul_t *op)
{
    n6k_plain_qlinear_batch_matmul(op);
}

#endif
