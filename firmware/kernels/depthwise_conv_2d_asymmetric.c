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

/* Four channels, or as many as `lanes` has. */
typedef struct {
    uint32_t first;
    mve_pred16_t lanes;
    int whole;
    uint32x4_t sources;
    int32x4_t bias;
    int32x4_t multiplier;
    int32x4_t shift;
} channels_t;

static inline channels_t channels_from(const n6k_depthwise_conv_2d_asymmetric_t *op, uint32_t first)
{
    const mve_pred16_t lanes = vctp32q(op->out.channels - first);
    const channels_t all = {
        .first = first,
        .lanes = lanes,
        .whole = op->out.channels - first >= 4,
        .sources = n6k_input_channels(first, op->depth_multiplier),
        .bias = vldrwq_z_s32(op->bias + first, lanes),
        .multiplier = vldrwq_z_s32(op->multiplier + first, lanes),
        .shift = vldrwq_z_s32(op->shift + first, lanes),
    };
    return all;
}

/* The accumulators of one pixel. */
static inline __attribute__((always_inline)) int32x4_t accumulated(const n6k_depthwise_conv_2d_asymmetric_t *op,
                                                                   n6k_part_t part, const channels_t *these, int whole)
{
    const uint32_t channels = op->out.channels;
    const int32_t zero_point = op->input_zero_point;
    const int16_t *weights = op->weights + part.first_tap * channels + these->first;
    int32x4_t sum = these->bias;
    if (op->depth_multiplier == 1) {
        const int8_t *row = op->input + part.first_pixel * channels + these->first;
        for (int32_t rows = part.rows; rows > 0; rows--) {
            const int8_t *from = row;
            const int16_t *weight = weights;
            for (int32_t columns = part.columns; columns > 0; columns--) {
                const int32x4_t value = whole ? vldrbq_s32(from) : vldrbq_z_s32(from, these->lanes);
                const int32x4_t by = whole ? vldrhq_s32(weight) : vldrhq_z_s32(weight, these->lanes);
                sum = vaddq_s32(sum, vmulq_s32(vsubq_n_s32(value, zero_point), by));
                from += part.pixel_step * channels;
                weight += channels;
            }
            row += part.row_step * channels;
            weights += part.tap_row * channels;
        }
        return sum;
    }
    const uint32_t in_channels = op->in.channels;
    for (int32_t ky = 0; ky < part.rows; ky++) {
        for (int32_t kx = 0; kx < part.columns; kx++) {
            const int32_t pixel = part.first_pixel + ky * part.row_step + kx * part.pixel_step;
            const int32x4_t value =
                vldrbq_gather_offset_z_s32(op->input + pixel * in_channels, these->sources, these->lanes);
            const int32x4_t by = vldrhq_z_s32(weights + (ky * part.tap_row + kx) * channels, these->lanes);
            sum = vaddq_s32(sum, vmulq_s32(vsubq_n_s32(value, zero_point), by));
        }
    }
    return sum;
}

void n6k_depthwise_conv_2d_asymmetric(const n6k_depthwise_conv_2d_asymmetric_t *op)
{
    const n6k_depthwise_conv_2d_asymmetric_t local = *op;
    for (int32_t oy = 0; oy < local.out.height; oy++) {
        const n6k_part_t rows = n6k_rows_inside(&local.in, &local.window, oy);
        for (uint32_t c = 0; c < local.out.channels; c += 4) {
            const channels_t these = channels_from(&local, c);
            int8_t *output = local.output + oy * local.out.width * local.out.channels + c;
            for (int32_t ox = 0; ox < local.out.width; ox++, output += local.out.channels) {
                const n6k_part_t part = n6k_columns_inside(rows, &local.in, &local.window, ox);
                const int32x4_t sum =
                    these.whole ? accumulated(&local, part, &these, 1) : accumulated(&local, part, &these, 0);
                const int32x4_t scaled = n6k_scale_double_x4(sum, these.multiplier, these.shift);
                vstrbq_p_s32(output, n6k_to_output_x4(scaled, local.range), these.lanes);
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
