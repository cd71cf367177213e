/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of dequantised int8 in float32, with the polynomial and the order of sums of ONNX Runtime.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "real.h"

/* Sums that are kept side by side. */
#define LANES 16
/* What is added to a float32 so that its lowest bits are the nearest integer. */
#define ROUNDING 12582912.0f
#define LOWEST -88.3762626647949f
#define LOG2_E 1.44269504088896341f
#define LN_2_HIGH -6.93145752e-1f
#define LN_2_LOW -1.42860677e-6f

static int8_t largest_of(const int8_t *row, uint32_t depth)
{
    int8_t largest = INT8_MIN;
    for (uint32_t i = 0; i < depth; i++) {
        largest = row[i] > largest ? row[i] : largest;
    }
    return largest;
}

static float sum_of(const float lanes[LANES])
{
    float sums[8];
    for (uint32_t i = 0; i < 8; i++) {
        sums[i] = lanes[i] + lanes[i + 8];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* e^x of x <= 0: 2^n times a polynomial of what is left. */
static float exponential(float x)
{
    x = x < LOWEST ? LOWEST : x;
    const union {
        float real;
        int32_t bits;
    } biased = {.real = __builtin_fmaf(x, LOG2_E, ROUNDING)};
    const float n = biased.real - ROUNDING;
    x = __builtin_fmaf(n, LN_2_HIGH, x);
    x = __builtin_fmaf(n, LN_2_LOW, x);
    float p = 0x1.694000p-10f;
    p = __builtin_fmaf(p, x, 0x1.125edcp-7f);
    p = __builtin_fmaf(p, x, 0x1.555b5ap-5f);
    p = __builtin_fmaf(p, x, 0x1.555450p-3f);
    p = __builtin_fmaf(p, x, 0x1.fffff6p-2f);
    p = __builtin_fmaf(p, x, 1.0f);
    p = __builtin_fmaf(p, x, 1.0f);
    const union {
        uint32_t bits;
        float real;
    } power = {.bits = ((uint32_t)biased.bits << 23) + 0x3f800000U};
    return p * power.real;
}

void n6k_plain_real_softmax(const n6k_real_softmax_t *op)
{
    const int8_t *row = op->input;
    float *output = op->output;
    for (uint32_t r = 0; r < op->rows; r++, row += op->depth, output += op->depth) {
        const float largest = (float)(largest_of(row, op->depth) - op->zero_point) * op->scale;
        float lanes[LANES] = {0};
        for (uint32_t i = 0; i < op->depth; i++) {
            output[i] = exponential((float)(row[i] - op->zero_point) * op->scale - largest);
            lanes[i % LANES] += output[i];
        }
        const float factor = 1.0f / sum_of(lanes);
        for (uint32_t i = 0; i < op->depth; i++) {
            output[i] *= factor;
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

static float32x4_t exponentials(float32x4_t x)
{
    x = vmaxnmq_f32(x, vdupq_n_f32(LOWEST));
    const float32x4_t biased = vfmaq_n_f32(vdupq_n_f32(ROUNDING), x, LOG2_E);
    const float32x4_t n = vsubq_n_f32(biased, ROUNDING);
    x = vfmaq_n_f32(x, n, LN_2_HIGH);
    x = vfmaq_n_f32(x, n, LN_2_LOW);
    float32x4_t p = vdupq_n_f32(0x1.694000p-10f);
    p = vfmaq_f32(vdupq_n_f32(0x1.125edcp-7f), p, x);
    p = vfmaq_f32(vdupq_n_f32(0x1.555b5ap-5f), p, x);
    p = vfmaq_f32(vdupq_n_f32(0x1.555450p-3f), p, x);
    p = vfmaq_f32(vdupq_n_f32(0x1.fffff6p-2f), p, x);
    p = vfmaq_f32(vdupq_n_f32(1.0f), p, x);
    p = vfmaq_f32(vdupq_n_f32(1.0f), p, x);
    const int32x4_t power = vaddq_n_s32(vshlq_n_s32(vreinterpretq_s32_f32(biased), 23), 0x3f800000);
    return vmulq_f32(p, vreinterpretq_f32_s32(power));
}

void n6k_real_softmax(const n6k_real_softmax_t *op)
{
    const n6k_real_softmax_t local = *op; /* which stores through a pointer might otherwise change */
    const int8_t *row = local.input;
    float *output = local.output;
    for (uint32_t r = 0; r < local.rows; r++, row += local.depth, output += local.depth) {
        const float largest = (float)(largest_of(row, local.depth) - local.zero_point) * local.scale;
        float lanes[LANES] = {0};
        for (uint32_t i = 0; i < local.depth; i += 4) {
            const mve_pred16_t present = vctp32q(local.depth - i);
            const float32x4_t x = n6k_load_reals_x4(row + i, local.zero_point, local.scale, present);
            const float32x4_t y = exponentials(vsubq_n_f32(x, largest));
            float *sums = lanes + i % LANES;
            vst1q_f32(sums, vaddq_m_f32(vld1q_f32(sums), vld1q_f32(sums), y, present));
            vstrwq_p_f32(output + i, y, present);
        }
        const float factor = 1.0f / sum_of(lanes);
        for (uint32_t i = 0; i < local.depth; i += 4) {
            const mve_pred16_t present = vctp32q(local.depth - i);
            vstrwq_p_f32(output + i, vmulq_n_f32(vldrwq_z_f32(output + i, present), factor), present);
        }
    }
}

#else

void n6k_real_softmax(const n6k_real_softmax_t *op)
{
    n6k_plain_real_softmax(op);
}

#endif
