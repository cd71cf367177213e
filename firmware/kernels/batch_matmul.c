/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices, int8.
 */
#include "dot.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_batch_matmul(const n6k_batch_matmul_t *op)
{
    const uint32_t x_step = op->x_is_transposed ? op->rows : 1, y_step = op->y_is_transposed ? 1 : op->columns;
    int8_t *output = op->output;
    for (uint32_t batch = 0; batch < op->batches; batch++) {
        for (uint32_t row = 0; row < op->rows; row++) {
            for (uint32_t column = 0; column < op->columns; column++) {
                const int8_t *x = op->x + batch * op->x_stride + row * (op->x_is_transposed ? 1 : op->depth);
                const int8_t *y = op->y + batch * op->y_stride + column * (op->y_is_transposed ? op->depth : 1);
                uint32_t sum = 0; /* wraps, as the reference's does */
                for (uint32_t i = 0; i < op->depth; i++) {
                    sum += (uint32_t)((x[i * x_step] - op->x_zero_point) * (y[i * y_step] - op->y_zero_point));
                }
                *output++ = n6k_to_output(n6k_scale_double((int32_t)sum, op->multiplier, op->shift), op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Compute the start value of the sum of each column of the product, without the row's part. */
static void start_columns(const n6k_batch_matmul_t *op, const int8_t *y, int32_t *starts)
{
    for (uint32_t column = 0; column < op->columns; column++, y += op->depth) {
        const int32_t products = (int32_t)op->depth * op->x_zero_point * op->y_zero_point;
        starts[column] = products - op->x_zero_point * n6k_sum_of(y, op->depth);
    }
}

static void multiply_row(const n6k_batch_matmul_t *op, const int8_t *x, const int8_t *y, const int32_t *starts,
                         int8_t *output)
{
    const int32_t of_row = op->y_zero_point * n6k_sum_of(x, op->depth);
    for (uint32_t column = 0; column < op->columns; column += 4, y += 4 * op->depth) {
        const uint32_t count = op->columns - column < 4 ? op->columns - column : 4;
        const mve_pred16_t lanes = vctp32q(count);
        int32_t sums[4];
        vst1q_s32(sums, vsubq_n_s32(vldrwq_z_s32(starts + column, lanes), of_row));
        n6k_dot_rows(x, y, op->depth, count, op->depth, sums);
        const int32x4_t scaled = n6k_scale_x4(vld1q_s32(sums), op->multiplier, op->shift);
        vstrbq_p_s32(output + column, n6k_to_output_x4(scaled, op->range), lanes);
    }
}

static void copy_strided(int8_t *to, const int8_t *from, uint32_t stride, uint32_t count)
{
    for (; count > 0; count--, from += stride) {
        *to++ = *from;
    }
}

void n6k_batch_matmul(const n6k_batch_matmul_t *op)
{
    int32_t *const starts = op->scratch;
    int8_t *const row = (int8_t *)(starts + op->columns);
    int8_t *const turned = row + op->depth;
    int8_t *output = op->output;
    for (uint32_t batch = 0; batch < op->batches; batch++) {
        const int8_t *x = op->x + batch * op->x_stride, *y = op->y + batch * op->y_stride;
        if (!op->y_is_transposed) {
            for (uint32_t column = 0; column < op->columns; column++) {
                copy_strided(turned + column * op->depth, y + column, op->columns, op->depth);
            }
            y = turned;
        }
        start_columns(op, y, starts);
        for (uint32_t i = 0; i < op->rows; i++, output += op->columns) {
            if (op->x_is_transposed) {
                copy_strided(row, x + i, op->rows, op->depth);
            }
            multiply_row(op, op->x_is_transposed ? row : x + i * op->depth, y, starts, output);
        }
    }
}

#else

void n6k_batch_matmul(const n6k_batch_matmul_t *op)
{
    n6k_plain_batch_matmul(op);
}

#endif
