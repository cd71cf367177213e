/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of real numbers in the order of ONNX Runtime. Internal to the kernels.
 */
#ifndef N6K_REAL_SUMS_H
#define N6K_REAL_SUMS_H

#include <stdint.h>

/* Numbers of a vector. */
#define N6K_LANES 4

/* Elements that lie `step` apart, as real numbers less `mean`; their squares, where `squares` is not 0. */
typedef struct {
    const int8_t *from;
    uint32_t step;
    int32_t zero_point;
    float scale;
    float mean;
    uint32_t squares;
} n6k_reals_t;

static inline float n6k_real_at(const n6k_reals_t *reals, uint32_t i)
{
    const float x = (float)(reals->from[i * reals->step] - reals->zero_point) * reals->scale - reals->mean;
    return reals->squares ? x * x : x;
}

/* How many of the numbers of a row lie before its first whole vector, where rows of `count` follow one another and the first
 * begins with one. */
static inline uint32_t n6k_before_vectors(uint32_t row, uint32_t count)
{
    return (N6K_LANES - row * count % N6K_LANES) % N6K_LANES;
}

/* Of those from `begin` to `end`, added to `sum` one after another. */
float n6k_sum_one_by_one(const n6k_reals_t *reals, uint32_t begin, uint32_t end, float sum);

/* Of the first `count`: even and odd vectors apart, then what lies before and behind them. before: numbers before the first
 * vector. */
float n6k_sum_in_vectors(const n6k_reals_t *reals, uint32_t count, uint32_t before);

#endif
