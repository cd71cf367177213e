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

/* Four channels, or as many as `lanes` has. The scaling as two multiplications and shifts of 32 bits, where `in_32_bits`. */
typedef struct {
    uint32_t first;
    mve_pred16_t lanes;
    int whole;
    int in_32_bits;
    uint32x4_t sources;
    int32x4_t bias;
    int32x4_t multiplier;
    int32x4_t negative_shift;
} channels_t;

/* Below it, the sum of two of them has 31 bits. */
#define MOST_IN_32_BITS (1 << 30)
/* So many bits of a product are cut off first; what is left has to be rounded. */
#define HIGH_BITS 16

static inline channels_t channels_from(const n6k_depthwise_conv_2d_int16_t *op, uint32_t first)
{
    channels_t all = {
        .first = first,
        .lanes = vctp32q(op->out.channels - first),
        .whole = op->out.channels - first >= 4,
        .in_32_bits = 1,
        .sources = n6k_input_channels(first, op->depth_multiplier),
    };
    int32_t biases[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < n6k_least(4, op->out.channels - first); i++) {
        const int64_t bias = op->bias[first + i];
        biases[i] = (int32_t)bias;
        if (bias <= -MOST_IN_32_BITS || bias >= MOST_IN_32_BITS || op->shift[first + i] <= HIGH_BITS) {
            all.in_32_bits = 0;
        }
    }
    all.bias = vld1q_s32(biases);
    all.multiplier = vshlq_n_s32(vldrwq_z_s32(op->multiplier + first, all.lanes), 32 - HIGH_BITS);
    all.negative_shift = vsubq_s32(vdupq_n_s32(HIGH_BITS), vldrwq_z_s32(op->shift + first, all.lanes));
    return all;
}

/* The sums of products of one pixel. */
static inline __attribute__((always_inline)) int32x4_t products(const n6k_depthwise_conv_2d_int16_t *op, n6k_part_t part,
                                                                const channels_t *these, int whole)
{
    const uint32_t channels = op->out.channels;
    const int8_t *weights = op->weights + part.first_tap * channels + these->first;
    int32x4_t sum = vdupq_n_s32(0);
    if (op->depth_multiplier == 1) {
        const int16_t *row = op->input + part.first_pixel * channels + these->first;
        for (int32_t rows = part.rows; rows > 0; rows--) {
            const int16_t *from = row;
            const int8_t *weight = weights;
            for (int32_t columns = part.columns; columns > 0; columns--) {
                const int32x4_t value = whole ? vldrhq_s32(from) : vldrhq_z_s32(from, these->lanes);
                const int32x4_t by = whole ? vldrbq_s32(weight) : vldrbq_z_s32(weight, these->lanes);
                sum = vaddq_s32(sum, vmulq_s32(value, by));
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
                vldrhq_gather_shifted_offset_z_s32(op->input + pixel * in_channels, these->sources, these->lanes);
            const int8_t *const weight = weights + (ky * part.tap_row + kx) * channels;
            sum = vaddq_s32(sum, vmulq_s32(value, vldrbq_z_s32(weight, these->lanes)));
        }
    }
    return sum;
}

/* floor(floor(x / 2^a) / 2^b + 1/2) is floor(x / 2^(a + b) + 1/2) for b above 0. */
static inline void store(const n6k_depthwise_conv_2d_int16_t *op, int16_t *output, int32x4_t sum, const channels_t *these)
{
    if (these->in_32_bits && vmaxavq_s32(0, sum) < MOST_IN_32_BITS) {
        const int32x4_t high = vmulhq_s32(vaddq_s32(sum, these->bias), these->multiplier);
        int32x4_t scaled = vrshlq_s32(high, these->negative_shift);
        scaled = vmaxq_s32(scaled, vdupq_n_s32(op->range.clamp_min));
        scaled = vminq_s32(scaled, vdupq_n_s32(op->range.clamp_max));
        vstrhq_p_s32(output, scaled, these->lanes);
        return;
    }
    int32_t sums[4];
    vst1q_s32(sums, sum);
    for (uint32_t i = 0, c = these->first; i < 4 && c < op->out.channels; i++, c++) {
        const int64_t whole = op->bias[c] + sums[i];
        output[i] = n6k_to_int16(n6k_scale_single(whole, op->multiplier[c], op->shift[c]), op->range);
    }
}

void n6k_depthwise_conv_2d_int16(const n6k_depthwise_conv_2d_int16_t *op)
{
    const n6k_depthwise_conv_2d_int16_t local = *op;
    for (int32_t oy = 0; oy < local.out.height; oy++) {
        const n6k_part_t rows = n6k_rows_inside(&local.in, &local.window, oy);
        for (uint32_t c = 0; c < local.out.channels; c += 4) {
            const channels_t these = channels_from(&local, c);
            int16_t *output = local.output + oy * local.out.width * local.out.channels + c;
            for (int32_t ox = 0; ox < local.out.width; ox++, output += local.out.channels) {
                const n6k_part_t part = n6k_columns_inside(rows, &local.in, &local.window, ox);
                store(&local, output, these.whole ? products(&local, part, &these, 1) : products(&local, part, &these, 0),
                      &these);
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
