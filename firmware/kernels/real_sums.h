/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of real numbers in the order of ONNX Runtime. Internal to the kernels.
 */
#ifndef N6K_REAL_SUMS_H
#define N6K_REAL_SUMS_H

#include <stdint.h>

/* The number of elements of a vector. */
#define N6K_LANES 4

/* Elements at distance `step`, as real numbers less `mean`; their squares if `squares` is not 0. */
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

/* Return the number of elements of a row before its first whole vector. Rows of `count` elements follow one another; the first
 * row begins with a whole vector. */
static inline uint32_t n6k_before_vectors(uint32_t row, uint32_t count)
{
    return (N6K_LANES - row * count % N6K_LANES) % N6K_LANES;
}

/* Return `sum` plus the elements from `begin` to `end`, added one after another. */
float n6k_sum_one_by_one(const n6k_reals_t *reals, uint32_t begin, uint32_t end, float sum);

/* Return the sum of the first `count` elements: even and odd vectors separately, then the elements before and after them.
 * before: number of elements before the first vector. */
float n6k_sum_in_vectors(const n6k_reals_t *reals, uint32_t count, uint32_t before);

#endif
