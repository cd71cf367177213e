/* SPDX-License-Identifier: Apache-2.0
 *
 * Logistic function and hyperbolic tangent of 16-bit fixed-point numbers, as the reference resolver computes them. Qi.f: i
 * integer bits, f fractional bits, one sign bit. Internal to the kernels.
 *
 * Each function exists twice, for one number and for eight lanes, with the same steps. The main functions for lanes are not
 * inlined: gcc 12.2 ends with an internal error if all are in one function.
 */
#ifndef N6K_FIXED16_H
#define N6K_FIXED16_H

#include <stdint.h>

#include "requantize.h"

#define N6K_Q15_ONE INT16_MAX
#define N6K_EXP_MINUS_EIGHTH 28918 /* Q0.15 */
#define N6K_THIRD 10923
#define N6K_48_17 23130 /* Q2.13 */
#define N6K_MINUS_32_17 -15420

static inline int32_t n6k_saturate16(int32_t x)
{
    return x > INT16_MAX ? INT16_MAX : (x < INT16_MIN ? INT16_MIN : x);
}

/* Return (a * b) / 2^15, halves rounded up. */
static inline int32_t n6k_multiply16(int32_t a, int32_t b)
{
    return n6k_saturate16((a * b + (1 << 14)) >> 15);
}

static inline int32_t n6k_multiply16_if(int32_t condition, int32_t x, int32_t factor)
{
    return condition != 0 ? n6k_multiply16(x, factor) : x;
}

/* Return exp(x) in Q0.15, for x <= 0 with `integer_bits` integer bits. */
static inline int32_t n6k_exp16(int32_t x, int32_t integer_bits)
{
    const int32_t fraction_bits = 15 - integer_bits;
    const int32_t quarter = 1 << (fraction_bits - 2);
    const int32_t last_quarter = (x & (quarter - 1)) - quarter;
    const int32_t rest = last_quarter - x;

    /* The Taylor series around -1/8 up to the fourth power. */
    const int32_t d = n6k_saturate16(last_quarter * (1 << integer_bits)) + (1 << 12);
    const int32_t d2 = n6k_multiply16(d, d);
    const int32_t d3 = n6k_multiply16(d2, d);
    const int32_t d4_4 = n6k_rounding_divide(n6k_multiply16(d2, d2), 2);
    const int32_t tail = n6k_rounding_divide(n6k_multiply16(d4_4 + d3, N6K_THIRD) + d2, 1);
    int32_t result = n6k_saturate16(N6K_EXP_MINUS_EIGHTH + n6k_multiply16(N6K_EXP_MINUS_EIGHTH, d + tail));

    /* exp(-2^k), k = -2..4, as code, because a table would be data with an address. `rest` has no bits beyond the number's. */
    result = n6k_multiply16_if(rest & quarter, result, 25520);
    result = n6k_multiply16_if(rest & (quarter << 1), result, 19875);
    result = n6k_multiply16_if(rest & (quarter << 2), result, 12055);
    result = n6k_multiply16_if(rest & (quarter << 3), result, 4435);
    result = n6k_multiply16_if(rest & (quarter << 4), result, 600);
    result = n6k_multiply16_if(rest & (quarter << 5), result, 11);
    result = n6k_multiply16_if(rest & (quarter << 6), result, 0);
    if (integer_bits > 5 && x < -(1 << (20 - integer_bits))) {
        result = 0;
    }
    return x == 0 ? N6K_Q15_ONE : result;
}

/* Return 2 / (1 + x) for 0 <= x <= 1, in Q2.13: three Newton-Raphson steps. */
static inline int32_t n6k_twice_reciprocal16(int32_t x)
{
    const int32_t half_denominator = (x + N6K_Q15_ONE + 1) >> 1;
    int32_t r = N6K_48_17 + n6k_multiply16(half_denominator, N6K_MINUS_32_17);
    for (int step = 0; step < 3; step++) {
        const int32_t error = (1 << 13) - n6k_multiply16(half_denominator, r);
        r += n6k_saturate16(n6k_multiply16(r, error) * 4);
    }
    return r;
}

static inline int32_t n6k_negative_magnitude16(int32_t x)
{
    return x > 0 ? -x : x;
}

/* Return 1 / (1 + exp(-x)): Q3.12 to Q0.15. */
static inline int16_t n6k_logistic16(int16_t x)
{
    const int32_t of_magnitude = n6k_saturate16(n6k_twice_reciprocal16(n6k_exp16(n6k_negative_magnitude16(x), 3)) * 2);
    return (int16_t)(x == 0 ? 1 << 14 : (x > 0 ? of_magnitude : N6K_Q15_ONE - of_magnitude));
}

/* Return tanh(x) in Q0.15, for x with `integer_bits` integer bits, 0 to 6. */
static inline int16_t n6k_tanh16(int16_t x, int32_t integer_bits)
{
    const int32_t exponential = n6k_exp16(n6k_negative_magnitude16(x), integer_bits + 1);
    const int32_t of_magnitude = n6k_saturate16((n6k_twice_reciprocal16(exponential) - (1 << 13)) * 4);
    return (int16_t)(x == 0 ? 0 : (x > 0 ? of_magnitude : -of_magnitude));
}

#if defined(__ARM_FEATURE_MVE)

#include <arm_mve.h>

