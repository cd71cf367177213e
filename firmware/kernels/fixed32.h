/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of 32-bit fixed-point numbers, as the reference resolver computes them. Qi.f: i integer bits, f fractional bits, one
 * sign bit. Internal to the kernels.
 */
#ifndef N6K_FIXED32_H
#define N6K_FIXED32_H

#include "requantize.h"

static inline int32_t n6k_saturating_shift_left(int32_t x, int32_t bits)
{
    const int64_t wide = (int64_t)x * ((int64_t)1 << bits);
    return wide > INT32_MAX ? INT32_MAX : (wide < INT32_MIN ? INT32_MIN : (int32_t)wide);
}

/* Return exp(x) for -1/4 <= x < 0, Q0.31: the Taylor series around -1/8 up to the fourth power. */
static inline int32_t n6k_exp_of_last_quarter(int32_t x)
{
    const int32_t exp_minus_eighth = 1895147668;
    const int32_t third = 715827883;
    const int32_t d = x + (1 << 28);
    const int32_t d2 = n6k_doubling_high_multiply(d, d);
    const int32_t d3 = n6k_doubling_high_multiply(d2, d);
    const int32_t d4_4 = n6k_rounding_divide(n6k_doubling_high_multiply(d2, d2), 2);
    const int32_t tail = n6k_rounding_divide(n6k_doubling_high_multiply(d4_4 + d3, third) + d2, 1);
    return exp_minus_eighth + n6k_doubling_high_multiply(exp_minus_eighth, d + tail);
}

static inline int32_t n6k_times_if(int32_t condition, int32_t x, int32_t factor)
{
    return condition != 0 ? n6k_doubling_high_multiply(x, factor) : x;
}

/* Return exp(x) for x <= 0: Q5.26 to Q0.31. */
static inline int32_t n6k_exp_of_negative(int32_t x)
{
    const int32_t quarter = 1 << 24;
    if (x == 0) {
        return INT32_MAX;
    }
    const int32_t last_quarter = (x & (quarter - 1)) - quarter;
    const int32_t rest = last_quarter - x;
    int32_t result = n6k_exp_of_last_quarter(n6k_saturating_shift_left(last_quarter, 5));
    /* exp(-2^k), k = -2..4, Q0.31; as code, because a table would be data with an address. */
    result = n6k_times_if(rest & quarter, result, 1672461947);
    result = n6k_times_if(rest & (quarter << 1), result, 1302514674);
    result = n6k_times_if(rest & (quarter << 2), result, 790015084);
    result = n6k_times_if(rest & (quarter << 3), result, 290630308);
    result = n6k_times_if(rest & (quarter << 4), result, 39332535);
    result = n6k_times_if(rest & (quarter << 5), result, 720401);
    result = n6k_times_if(rest & (quarter << 6), result, 242);
    return result;
}

/* Return 1 / (1 + x) for 0 <= x < 1, Q0.31: three Newton-Raphson steps on half the denominator, in Q2.29. */
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


/* Return log(x) for x >= 1: Q12.19 to Q5.26. The value nearer to a power of two, x or x / sqrt(2), is scaled to 0.5..1. A
 * rational function gives the logarithm of the scaled value. */
static inline int32_t n6k_logarithm(int32_t x)
{
    const int32_t log_2 = 1488522236, sqrt_half = 1518500250, fourth_root_half = 1805811301;
    const int32_t quarter = 1 << 23; /* Q6.25 */
    const int32_t zeros_a = n6k_leading_zeros((uint32_t)x);
    const int32_t a = n6k_saturating_shift_left(x, zeros_a - 1);
    const int32_t r_a = n6k_saturating_shift_left(n6k_doubling_high_multiply(a, sqrt_half), 1);
    const int32_t power_a = n6k_saturating_shift_left(12 - zeros_a, 25) + quarter;
    const int32_t zeros_b = n6k_leading_zeros((uint32_t)n6k_doubling_high_multiply(x, sqrt_half)) - 1;
    const int32_t r_b = n6k_saturating_shift_left(x, zeros_b);
    const int32_t power_b = n6k_saturating_shift_left(12 - zeros_b, 25) - quarter;
    const int32_t r = r_a < r_b ? r_a : r_b;
    const int32_t power = power_a > power_b ? power_a : power_b;

    const int32_t p = (int32_t)(((int64_t)r + fourth_root_half + 1) / 2);
    const int32_t q = 2 * (r - fourth_root_half);
    const int32_t q2 = n6k_doubling_high_multiply(q, q);
    const int32_t q3 = n6k_doubling_high_multiply(n6k_doubling_high_multiply(q, q2), 117049297);
    const int32_t numerator = n6k_doubling_high_multiply(q, r) + q3;
    const int32_t of_p = 1057819769 + q + n6k_doubling_high_multiply(127690142, q2);
    const int32_t denominator = n6k_doubling_high_multiply(p, of_p) + n6k_doubling_high_multiply(638450708, q);
    const int32_t quotient =
        n6k_doubling_high_multiply(n6k_rounding_divide(numerator, 6), n6k_reciprocal_of_one_plus(denominator));
    return n6k_saturating_shift_left(n6k_doubling_high_multiply(power, log_2) + quotient, 1);
}

typedef struct {
    int32_t multiplier;
    int32_t shift;
} n6k_scaling_t;

/* Return 1 / sqrt(x) for x >= 0 as arguments of n6k_scale_double; 0 counts as 1. */
static inline n6k_scaling_t n6k_inverse_square_root(int32_t x)
{
    if (x <= 1) {
        return (n6k_scaling_t){INT32_MAX, 0};
    }
    int32_t right = 11;
    for (; x >= 1 << 29; right++) {
        x /= 4;
    }
    const int32_t pairs = (n6k_leading_zeros((uint32_t)x) - 1) / 2 - 1;
    right -= pairs;
    const int32_t half = n6k_rounding_divide((x << (2 * pairs)) >> 1, 1);
    int32_t root = 1 << 28; /* Q3.28; five steps of Newton-Raphson */
    for (int step = 0; step < 5; step++) {
        const int32_t square = n6k_doubling_high_multiply(root, root);
        const int32_t cube = n6k_saturating_shift_left(n6k_doubling_high_multiply(square, root), 6);
        const int32_t three_halves = n6k_doubling_high_multiply((1 << 28) + (1 << 27), root);
        root = n6k_saturating_shift_left(three_halves - n6k_doubling_high_multiply(half, cube), 3);
    }
    root = n6k_doubling_high_multiply(root, 1518500250);
    return right < 0 ? (n6k_scaling_t){(int32_t)((uint32_t)root << -right), 0} : (n6k_scaling_t){root, -right};
}

#endif
