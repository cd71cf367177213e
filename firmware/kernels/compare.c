/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison of two elements. Plain C only: networks compare a few positions and scores.
 */
#include "broadcast.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

static uint32_t of_integers(int64_t a, int64_t b)
{
    return a < b ? N6K_LESS : (a > b ? N6K_GREATER : N6K_EQUAL);
}

static uint32_t of_floats(float a, float b)
{
    return a < b ? N6K_LESS : (a > b ? N6K_GREATER : (a == b ? N6K_EQUAL : N6K_UNORDERED));
}

static int32_t scaled(const void *data, int32_t i, const n6k_compared_t *operand)
{
    const int32_t x = ((const int8_t *)data)[i] - operand->zero_point;
    return n6k_scale_double(x * 256, operand->multiplier, operand->shift);
}

static uint32_t relation(const n6k_compare_t *op, int32_t a, int32_t b)
{
    switch (op->type) {
    case N6K_COMPARE_INT8:
        return of_integers(scaled(op->a, a, &op->scale_a), scaled(op->b, b, &op->scale_b));
    case N6K_COMPARE_BOOL:
        return of_integers(((const uint8_t *)op->a)[a], ((const uint8_t *)op->b)[b]);
    case N6K_COMPARE_INT32:
        return of_integers(((const int32_t *)op->a)[a], ((const int32_t *)op->b)[b]);
    case N6K_COMPARE_INT64:
        return of_integers(((const int64_t *)op->a)[a], ((const int64_t *)op->b)[b]);
    default:
        return of_floats(((const float *)op->a)[a], ((const float *)op->b)[b]);
    }
}

void n6k_plain_compare(const n6k_compare_t *op)
{
    uint8_t *output = op->output;
    n6k_runs_t runs;
    n6k_runs_start(&runs, &op->broadcast);
    do {
        for (int32_t i = 0; i < (int32_t)op->broadcast.run; i++) {
            const uint32_t found = relation(op, runs.a + op->broadcast.a_step * i, runs.b + op->broadcast.b_step * i);
            *output++ = (found & op->relations) != 0;
        }
    } while (n6k_runs_next(&runs));
}

void n6k_compare(const n6k_compare_t *op)
{
    n6k_plain_compare(op);
}
