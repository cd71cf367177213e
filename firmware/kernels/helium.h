/* SPDX-License-Identifier: Apache-2.0
 *
 * Helium building blocks of the kernels. Internal.
 *
 * The loops are tail-predicated (dlstp/letp): the last round skips the lanes beyond the count. So lengths need not be multiples
 * of the vector, and no access goes past an end. Compilers do not generate these loops, hence the assembly.
 */
#ifndef N6K_HELIUM_H
#define N6K_HELIUM_H

#if defined(__ARM_FEATURE_MVE)

#include <arm_mve.h>

#include "n6_kernels.h"

/* Copy `bytes` bytes, which may be 0. Return the end of the target. */
static inline int8_t *n6k_copy_bytes(int8_t *to, const int8_t *from, uint32_t bytes)
{
    int8_t *const end = to + bytes;
    __asm__ volatile("wlstp.8 lr, %[bytes], 1f\n"
                     "2:\n"
                     "vldrb.8 q0, [%[from]], #16\n"
                     "vstrb.8 q0, [%[to]], #16\n"
                     "letp lr, 2b\n"
                     "1:\n"
                     : [to] "+r"(to), [from] "+r"(from)
                     : [bytes] "r"(bytes)
                     : "lr", "q0", "memory");
    return end;
}

/* Set `bytes` bytes, which may be 0. Return the end. */
static inline int8_t *n6k_fill_bytes(int8_t *to, int8_t value, uint32_t bytes)
{
    int8_t *const end = to + bytes;
    __asm__ volatile("vdup.8 q0, %[value]\n"
                     "wlstp.8 lr, %[bytes], 1f\n"
                     "2:\n"
                     "vstrb.8 q0, [%[to]], #16\n"
                     "letp lr, 2b\n"
                     "1:\n"
                     : [to] "+r"(to)
                     : [value] "r"((int32_t)value), [bytes] "r"(bytes)
                     : "lr", "q0", "memory");
    return end;
}

static inline uint32_t n6k_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Return the number of positions, from 0 on, at which a dilated window is inside the input along one dimension. */
static inline uint32_t n6k_positions_inside(int32_t size, int32_t window, int32_t dilation)
{
    const int32_t positions = size - (window - 1) * dilation;
    return positions > 0 ? (uint32_t)positions : 0;
}

/* Divide each lane by 2^-negative_exponent, halves rounded away from zero. vrshl rounds halves up, so subtract one from negative
 * lanes first, unless nothing is shifted out. */
static inline int32x4_t n6k_rounding_divide_x4(int32x4_t x, int32x4_t negative_exponent)
{
    const int32x4_t correction = vshrq_n_s32(vandq_s32(x, negative_exponent), 31);
    return vrshlq_s32(vqaddq_s32(x, correction), negative_exponent);
}

/* Return n6k_scale_double of each lane. */
static inline int32x4_t n6k_scale_x4(int32x4_t x, int32_t multiplier, int32_t shift)
{
    x = vshlq_s32(x, vdupq_n_s32(shift > 0 ? shift : 0));
    return n6k_rounding_divide_x4(vqrdmulhq_n_s32(x, multiplier), vdupq_n_s32(shift > 0 ? 0 : shift));
}

/* Return n6k_to_output of each lane, as int32. */
static inline int32x4_t n6k_to_output_x4(int32x4_t scaled, n6k_output_t range)
{
    const int32_t zero_point = range.zero_point;
    const int32x4_t low = vdupq_n_s32(range.clamp_min - zero_point), high = vdupq_n_s32(range.clamp_max - zero_point);
    return vaddq_n_s32(vminq_s32(vmaxq_s32(scaled, low), high), zero_point);
}

#endif
#endif
