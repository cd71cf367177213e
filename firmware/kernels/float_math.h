/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of float32 without a C library, since a kernel may hold no data and run anywhere. Internal to the kernels.
 */
#ifndef N6K_FLOAT_MATH_H
#define N6K_FLOAT_MATH_H

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE)
/* Keep the surrounding loop scalar: vectors turn numbers below 2^-126 into 0. */
#define N6K_SCALAR(x) __asm__("" : "+t"(x))
#else
#define N6K_SCALAR(x) (void)(x)
#endif

/* The term to add to a float32 so that its lowest bits are the nearest integer. */
#define N6K_ROUNDING 12582912.0f
#define N6K_LOG2_E 1.44269504088896341f
#define N6K_LN_2_HIGH 6.93145752e-1f
#define N6K_LN_2_LOW 1.42860677e-6f

typedef union {
    float real;
    uint32_t bits;
} n6k_bits_t;

static inline float n6k_of_bits(uint32_t bits)
{
    const n6k_bits_t as = {.bits = bits};
    return as.real;
}

static inline uint32_t n6k_bits_of(float x)
{
    const n6k_bits_t as = {.real = x};
    return as.bits;
}

/* Return 2^n for n from -126 to 127. */
static inline float n6k_power_of_2(int32_t n)
{
    return n6k_of_bits((uint32_t)(n + 127) << 23);
}

/* Return e^x for |x| of at most ln(2) / 2 by a polynomial. */
static inline float n6k_exp_near_0(float x)
{
    float p = 0x1.694000p-10f;
    p = __builtin_fmaf(p, x, 0x1.125edcp-7f);
    p = __builtin_fmaf(p, x, 0x1.555b5ap-5f);
    p = __builtin_fmaf(p, x, 0x1.555450p-3f);
    p = __builtin_fmaf(p, x, 0x1.fffff6p-2f);
    p = __builtin_fmaf(p, x, 1.0f);
    return __builtin_fmaf(p, x, 1.0f);
}

/* Return e^x: 2^n times e^(x - n ln 2). The power is multiplied in two steps, so that results below 2^-126 are right, too. */
static inline float n6k_exp(float x)
{
    if (!(x > -104.0f)) {
        return x <= -104.0f ? 0.0f : x;
    }
    x = x > 89.0f ? 89.0f : x;
    const float n = __builtin_fmaf(x, N6K_LOG2_E, N6K_ROUNDING) - N6K_ROUNDING;
    const float rest = __builtin_fmaf(n, -N6K_LN_2_LOW, __builtin_fmaf(n, -N6K_LN_2_HIGH, x));
    const int32_t half = (int32_t)n / 2;
    return n6k_exp_near_0(rest) * n6k_power_of_2(half) * n6k_power_of_2((int32_t)n - half);
}

/* Return e^x - 1 without losing the digits of a small x. */
static inline float n6k_exp_less_1(float x)
{
    if (!(x > -0.35f && x < 0.35f)) {
        return n6k_exp(x) - 1.0f;
    }
    float p = 0x1.a079bap-13f;
    p = __builtin_fmaf(p, x, 0x1.6d5a80p-10f);
    p = __builtin_fmaf(p, x, 0x1.111156p-7f);
    p = __builtin_fmaf(p, x, 0x1.5554d8p-5f);
    p = __builtin_fmaf(p, x, 0x1.555556p-3f);
    p = __builtin_fmaf(p, x, 0.5f);
    return __builtin_fmaf(p * x, x, x);
}

