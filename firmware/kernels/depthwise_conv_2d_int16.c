/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int16 by int8 weights. Products are summed up in 32 bits, which hold them: a descriptor has at
 * most 65535 as the sum of a channel's absolute weights. The bias has 64.
 */
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

void n6k_plain_depthwise_conv_2d_int16(const n6k_depthwise_conv_2d_int16_t *op)
{
    const n6k_window_t *window = &op->window;
    const int32_t channels = op->out.channels;
    for (int32_t i = 0; i < op->out.height * op->out.width * channels; i++) {
        const int32_t oc = i % channels;
        const int32_t top = i / channels / op->out.width * window->stride_h - window->pad_top;
        const int32_t left = i / channels % op->out.width * window->stride_w - window->pad_left;
        int64_t sum = op->bias[oc];
        for (int32_t tap = 0; tap < window->height * window->width; tap++) {
            const int32_t y = top + tap / window->width * window->dilation_h;
            const int32_t x = left + tap % window->width * window->dilation_w;
            if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                const int16_t *pixel = op->input + (y * op->in.width + x) * op->in.channels;
                sum += pixel[oc / op->depth_multiplier] * op->weights[tap * channels + oc];
            }
        }
        op->output[i] = n6k_to_int16(n6k_scale_single(sum, op->multiplier[oc], op->shift[oc]), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The sums of products of four channels of one pixel. input_lanes: each one's input channel. */
static inline int32x4_t four_channels(const n6k_depthwise_conv_2d_int16_t *op, int32_t top, int32_t left, uint32_t c,
                                      uint32x4_t input_lanes, mve_pred16_t lanes)
{
    const n6k_window_t *window = &op->window;
    const int8_t *weights = op->weights + c;
    int32x4_t sum = vdupq_n_s32(0);
    for (int32_t ky = 0; ky < window->height; ky++) {
        const int32_t y = top + ky * window->dilation_h;
        const int row_inside = y >= 0 && y < op->in.height;
        for (int32_t kx = 0; kx < window->width; kx++, weights += op->out.channels) {
            const int32_t x = left + kx * window->dilation_w;
            if (row_inside && x >= 0 && x < op->in.width) {
                const int16_t *pixel = op->input + (y * op->in.width + x) * op->in.channels;
                const int32x4_t value = op->depth_multiplier == 1
                                            ? vldrhq_z_s32(pixel + c, lanes)
                                            : vldrhq_gather_shifted_offset_z_s32(pixel, input_lanes, lanes);
                sum = vaddq_s32(sum, vmulq_s32(value, vldrbq_z_s32(weights, lanes)));
            }
        }
    }
    return sum;
}

void n6k_depthwise_conv_2d_int16(const n6k_depthwise_conv_2d_int16_t *op)
{
    const uint32_t channels = op->out.channels;
    for (uint32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        uint32_t sources[4];
        for (uint32_t i = 0; i < 4; i++) {
            sources[i] = (c + i) / op->depth_multiplier;
        }
        const uint32x4_t input_lanes = vld1q_u32(sources);
        int16_t *output = op->output + c;
        for (int32_t oy = 0; oy < op->out.height; oy++) {
            const int32_t top = oy * op->window.stride_h - op->window.pad_top;
            for (int32_t ox = 0; ox < op->out.width; ox++, output += channels) {
                const int32_t left = ox * op->window.stride_w - op->window.pad_left;
                int32_t sums[4];
                vst1q_s32(sums, four_channels(op, top, left, c, input_lanes, lanes));
                for (uint32_t i = 0; i < 4 && c + i < channels; i++) {
                    const int64_t sum = op->bias[c + i] + sums[i];
                    output[i] = n6k_to_int16(n6k_scale_single(sum, op->multiplier[c + i], op->shift[c + i]), op->range);
                }
            }
        }
    }
}

#else

void n6k_depthwise_conv_2d_int16(const n6k_depthwise_conv_2d_int16_t *op)
{
    n6k_plain_depthwise_conv_2d_int16(op);
}

#endif
