/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixed-point scaling of int32 values, with the rounding of the reference resolver. Internal to the kernels.
 */
#ifndef N6K_REQUANTIZE_H
#define N6K_REQUANTIZE_H

#include <stdint.h>

#include "n6_kernels.h"

/* Return (a * b) / 2^31, halves rounded up; a == b == INT32_MIN saturates. The same as vqrdmulh.s32. */
static inline int32_t n6k_doubling_high_multiply(int32_t a, int32_t b)
{
    if (a == INT32_MIN && b == INT32_MIN) {
        return INT32_MAX;
    }
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* Return x / 2^exponent, halves rounded away from zero; exponent 0..31. */
static inline int32_t n6k_rounding_divide(int32_t x, int32_t exponent)
{
    const int32_t mask = (int32_t)((UINT32_C(1) << exponent) - 1U);
    const int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
    return (x >> exponent) + ((x & mask) > threshold ? 1 : 0);
}

/* Return x * multiplier * 2^(shift - 31), rounded after the high multiply and after the right shift. A left shift wraps. */
static inline int32_t n6k_scale_double(int32_t x, int32_t multiplier, int32_t shift)
{
    const int32_t left = shift > 0 ? shift : 0;
    const int32_t right = shift > 0 ? 0 : -shift;
    const int32_t shifted = (int32_t)((uint32_t)x << left);
    return n6k_rounding_divide(n6k_doubling_high_multiply(shifted, multiplier), right);
}

/* Round to the nearest integer, halves away from zero, saturated. */
static inline int32_t n6k_round_real(double product)
{
#if defined(__ARM_FEATURE_MVE) && (__ARM_FP & 8)
    float rounded; /* an integer in a floating-point register */
    int32_t result;
    __asm__("vcvta.s32.f64 %0, %P1" : "=t"(rounded) : "w"(product));
    __asm__("vmov %0, %1" : "=r"(result) : "t"(rounded));
    return result;
#else
    if (!(product > -2147483648.0 && product < 2147483647.0)) {
        return product > 0 ? INT32_MAX : INT32_MIN;
    }
    const int32_t whole = (int32_t)product;
    const double fraction = product - whole;
    return whole + (fraction >= 0.5 ? 1 : 0) - (fraction <= -0.5 ? 1 : 0);
#endif
}

/* Return x * scale, computed in double precision, rounded to the nearest integer, halves away from zero, saturated. */
static inline int32_t n6k_scale_real(int32_t x, double scale)
{
    return n6k_round_real((double)x * scale);
}

static inline int32_t n6k_clamp(int32_t x, int32_t low, int32_t high)
{
    return x < low ? low : (x > high ? high : x);
}

/* Convert a scaled accumulator to an output element. */
static inline int8_t n6k_to_output(int32_t scaled, n6k_output_t range)
{
    const int32_t zero_point = range.zero_point;
    return (int8_t)(n6k_clamp(scaled, range.clamp_min - zero_point, range.clamp_max - zero_point) + zero_point);
}

#endif
