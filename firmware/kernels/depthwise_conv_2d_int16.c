/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int16 by int8 weights. Products are summed up in 32 bits, which hold them: a descriptor has at
 * most 65535 as the sum of a channel's absolute weights. The bias has 64.
 */
#include "columns.h"
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

/* The sums of products of four channels of one pixel. */
static inline int32x4_t four_channels(const n6k_depthwise_conv_2d_int16_t *op, n6k_part_t part, uint32_t c,
                                      mve_pred16_t lanes)
{
    const uint32_t channels = op->out.channels;
    const int8_t *weights = op->weights + part.first_tap * channels + c;
    int32x4_t sum = vdupq_n_s32(0);
    if (op->depth_multiplier == 1) {
        const int16_t *row = op->input + part.first_pixel * channels + c;
        for (int32_t rows = part.rows; rows > 0; rows--) {
            const int16_t *from = row;
            const int8_t *weight = weights;
            for (int32_t columns = part.columns; columns > 0; columns--) {
                sum = vaddq_s32(sum, vmulq_s32(vldrhq_z_s32(from, lanes), vldrbq_z_s32(weight, lanes)));
                from += part.pixel_step * channels;
                weight += channels;
            }
            row += part.row_step * channels;
            weights += part.tap_row * channels;
        }
        return sum;
    }
    const uint32x4_t sources = n6k_input_channels(c, op->depth_multiplier);
    const uint32_t in_channels = op->in.channels;
    for (int32_t ky = 0; ky < part.rows; ky++) {
        for (int32_t kx = 0; kx < part.columns; kx++) {
            const int32_t pixel = part.first_pixel + ky * part.row_step + kx * part.pixel_step;
            const int16_t *from = op->input + pixel * in_channels;
            const int32x4_t value = vldrhq_gather_shifted_offset_z_s32(from, sources, lanes);
            sum = vaddq_s32(sum, vmulq_s32(value, vldrbq_z_s32(weights + (ky * part.tap_row + kx) * channels, lanes)));
        }
    }
    return sum;
}

void n6k_depthwise_conv_2d_int16(const n6k_depthwise_conv_2d_int16_t *op)
{
    const uint32_t channels = op->out.channels;
    int16_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const n6k_part_t part = n6k_part_inside(&op->in, &op->window, oy, ox);
            for (uint32_t c = 0; c < channels; c += 4) {
                int32_t sums[4];
                vst1q_s32(sums, four_channels(op, part, c, vctp32q(channels - c)));
                const uint32_t count = channels - c < 4 ? channels - c : 4;
                for (uint32_t i = 0; i < count; i++) {
                    const int64_t sum = op->bias[c + i] + sums[i];
                    *output++ = n6k_to_int16(n6k_scale_single(sum, op->multiplier[c + i], op->shift[c + i]), op->range);
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