static inline int16x8_t n6k_halve_x8(int16x8_t x, int negative_exponent)
{
    const int16x8_t exponent = vdupq_n_s16((int16_t)negative_exponent);
    const int16x8_t correction = vshrq_n_s16(vandq_s16(x, exponent), 15);
    return vrshlq_s16(vqaddq_s16(x, correction), exponent);
}

/* Multiply the lanes of x by a factor if `bit` is set in `bits`. A bit beyond the lanes is never set. */
static inline int16x8_t n6k_multiply16_if_x8(int16x8_t bits, int32_t bit, int16x8_t x, int16_t factor)
{
    const int16x8_t set = vandq_s16(bits, vdupq_n_s16((int16_t)bit));
    return vqrdmulhq_m_n_s16(x, x, factor, vcmpneq_n_s16(set, 0));
}

static __attribute__((noinline)) int16x8_t n6k_exp16_x8(int16x8_t x, int32_t integer_bits)
{
    const int32_t fraction_bits = 15 - integer_bits;
    const int32_t quarter = 1 << (fraction_bits - 2);
    const int16x8_t within = vandq_s16(x, vdupq_n_s16((int16_t)(quarter - 1)));
    const int16x8_t last_quarter = vsubq_n_s16(within, (int16_t)quarter);
    const int16x8_t rest = vsubq_s16(last_quarter, x);

    const int16x8_t d = vaddq_n_s16(vqshlq_s16(last_quarter, vdupq_n_s16((int16_t)integer_bits)), 1 << 12);
    const int16x8_t d2 = vqrdmulhq_s16(d, d);
    const int16x8_t d3 = vqrdmulhq_s16(d2, d);
    const int16x8_t d4_4 = n6k_halve_x8(vqrdmulhq_s16(d2, d2), -2);
    const int16x8_t tail = n6k_halve_x8(vaddq_s16(vqrdmulhq_n_s16(vaddq_s16(d4_4, d3), N6K_THIRD), d2), -1);
    int16x8_t result = vqrdmulhq_n_s16(vaddq_s16(d, tail), N6K_EXP_MINUS_EIGHTH);
    result = vqaddq_n_s16(result, N6K_EXP_MINUS_EIGHTH);

    result = n6k_multiply16_if_x8(rest, quarter, result, 25520);
    result = n6k_multiply16_if_x8(rest, quarter << 1, result, 19875);
    result = n6k_multiply16_if_x8(rest, quarter << 2, result, 12055);
    result = n6k_multiply16_if_x8(rest, quarter << 3, result, 4435);
    result = n6k_multiply16_if_x8(rest, quarter << 4, result, 600);
    result = n6k_multiply16_if_x8(rest, quarter << 5, result, 11);
    result = n6k_multiply16_if_x8(rest, quarter << 6, result, 0);
    if (integer_bits > 5) {
        result = vdupq_m_n_s16(result, 0, vcmpltq_n_s16(x, (int16_t)-(1 << (20 - integer_bits))));
    }
    return vdupq_m_n_s16(result, N6K_Q15_ONE, vcmpeqq_n_s16(x, 0));
}

static inline int16x8_t n6k_twice_reciprocal16_x8(int16x8_t x)
{
    const int16x8_t half_denominator = vrhaddq_s16(x, vdupq_n_s16(N6K_Q15_ONE));
    int16x8_t r = vaddq_n_s16(vqrdmulhq_n_s16(half_denominator, N6K_MINUS_32_17), N6K_48_17);
    for (int step = 0; step < 3; step++) {
        const int16x8_t error = vsubq_s16(vdupq_n_s16(1 << 13), vqrdmulhq_s16(half_denominator, r));
        r = vaddq_s16(r, vqshlq_n_s16(vqrdmulhq_s16(r, error), 2));
    }
    return r;
}

static __attribute__((noinline)) int16x8_t n6k_logistic16_x8(int16x8_t x)
{
    const mve_pred16_t positive = vcmpgtq_n_s16(x, 0);
    const int16x8_t negative = vnegq_m_s16(x, x, positive);
    const int16x8_t of_magnitude = vqshlq_n_s16(n6k_twice_reciprocal16_x8(n6k_exp16_x8(negative, 3)), 1);
    const int16x8_t negated = vsubq_s16(vdupq_n_s16(N6K_Q15_ONE), of_magnitude);
    const int16x8_t result = vorrq_m_s16(negated, of_magnitude, of_magnitude, positive);
    return vdupq_m_n_s16(result, 1 << 14, vcmpeqq_n_s16(x, 0));
}

static __attribute__((noinline)) int16x8_t n6k_tanh16_x8(int16x8_t x, int32_t integer_bits)
{
    const mve_pred16_t positive = vcmpgtq_n_s16(x, 0);
    const int16x8_t negative = vnegq_m_s16(x, x, positive);
    const int16x8_t twice = n6k_twice_reciprocal16_x8(n6k_exp16_x8(negative, integer_bits + 1));
    const int16x8_t of_magnitude = vqshlq_n_s16(vsubq_n_s16(twice, 1 << 13), 2);
    const int16x8_t result = vnegq_m_s16(of_magnitude, of_magnitude, vcmpltq_n_s16(x, 0));
    return vdupq_m_n_s16(result, 0, vcmpeqq_n_s16(x, 0));
}

#endif
#endif
