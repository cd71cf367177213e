/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int8, by int16 weights: those that had a zero point, without it.
 */
#include "columns.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_depthwise_conv_2d_asymmetric(const n6k_depthwise_conv_2d_asymmetric_t *op)
{
    const n6k_window_t *window = &op->window;
    const int32_t channels = op->out.channels;
    for (int32_t i = 0; i < op->out.height * op->out.width * channels; i++) {
        const int32_t oc = i % channels;
        const int32_t top = i / channels / op->out.width * window->stride_h - window->pad_top;
        const int32_t left = i / channels % op->out.width * window->stride_w - window->pad_left;
        int32_t sum = op->bias[oc];
        for (int32_t tap = 0; tap < window->height * window->width; tap++) {
            const int32_t y = top + tap / window->width * window->dilation_h;
            const int32_t x = left + tap % window->width * window->dilation_w;
            const int inside = y >= 0 && y < op->in.height && x >= 0 && x < op->in.width;
            const int32_t value = inside ? op->input[(y * op->in.width + x) * op->in.channels + oc / op->depth_multiplier]
                                         : op->input_zero_point;
            sum += value * op->weights[tap * channels + oc];
        }
        op->output[i] = n6k_to_output(n6k_scale_double(sum, op->multiplier[oc], op->shift[oc]), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Four channels of one pixel. input_lanes: each one's input channel. */
static inline void four_channels(const n6k_depthwise_conv_2d_asymmetric_t *op, int32_t top, int32_t left, uint32_t c,
                                 uint32x4_t input_lanes, mve_pred16_t lanes, int8_t *output)
{
    const n6k_window_t *window = &op->window;
    const int16_t *weights = op->weights + c;
    const int32x4_t outside = vdupq_n_s32(op->input_zero_point);
    int32x4_t sum = vldrwq_z_s32(op->bias + c, lanes);
    for (int32_t ky = 0; ky < window->height; ky++) {
        const int32_t y = top + ky * window->dilation_h;
        const int row_inside = y >= 0 && y < op->in.height;
        for (int32_t kx = 0; kx < window->width; kx++, weights += op->out.channels) {
            const int32_t x = left + kx * window->dilation_w;
            int32x4_t value = outside;
            if (row_inside && x >= 0 && x < op->in.width) {
                const int8_t *pixel = op->input + (y * op->in.width + x) * op->in.channels;
                value = op->depth_multiplier == 1 ? vldrbq_z_s32(pixel + c, lanes)
                                                  : vldrbq_gather_offset_z_s32(pixel, input_lanes, lanes);
            }
            sum = vaddq_s32(sum, vmulq_s32(value, vldrhq_z_s32(weights, lanes)));
        }
    }
    const int32x4_t multiplier = vldrwq_z_s32(op->multiplier + c, lanes);
    const int32x4_t scaled = n6k_scale_double_x4(sum, multiplier, vldrwq_z_s32(op->shift + c, lanes));
    vstrbq_p_s32(output + c, n6k_to_output_x4(scaled, op->range), lanes);
}

void n6k_depthwise_conv_2d_asymmetric(const n6k_depthwise_conv_2d_asymmetric_t *op)
{
    const uint32_t channels = op->out.channels;
    for (uint32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        uint32_t sources[4];
        for (uint32_t i = 0; i < 4; i++) {
            sources[i] = (c + i) / op->depth_multiplier;
        }
        const uint32x4_t input_lanes = vld1q_u32(sources);
        int8_t *output = op->output;
        for (int32_t oy = 0; oy < op->out.height; oy++) {
            const int32_t top = oy * op->window.stride_h - op->window.pad_top;
            for (int32_t ox = 0; ox < op->out.width; ox++, output += channels) {
                const int32_t left = ox * op->window.stride_w - op->window.pad_left;
                four_channels(op, top, left, c, input_lanes, lanes, output);
            }
        }
    }
}

#else

void n6k_depthwise_conv_2d_asymmetric(const n6k_depthwise_conv_2d_asymmetric_t *op)
{
    n6k_plain_depthwise_conv_2d_asymmetric(op);
}

#endif
