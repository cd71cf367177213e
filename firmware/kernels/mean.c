/* SPDX-License-Identifier: Apache-2.0
 *
 * Mean over height and width, int8.
 */
#include "helium.h"
#include "n6_kernels.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_mean(const n6k_mean_t *op)
{
    for (uint32_t channel = 0; channel < op->channels; channel++) {
        int32_t sum = op->bias;
        for (uint32_t pixel = 0; pixel < op->pixels; pixel++) {
            sum += op->input[pixel * op->channels + channel];
        }
        op->output[channel] = n6k_to_output(n6k_scale_double(sum, op->multiplier, op->shift), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

void n6k_mean(const n6k_mean_t *op)
{
    const int32x4_t left = vdupq_n_s32(op->shift > 0 ? op->shift : 0);
    const int32x4_t negative_right = vdupq_n_s32(op->shift > 0 ? 0 : op->shift);
    const int32_t zero_point = op->range.zero_point;
    const int32x4_t low = vdupq_n_s32(op->range.clamp_min - zero_point);
    const int32x4_t high = vdupq_n_s32(op->range.clamp_max - zero_point);

    /* Four channels at a time; the last round has fewer lanes. */
    for (uint32_t channel = 0; channel < op->channels; channel += 4) {
        const mve_pred16_t lanes = vctp32q(op->channels - channel);
        const int8_t *input = op->input + channel;
        int32x4_t sum = vdupq_n_s32(op->bias);
        for (uint32_t pixel = 0; pixel < op->pixels; pixel++, input += op->channels) {
            sum = vaddq_s32(sum, vldrbq_z_s32(input, lanes));
        }
        int32x4_t scaled = vqrdmulhq_n_s32(vshlq_s32(sum, left), op->multiplier);
        scaled = n6k_rounding_divide_x4(scaled, negative_right);
        scaled = vaddq_n_s32(vminq_s32(vmaxq_s32(scaled, low), high), zero_point);
        vstrbq_p_s32(op->output + channel, scaled, lanes);
    }
}

#else

void n6k_mean(const n6k_mean_t *op)
{
    n6k_plain_mean(op);
}

#endif
