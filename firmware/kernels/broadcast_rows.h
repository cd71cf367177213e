/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators of two operands that are broadcast to the output's shape. Internal to the kernels.
 */
#ifndef N6K_BROADCAST_ROWS_H
#define N6K_BROADCAST_ROWS_H

#include "n6_kernels.h"

/* A function for a row of the output. a, b: first element of each operand for that row. */
typedef void n6k_row_t(const void *op, const int8_t *a, const int8_t *b, int8_t *output);

static inline __attribute__((always_inline)) void n6k_for_each_row(const void *op, const int8_t *a, const int8_t *b,
                                                                   int8_t *output, n6k_strides_t sizes, n6k_strides_t to_a,
                                                                   n6k_strides_t to_b, n6k_row_t *row)
{
    for (uint32_t i = 0; i < sizes.d0; i++) {
        for (uint32_t j = 0; j < sizes.d1; j++) {
            for (uint32_t k = 0; k < sizes.d2; k++, output += sizes.d3) {
                row(op, a + i * to_a.d0 + j * to_a.d1 + k * to_a.d2, b + i * to_b.d0 + j * to_b.d1 + k * to_b.d2, output);
            }
        }
    }
}

#endif
