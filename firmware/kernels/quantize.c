/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion between float32 and 8-bit integers, and from one 8-bit quantisation to another.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

static inline int32_t load(const void *data, uint32_t i, int is_unsigned)
{
    return is_unsigned ? (int32_t)((const uint8_t *)data)[i] : (int32_t)((const int8_t *)data)[i];
}

/* Store with saturation. The bit pattern of the low byte is the same for both types. */
static inline void store(void *data, uint32_t i, int is_unsigned, int32_t value)
{
    const int32_t low = is_unsigned ? 0 : INT8_MIN;
    ((uint8_t *)data)[i] = (uint8_t)n6k_clamp(value, low, low + 255);
}

void n6k_plain_requantize(const n6k_requantize_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t value = load(op->input, i, op->in_is_unsigned) - op->in_zero_point;
        store(op->output, i, op->out_is_unsigned,
              n6k_scale_double(value, op->multiplier, op->shift) + op->out_zero_point);
    }
}

/* Round to an integer, halves away from zero, saturated far outside any 8-bit range. Not-a-number gives 0. */
static int32_t round_to_int32(float x)
{
    if (!(x > -65536.0f && x < 65536.0f)) {
        return x >= 65536.0f ? 65536 : (x <= -65536.0f ? -65536 : 0);
    }
    /* A float below 2^16 keeps its fraction exactly, so the comparison decides a half correctly. */
    const int32_t whole = (int32_t)x;
    const float fraction = x - (float)whole;
    return whole + (fraction >= 0.5f ? 1 : 0) - (fraction <= -0.5f ? 1 : 0);
}

void n6k_plain_quantize(const n6k_quantize_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        store(op->output, i, op->out_is_unsigned, round_to_int32(op->input[i] / op->scale) + op->zero_point);
    }
}

void n6k_plain_dequantize(const n6k_dequantize_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        op->output[i] = (float)(load(op->input, i, op->in_is_unsigned) - op->zero_point) * op->scale;
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Store four elements. The low byte of a lane is the element for either type. */
static inline void store_x4(void *output, uint32_t i, int32x4_t value, int is_unsigned, mve_pred16_t lanes)
{
    const int32_t low = is_unsigned ? 0 : INT8_MIN;
    value = vmaxq_s32(value, vdupq_n_s32(low));
    value = vminq_s32(value, vdupq_n_s32(low + 255));
    vstrbq_p_s32((int8_t *)output + i, value, lanes);
}

static inline int32x4_t load_x4(const void *input, uint32_t i, int is_unsigned, mve_pred16_t lanes)
{
    return is_unsigned ? vreinterpretq_s32_u32(vldrbq_z_u32((const uint8_t *)input + i, lanes))
                       : vldrbq_z_s32((const int8_t *)input + i, lanes);
}

void n6k_requantize(const n6k_requantize_t *op)
{
    const int32_t left = op->shift > 0 ? op->shift : 0;
    const int32x4_t right = vdupq_n_s32(op->shift > 0 ? 0 : op->shift);
    const n6k_requantize_t local = *op; /* a copy, since stores through a byte pointer may alias it */
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        int32x4_t x = load_x4(local.input, i, local.in_is_unsigned, lanes);
        x = vshlq_r_s32(vsubq_n_s32(x, local.in_zero_point), left);
        x = n6k_rounding_divide_x4(vqrdmulhq_n_s32(x, local.multiplier), right);
        store_x4(local.output, i, vaddq_n_s32(x, local.out_zero_point), local.out_is_unsigned, lanes);
    }
}

void n6k_quantize(const n6k_quantize_t *op)
{
    const n6k_quantize_t local = *op;
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        /* Helium has no division: four scalar ones. vcvta rounds halves away from zero and saturates; NaN gives 0. */
        const float32x4_t scaled = vldrwq_z_f32(local.input + i, lanes) / vdupq_n_f32(local.scale);
        store_x4(local.output, i, vqaddq_n_s32(vcvtaq_s32_f32(scaled), local.zero_point), local.out_is_unsigned, lanes);
    }
}

void n6k_dequantize(const n6k_dequantize_t *op)
{
    const n6k_dequantize_t local = *op;
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        const int32x4_t x = vsubq_n_s32(load_x4(local.input, i, local.in_is_unsigned, lanes), local.zero_point);
        vstrwq_p_f32(local.output + i, vmulq_n_f32(vcvtq_f32_s32(x), local.scale), lanes);
    }
}

#else

void n6k_requantize(const n6k_requantize_t *op)
{
    n6k_plain_requantize(op);
}

void n6k_quantize(const n6k_quantize_t *op)
{
    n6k_plain_quantize(op);
}

void n6k_dequantize(const n6k_dequantize_t *op)
{
    n6k_plain_dequantize(op);
}

#endif
