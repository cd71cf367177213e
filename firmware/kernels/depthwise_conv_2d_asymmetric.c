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
            if (y >= 0 && y < op->in.height && x >= 0 && x < op->in.width) {
                const int8_t *pixel = op->input + (y * op->in.width + x) * op->in.channels;
                sum += (pixel[oc / op->depth_multiplier] - op->input_zero_point) * op->weights[tap * channels + oc];
            }
        }
        op->output[i] = n6k_to_output(n6k_scale_double(sum, op->multiplier[oc], op->shift[oc]), op->range);
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Four channels of one pixel. */
static inline int32x4_t four_channels(const n6k_depthwise_conv_2d_asymmetric_t *op, n6k_part_t part, uint32_t c,
                                      mve_pred16_t lanes)
{
    const uint32_t channels = op->out.channels;
    const int32_t zero_point = op->input_zero_point;
    const int16_t *weights = op->weights + part.first_tap * channels + c;
    int32x4_t sum = vldrwq_z_s32(op->bias + c, lanes);
    if (op->depth_multiplier == 1) {
        const int8_t *row = op->input + part.first_pixel * channels + c;
        for (int32_t rows = part.rows; rows > 0; rows--) {
            const int8_t *from = row;
            const int16_t *weight = weights;
            for (int32_t columns = part.columns; columns > 0; columns--) {
                const int32x4_t value = vsubq_n_s32(vldrbq_z_s32(from, lanes), zero_point);
                sum = vaddq_s32(sum, vmulq_s32(value, vldrhq_z_s32(weight, lanes)));
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
            const int32x4_t value = vldrbq_gather_offset_z_s32(op->input + pixel * in_channels, sources, lanes);
            const int32x4_t weight = vldrhq_z_s32(weights + (ky * part.tap_row + kx) * channels, lanes);
            sum = vaddq_s32(sum, vmulq_s32(vsubq_n_s32(value, zero_point), weight));
        }
    }
    return sum;
}

void n6k_depthwise_conv_2d_asymmetric(const n6k_depthwise_conv_2d_asymmetric_t *op)
{
    const uint32_t channels = op->out.channels;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++, output += channels) {
            const n6k_part_t part = n6k_part_inside(&op->in, &op->window, oy, ox);
            for (uint32_t c = 0; c < channels; c += 4) {
                const mve_pred16_t lanes = vctp32q(channels - c);
                const int32x4_t sum = four_channels(op, part, c, lanes);
                const int32x4_t multiplier = vldrwq_z_s32(op->multiplier + c, lanes);
                const int32x4_t scaled = n6k_scale_double_x4(sum, multiplier, vldrwq_z_s32(op->shift + c, lanes));
                vstrbq_p_s32(output + c, n6k_to_output_x4(scaled, op->range), lanes);
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
