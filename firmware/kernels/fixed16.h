/* SPDX-License-Identifier: Apache-2.0
 *
 * Logistic function and hyperbolic tangent of 16-bit fixed-point numbers, as the reference resolver computes them. Qi.f: i
 * integer bits, f fractional bits, one sign bit. Internal to the kernels.
 *
 * Each function is here twice, for one number and for eight lanes, step by step the same.
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

/* exp(-2^k), k = -2..3, Q0.15; exp(-16) is 0. As code, because a table would be data with an address. */
static inline int16_t n6k_exp_minus_power(int32_t k)
{
    switch (k) {
    case -2:
        return 25520;
    case -1:
        return 19875;
    case 0:
        return 12055;
    case 1:
        return 4435;
    case 2:
        return 600;
    case 3:
        return 11;
    default:
        return 0;
    }
}

static inline int32_t n6k_saturate16(int32_t x)
{
    return x > INT16_MAX ? INT16_MAX : (x < INT16_MIN ? INT16_MIN : x);
}

/* (a * b) / 2^15, halves rounded up. */
static inline int32_t n6k_multiply16(int32_t a, int32_t b)
{
    return n6k_saturate16((a * b + (1 << 14)) >> 15);
}

/* exp(x) for x <= 0 with that many integer bits, Q0.15. */
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

    for (int32_t k = -2; k < integer_bits && k < 5; k++) {
        if (rest & (1 << (fraction_bits + k))) {
            result = n6k_multiply16(result, n6k_exp_minus_power(k));
        }
    }
    if (integer_bits > 5 && x < -(1 << (20 - integer_bits))) {
        result = 0;
    }
    return x == 0 ? N6K_Q15_ONE : result;
}

/* 2 / (1 + x) for 0 <= x <= 1 in Q2.13: three Newton-Raphson steps. */
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

/* 1 / (1 + exp(-x)): Q3.12 to Q0.15. */
static inline int16_t n6k_logistic16(int16_t x)
{
    const int32_t of_magnitude = n6k_saturate16(n6k_twice_reciprocal16(n6k_exp16(n6k_negative_magnitude16(x), 3)) * 2);
    return (int16_t)(x == 0 ? 1 << 14 : (x > 0 ? of_magnitude : N6K_Q15_ONE - of_magnitude));
}

/* tanh(x) with that many integer bits, 0 to 6, to Q0.15. */
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

static inline int16x8_t n6k_exp16_x8(int16x8_t x, int32_t integer_bits)
{
    const int32_t fraction_bits = 15 - integer_bits;
    const int16_t quarter = (int16_t)(1 << (fraction_bits - 2));
    const int16x8_t last_quarter = vsubq_n_s16(vandq_s16(x, vdupq_n_s16((int16_t)(quarter - 1))), quarter);
    const int16x8_t rest = vsubq_s16(last_quarter, x);

    const int16x8_t d = vaddq_n_s16(vqshlq_s16(last_quarter, vdupq_n_s16((int16_t)integer_bits)), 1 << 12);
    const int16x8_t d2 = vqrdmulhq_s16(d, d);
    const int16x8_t d3 = vqrdmulhq_s16(d2, d);
    const int16x8_t d4_4 = n6k_halve_x8(vqrdmulhq_s16(d2, d2), -2);
    const int16x8_t tail = n6k_halve_x8(vaddq_s16(vqrdmulhq_n_s16(vaddq_s16(d4_4, d3), N6K_THIRD), d2), -1);
    int16x8_t result = vqrdmulhq_n_s16(vaddq_s16(d, tail), N6K_EXP_MINUS_EIGHTH);
    result = vqaddq_n_s16(result, N6K_EXP_MINUS_EIGHTH);

    for (int32_t k = -2; k < integer_bits && k < 5; k++) {
        const int16x8_t bit = vandq_s16(rest, vdupq_n_s16((int16_t)(1 << (fraction_bits + k))));
        const int16x8_t smaller = vqrdmulhq_n_s16(result, n6k_exp_minus_power(k));
        result = vpselq_s16(smaller, result, vcmpneq_n_s16(bit, 0));
    }
    if (integer_bits > 5) {
        result = vpselq_s16(vdupq_n_s16(0), result, vcmpltq_n_s16(x, (int16_t)-(1 << (20 - integer_bits))));
    }
    return vpselq_s16(vdupq_n_s16(N6K_Q15_ONE), result, vcmpeqq_n_s16(x, 0));
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

static inline int16x8_t n6k_logistic16_x8(int16x8_t x)
{
    const mve_pred16_t positive = vcmpgtq_n_s16(x, 0);
    const int16x8_t negative = vpselq_s16(vnegq_s16(x), x, positive);
    const int16x8_t of_magnitude = vqshlq_n_s16(n6k_twice_reciprocal16_x8(n6k_exp16_x8(negative, 3)), 1);
    const int16x8_t result = vpselq_s16(of_magnitude, vsubq_s16(vdupq_n_s16(N6K_Q15_ONE), of_magnitude), positive);
    return vpselq_s16(vdupq_n_s16(1 << 14), result, vcmpeqq_n_s16(x, 0));
}

static inline int16x8_t n6k_tanh16_x8(int16x8_t x, int32_t integer_bits)
{
    const mve_pred16_t positive = vcmpgtq_n_s16(x, 0);
    const int16x8_t negative = vpselq_s16(vnegq_s16(x), x, positive);
    const int16x8_t twice = n6k_twice_reciprocal16_x8(n6k_exp16_x8(negative, integer_bits + 1));
    const int16x8_t of_magnitude = vqshlq_n_s16(vsubq_n_s16(twice, 1 << 13), 2);
    const int16x8_t result = vpselq_s16(of_magnitude, vnegq_s16(of_magnitude), positive);
    return vpselq_s16(vdupq_n_s16(0), result, vcmpeqq_n_s16(x, 0));
}

#endif
#endif
