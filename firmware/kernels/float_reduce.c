/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums, means, products and extremes of rows of float32. A sum carries its rounding errors along, so that its order hardly matters.
 */
#include <stddef.h>

#include "float_math.h"
#include "n6_kernels_plain.h"

static float sum_of(const float *row, uint32_t count)
{
    float sum = 0, lost = 0;
    for (uint32_t i = 0; i < count; i++) {
        float x = row[i];
        N6K_SCALAR(x);
        const float whole = sum + x;
        lost += __builtin_fabsf(sum) >= __builtin_fabsf(x) ? (sum - whole) + x : (x - whole) + sum;
        sum = whole;
    }
    /* An infinite sum has lost no number. */
    return __builtin_fabsf(sum) < __builtin_inff() ? sum + lost : sum;
}

static float reduced(const n6k_float_reduce_t *op, const float *row)
{
    if (op->operation == N6K_FLOAT_SUM) {
        return sum_of(row, op->count) / op->divisor;
    }
    float found = row[0];
    for (uint32_t i = 1; i < op->count; i++) {
        float x = row[i];
        N6K_SCALAR(x);
        if (op->operation == N6K_FLOAT_PRODUCT) {
            found *= x;
        } else if (op->operation == N6K_FLOAT_LARGEST ? x > found : x < found) {
            found = x;
        }
    }
    return found;
}

void n6k_plain_float_reduce(const n6k_float_reduce_t *op)
{
    for (uint32_t row = 0; row < op->rows; row++) {
        op->output[row] = reduced(op, op->input + (size_t)row * op->count);
    }
}

void n6k_float_reduce(const n6k_float_reduce_t *op)
{
    n6k_plain_float_reduce(op);
}
