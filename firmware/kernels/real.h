/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of float32 to int8 like QuantizeLinear of ONNX: to the nearest integer, halves to even. Internal to the kernels.
 */
#ifndef N6K_REAL_H
#define N6K_REAL_H

#include "requantize.h"

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

/* Round to the nearest integer, halves to even, saturated at 2^22, far outside any int8 range. Not-a-number gives 0. */
static inline int32_t n6k_nearest_even(float x)
{
    const float magic = 12582912.0f; /* 3 * 2^22: no float32 from 2^23 on has a fraction */
    if (!(x > -4194304.0f && x < 4194304.0f)) {
        return x >= 4194304.0f ? 4194304 : (x <= -4194304.0f ? -4194304 : 0);
    }
    return (int32_t)((x + magic) - magic);
}

/* Convert a real number to an output element. steps: number of steps from the zero point. */
static inline int8_t n6k_real_to_output(float steps, n6k_output_t range)
{
    return n6k_to_output(n6k_nearest_even(steps), range);
}

/* Convert a number to an output element. number: includes the zero point, in a type whose elements are larger by `offset`. */
static inline int8_t n6k_number_to_output(float number, int32_t offset, n6k_output_t range)
{
    return (int8_t)n6k_clamp(n6k_nearest_even(number) - offset, range.clamp_min, range.clamp_max);
}

/* Return the square root without a library call, which compilers add for negative numbers. */
static inline float n6k_square_root(float x)
{
#if defined(__ARM_FP)
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return root;
#else
    return __builtin_sqrtf(x);
#endif
}

#if defined(__ARM_FEATURE_MVE)

/* Do the same as n6k_number_to_output, for four elements. */
static inline void n6k_store_numbers_x4(int8_t *output, float32x4_t numbers, int32_t offset, n6k_output_t range,
                                        mve_pred16_t lanes)
{
    int32x4_t rounded = vqsubq_n_s32(vcvtnq_s32_f32(numbers), offset);
    rounded = vmaxq_s32(rounded, vdupq_n_s32(range.clamp_min));
    rounded = vminq_s32(rounded, vdupq_n_s32(range.clamp_max));
    vstrbq_p_s32(output, rounded, lanes);
}

/* Convert four elements and store those in `lanes`. */
static inline void n6k_store_reals_x4(int8_t *output, float32x4_t steps, n6k_output_t range, mve_pred16_t lanes)
{
    int32x4_t rounded = vcvtnq_s32_f32(steps);
    rounded = vqaddq_n_s32(rounded, range.zero_point);
    rounded = vmaxq_s32(rounded, vdupq_n_s32(range.clamp_min));
    rounded = vminq_s32(rounded, vdupq_n_s32(range.clamp_max));
    vstrbq_p_s32(output, rounded, lanes);
}

/* Load four elements as real numbers: (x - zero point) * scale. */
static inline float32x4_t n6k_load_reals_x4(const int8_t *input, int32_t zero_point, float scale, mve_pred16_t lanes)
{
    const int32x4_t x = vsubq_n_s32(vldrbq_z_s32(input, lanes), zero_point);
    return vmulq_n_f32(vcvtq_f32_s32(x), scale);
}

#endif
#endif