/* Return the natural logarithm: that of the power of 2, and 2 artanh((m - 1) / (m + 1)) for the rest m. */
static inline float n6k_log(float x)
{
    if (!(x > 0.0f && x < __builtin_inff())) {
        return x == 0.0f ? -__builtin_inff() : (x > 0.0f ? x : __builtin_nanf(""));
    }
    int32_t n = 0;
    if (x < 0x1p-126f) {
        x *= 0x1p23f;
        n = -23;
    }
    uint32_t bits = n6k_bits_of(x);
    /* m is from sqrt(1/2) to sqrt(2). */
    const uint32_t raised = bits + (0x3f800000U - 0x3f3504f3U);
    n += (int32_t)(raised >> 23) - 127;
    bits = (raised & 0x007fffffU) + 0x3f3504f3U;
    const float f = n6k_of_bits(bits) - 1.0f;
    const float s = f / (2.0f + f), z = s * s;
    float p = 2.0f / 9.0f;
    p = __builtin_fmaf(p, z, 2.0f / 7.0f);
    p = __builtin_fmaf(p, z, 2.0f / 5.0f);
    p = __builtin_fmaf(p, z, 2.0f / 3.0f) * z;
    /* 2 s = f - s f, in which f has no error. */
    const float half_square = 0.5f * f * f;
    const float near = f - (half_square - s * (half_square + p));
    return __builtin_fmaf((float)n, N6K_LN_2_HIGH, __builtin_fmaf((float)n, N6K_LN_2_LOW, near));
}

/* Return log(1 + x) for x of at least 0. */
static inline float n6k_log_of_1_plus(float x)
{
    const float sum = 1.0f + x;
    return sum == 1.0f ? x : n6k_log(sum) * (x / (sum - 1.0f));
}

static inline float n6k_with_sign_of(float x, float sign)
{
    return n6k_of_bits((n6k_bits_of(x) & 0x7fffffffU) | (n6k_bits_of(sign) & 0x80000000U));
}

static inline float n6k_tanh(float x)
{
    const float size = __builtin_fabsf(x);
    if (size > 10.0f) {
        return n6k_with_sign_of(1.0f, x);
    }
    const float t = n6k_exp_less_1(-2.0f * size);
    return x != x ? x : n6k_with_sign_of(t / (2.0f + t), x);
}

/* Return 1 / (1 + e^-x). */
static inline float n6k_sigmoid(float x)
{
    return 1.0f / (1.0f + n6k_exp(-x));
}

/* Return the error function: x times a polynomial of x^2, or 1 - e^-p of a polynomial p. */
static inline float n6k_erf(float x)
{
    const float size = __builtin_fabsf(x);
    if (size < 0.94f) {
        const float z = x * x;
        float p = 0x1.57ac02p-14f;
        p = __builtin_fmaf(p, z, -0x1.a8aab4p-11f);
        p = __builtin_fmaf(p, z, 0x1.5499cap-8f);
        p = __builtin_fmaf(p, z, -0x1.b809bep-6f);
        p = __builtin_fmaf(p, z, 0x1.ce2dd0p-4f);
        p = __builtin_fmaf(p, z, -0x1.812742p-2f);
        return __builtin_fmaf(p, z, 0x1.20dd76p+0f) * x;
    }
    if (size > 4.0f) {
        return n6k_with_sign_of(1.0f, x);
    }
    float p = 0x1.fdc18ap-17f;
    p = __builtin_fmaf(p, size, -0x1.6ef476p-12f);
    p = __builtin_fmaf(p, size, 0x1.e0cee0p-9f);
    p = __builtin_fmaf(p, size, -0x1.813042p-6f);
    p = __builtin_fmaf(p, size, 0x1.af452ep-4f);
    p = __builtin_fmaf(p, size, 0x1.45ec10p-1f);
    p = __builtin_fmaf(p, size, 0x1.20adeep+0f);
    p = __builtin_fmaf(p, size, 0x1.1bfb70p-12f);
    return x != x ? x : n6k_with_sign_of(1.0f - n6k_exp(-p), x);
}

/* Return log(1 + e^x). */
static inline float n6k_softplus(float x)
{
    return (x > 0.0f ? x : 0.0f) + n6k_log_of_1_plus(n6k_exp(-__builtin_fabsf(x)));
}

/* Return the power of a number, without a sign for an exponent that is no odd number. */
static inline float n6k_power(float x, float exponent)
{
    const float size = n6k_exp(exponent * n6k_log(__builtin_fabsf(x)));
    const int whole = __builtin_fabsf(exponent) < 8388608.0f && exponent == (float)(int32_t)exponent;
    if (x >= 0.0f || x != x) {
        return exponent == 0.0f ? 1.0f : (x != x ? x : size);
    }
    return whole ? ((int32_t)exponent % 2 ? -size : size) : __builtin_nanf("");
}

#endif
