/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion between float32, int16 and 8-bit integers.
 */
#include "columns.h"
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

/* Round to int16, halves away from zero, saturated. Not-a-number gives 0. */
static int32_t to_int16(float x)
{
    if (!(x > -32768.0f && x < 32767.0f)) {
        return x >= 32767.0f ? 32767 : (x <= -32768.0f ? -32768 : 0);
    }
    const int32_t whole = (int32_t)x;
    const float fraction = x - (float)whole;
    return whole + (fraction >= 0.5f ? 1 : 0) - (fraction <= -0.5f ? 1 : 0);
}

static int32_t element(const void *data, uint32_t i, uint8_t kind)
{
    switch (kind) {
    case N6K_INT8:
        return ((const int8_t *)data)[i];
    case N6K_UINT8:
        return ((const uint8_t *)data)[i];
    case N6K_INT32:
        return ((const int32_t *)data)[i];
    default:
        return ((const int16_t *)data)[i];
    }
}

void n6k_plain_quantize_int16(const n6k_quantize_int16_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        op->output[i] = (int16_t)to_int16(op->input[i] / op->scale);
    }
}

void n6k_plain_dequantize_int16(const n6k_dequantize_int16_t *op)
{
    for (uint32_t i = 0; i < op->elements; i++) {
        op->output[i] = (float)op->input[i] * op->scale;
    }
}

void n6k_plain_requantize_int16(const n6k_requantize_int16_t *op)
{
    const int32_t low = op->out_kind == N6K_INT16 ? INT16_MIN : INT8_MIN;
    const int32_t high = op->out_kind == N6K_INT16 ? INT16_MAX : INT8_MAX;
    for (uint32_t i = 0; i < op->elements; i++) {
        const int32_t value = (int32_t)((uint32_t)element(op->input, i, op->in_kind) - (uint32_t)op->in_zero_point);
        const int32_t scaled = n6k_scale_double(value, op->multiplier, op->shift);
        const int32_t result = n6k_clamp(scaled, low - op->out_zero_point, high - op->out_zero_point) + op->out_zero_point;
        if (op->out_kind == N6K_INT16) {
            ((int16_t *)op->output)[i] = (int16_t)result;
        } else {
            ((int8_t *)op->output)[i] = (int8_t)result;
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_quantize_int16(const n6k_quantize_int16_t *op)
{
    const n6k_quantize_int16_t local = *op;
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        /* Helium has no division: four scalar ones. vcvta rounds halves away from zero and saturates; NaN gives 0. */
        const int32x4_t x = vcvtaq_s32_f32(vldrwq_z_f32(local.input + i, lanes) / vdupq_n_f32(local.scale));
        vstrhq_p_s32(local.output + i, vminq_s32(vmaxq_s32(x, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX)), lanes);
    }
}

void n6k_dequantize_int16(const n6k_dequantize_int16_t *op)
{
    const n6k_dequantize_int16_t local = *op;
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        vstrwq_p_f32(local.output + i, vmulq_n_f32(vcvtq_f32_s32(vldrhq_z_s32(local.input + i, lanes)), local.scale), lanes);
    }
}

static inline int32x4_t four_elements(const void *data, uint32_t i, uint8_t kind, mve_pred16_t lanes)
{
    switch (kind) {
    case N6K_INT8:
        return vldrbq_z_s32((const int8_t *)data + i, lanes);
    case N6K_UINT8:
        return vreinterpretq_s32_u32(vldrbq_z_u32((const uint8_t *)data + i, lanes));
    case N6K_INT32:
        return vldrwq_z_s32((const int32_t *)data + i, lanes);
    default:
        return vldrhq_z_s32((const int16_t *)data + i, lanes);
    }
}

void n6k_requantize_int16(const n6k_requantize_int16_t *op)
{
    const n6k_requantize_int16_t local = *op; /* a copy, since stores through a byte pointer may alias it */
    const int32_t low = local.out_kind == N6K_INT16 ? INT16_MIN : INT8_MIN;
    const int32_t high = local.out_kind == N6K_INT16 ? INT16_MAX : INT8_MAX;
    const int32x4_t least = vdupq_n_s32(low - local.out_zero_point);
    const int32x4_t most = vdupq_n_s32(high - local.out_zero_point);
    const int32x4_t multiplier = vdupq_n_s32(local.multiplier);
    const int32x4_t shift = vdupq_n_s32(local.shift);
    for (uint32_t i = 0; i < local.elements; i += 4) {
        const mve_pred16_t lanes = vctp32q(local.elements - i);
        int32x4_t x = vsubq_n_s32(four_elements(local.input, i, local.in_kind, lanes), local.in_zero_point);
        x = vminq_s32(vmaxq_s32(n6k_scale_double_x4(x, multiplier, shift), least), most);
        x = vaddq_n_s32(x, local.out_zero_point);
        if (local.out_kind == N6K_INT16) {
            vstrhq_p_s32((int16_t *)local.output + i, x, lanes);
        } else {
            vstrbq_p_s32((int8_t *)local.output + i, x, lanes);
        }
    }
}

#else

void n6k_quantize_int16(const n6k_quantize_int16_t *op)
{
    n6k_plain_quantize_int16(op);
}

void n6k_dequantize_int16(const n6k_dequantize_int16_t *op)
{
    n6k_plain_dequantize_int16(op);
}

void n6k_requantize_int16(const n6k_requantize_int16_t *op)
{
    n6k_plain_requantize_int16(op);
}

#endif
