/* SPDX-License-Identifier: Apache-2.0
 *
 * Scaling of 64-bit accumulators to int16, with the rounding of the reference resolver. Internal to the kernels.
 */
#ifndef N6K_REQUANTIZE_INT16_H
#define N6K_REQUANTIZE_INT16_H

#include "requantize.h"

/* Return x * multiplier / 2^shift, halves rounded up; multiplier below 2^15, shift 8..46, x below 2^47. */
static inline int32_t n6k_scale_single(int64_t x, int32_t multiplier, int32_t shift)
{
    return (int32_t)((x * multiplier + ((int64_t)1 << (shift - 1))) >> shift);
}

/* Do the same as n6k_scale_real, for x below 2^53. */
static inline int32_t n6k_scale_real_wide(int64_t x, double scale)
{
    const double wide = (double)(int32_t)(x >> 32) * 4294967296.0 + (double)(uint32_t)x;
    return n6k_round_real(wide * scale);
}

/* Clamp a scaled accumulator. Zero points of int16 are 0. */
static inline int16_t n6k_to_int16(int32_t scaled, n6k_output_int16_t range)
{
    return (int16_t)n6k_clamp(scaled, range.clamp_min, range.clamp_max);
}

#endif
