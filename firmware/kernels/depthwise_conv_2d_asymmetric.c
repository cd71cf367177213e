/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int8, by int16 weights: the original weights less their zero point.
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

/* Up to eight channels, as given by `lanes`. */
typedef struct {
    uint32_t first;
    mve_pred16_t lanes;
    uint16x8_t sources;
    n6k_pair_t bias;
    n6k_pair_t multiplier;
    n6k_pair_t shift;
} channels_t;

static inline channels_t channels_from(const n6k_depthwise_conv_2d_asymmetric_t *op, uint32_t first)
{
    const uint32_t count = n6k_least(8, op->out.channels - first);
    const channels_t all = {
        .first = first,
        .lanes = vctp16q(count),
        .sources = n6k_input_channels(first, op->depth_multiplier),
        .bias = n6k_load_pair(op->bias + first, count),
        .multiplier = n6k_load_pair(op->multiplier + first, count),
        .shift = n6k_load_pair(op->shift + first, count),
    };
    return all;
}

/* Return the accumulators of one pixel. */
static inline __attribute__((always_inline)) n6k_pair_t accumulated(const n6k_depthwise_conv_2d_asymmetric_t *op,
                                                                    n6k_part_t part, const channels_t *these, int whole)
{
    const uint32_t channels = op->out.channels, in_channels = op->in.channels;
    const int16_t zero_point = op->input_zero_point;
    const int gathered = op->depth_multiplier != 1;
    const int16_t *weights = op->weights + part.first_tap * channels + these->first;
    const int8_t *row = op->input + part.first_pixel * in_channels + (gathered ? 0 : these->first);
    n6k_pair_t sum = these->bias;
    for (int32_t rows = part.rows; rows > 0; rows--) {
        const int8_t *from = row;
        const int16_t *weight = weights;
        for (int32_t columns = part.columns; columns > 0; columns--) {
            int16x8_t value, by;
            if (whole) {
                value = vldrbq_s16(from);
                by = vldrhq_s16(weight);
            } else {
                value = gathered ? vldrbq_gather_offset_z_s16(from, these->sources, these->lanes)
                                 : vldrbq_z_s16(from, these->lanes);
                by = vldrhq_z_s16(weight, these->lanes);
            }
            sum = n6k_add_products(sum, vsubq_n_s16(value, zero_point), by);
            from += part.pixel_step * in_channels;
            weight += channels;
        }
        row += part.row_step * in_channels;
        weights += part.tap_row * channels;
    }
    return sum;
}

static inline int32x4_t scaled(int32x4_t sum, int32x4_t multiplier, int32x4_t shift, n6k_output_t range)
{
    return n6k_to_output_x4(n6k_scale_double_x4(sum, multiplier, shift), range);
}

void n6k_depthwise_conv_2d_asymmetric(const n6k_depthwise_conv_2d_asymmetric_t *op)
{
    const n6k_depthwise_conv_2d_asymmetric_t local = *op;
    for (int32_t oy = 0; oy < local.out.height; oy++) {
        const n6k_part_t rows = n6k_rows_inside(&local.in, &local.window, oy);
        for (uint32_t c = 0; c < local.out.channels; c += 8) {
            const channels_t these = channels_from(&local, c);
            const int whole = local.out.channels - c >= 8 && local.depth_multiplier == 1;
            int8_t *output = local.output + oy * local.out.width * local.out.channels + c;
            for (int32_t ox = 0; ox < local.out.width; ox++, output += local.out.channels) {
                const n6k_part_t part = n6k_columns_inside(rows, &local.in, &local.window, ox);
                const n6k_pair_t sum =
                    whole ? accumulated(&local, part, &these, 1) : accumulated(&local, part, &these, 0);
                const int32x4_t even = scaled(sum.even, these.multiplier.even, these.shift.even, local.range);
                const int32x4_t odd = scaled(sum.odd, these.multiplier.odd, these.shift.odd, local.range);
                vstrbq_p_s16(output, vmovntq_s32(vreinterpretq_s16_s32(even), odd), these.lanes);
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
