/* SPDX-License-Identifier: Apache-2.0
 *
 * Reciprocals in fixed point, as the reference resolver computes them. Internal to the kernels.
 */
#ifndef N6K_RECIPROCAL_H
#define N6K_RECIPROCAL_H

#include "requantize.h"

static inline int32_t n6k_saturating_shift_left(int32_t x, int32_t bits)
{
    const int64_t wide = (int64_t)x * ((int64_t)1 << bits);
    return wide > INT32_MAX ? INT32_MAX : (wide < INT32_MIN ? INT32_MIN : (int32_t)wide);
}

/* 1 / (1 + x) for 0 <= x < 1, Q0.31: three Newton-Raphson steps on half the denominator, in Q2.29. */
static inline int32_t n6k_reciprocal_of_one_plus(int32_t x)
{
    const int32_t half_denominator = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
    int32_t r = 1515870810 + n6k_doubling_high_multiply(half_denominator, -1010580540); /* 48/17 - 32/17 * h */
    for (int step = 0; step < 3; step++) {
        const int32_t error = (1 << 29) - n6k_doubling_high_multiply(half_denominator, r);
        r += n6k_saturating_shift_left(n6k_doubling_high_multiply(r, error), 2);
    }
    return n6k_saturating_shift_left(r, 1);
}

static inline int32_t n6k_leading_zeros(uint32_t x)
{
    return x == 0 ? 32 : __builtin_clz(x);
}

#endif
