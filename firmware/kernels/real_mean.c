/* SPDX-License-Identifier: Apache-2.0
 *
 * Means and sums of int8 in float32, in the order of ONNX Runtime.
 */
#include "n6_kernels_plain.h"
#include "real.h"
#include "real_sums.h"

static void mean(const n6k_real_mean_t *op)
{
    n6k_reals_t reals = {.from = op->input, .step = op->step, .zero_point = op->input_zero_point, .scale = op->input_scale};
    for (uint32_t row = 0; row < op->rows; row++, reals.from += op->row_step) {
        const float sum = op->in_vectors ? n6k_sum_in_vectors(&reals, op->count, n6k_before_vectors(row, op->count))
                                         : n6k_sum_one_by_one(&reals, 1, op->count, n6k_real_at(&reals, 0));
        op->output[row] = n6k_real_to_output(sum / op->divisor / op->output_scale, op->range);
    }
}

void n6k_plain_real_mean(const n6k_real_mean_t *op)
{
    mean(op);
}

void n6k_real_mean(const n6k_real_mean_t *op)
{
    mean(op);
}
