/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution, NHWC int16 by int8 weights. Products are summed up in 32 bits without overflow: the sum of a channel's
 * absolute weights in a descriptor is at most 65535. The bias has 64 bits.
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

/* Up to eight channels: `count`. in_32_bits: nonzero if they are scaled by a multiplication and a shift of 32 bits. */
typedef struct {
    uint32_t first;
    uint32_t count;
    mve_pred16_t lanes;
    int in_32_bits;
    uint16x8_t sources;
    n6k_pair_t bias;
    n6k_pair_t multiplier;
    n6k_pair_t shift;
} channels_t;

/* The limit below which the sum of two numbers has 31 bits. */
#define MOST_IN_32_BITS (1 << 30)
/* The number of bits cut off a product first; the rest must be rounded. */
#define HIGH_BITS 16

static inline channels_t channels_from(const n6k_depthwise_conv_2d_int16_t *op, uint32_t first)
{
    const uint32_t count = n6k_least(8, op->out.channels - first);
    int32_t biases[8];
    int in_32_bits = 1;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t bias = op->bias[first + i];
        biases[i] = (int32_t)bias;
        if (bias <= -MOST_IN_32_BITS || bias >= MOST_IN_32_BITS || op->shift[first + i] <= HIGH_BITS) {
            in_32_bits = 0;
        }
    }
    const channels_t all = {
        .first = first,
        .count = count,
        .lanes = vctp16q(count),
        .in_32_bits = in_32_bits,
        .sources = n6k_input_channels(first, op->depth_multiplier),
        .bias = n6k_load_pair(biases, count),
        .multiplier = n6k_load_pair(op->multiplier + first, count),
        .shift = n6k_load_pair(op->shift + first, count),
    };
    return all;
}

/* Return the sums of products of one pixel. */
static inline __attribute__((always_inline)) n6k_pair_t products(const n6k_depthwise_conv_2d_int16_t *op, n6k_part_t part,
                                                                 const channels_t *these, int whole)
{
    const uint32_t channels = op->out.channels, in_channels = op->in.channels;
    const int gathered = op->depth_multiplier != 1;
    const int8_t *weights = op->weights + part.first_tap * channels + these->first;
    const int16_t *row = op->input + part.first_pixel * in_channels + (gathered ? 0 : these->first);
    n6k_pair_t sum = {vdupq_n_s32(0), vdupq_n_s32(0)};
    for (int32_t rows = part.rows; rows > 0; rows--) {
        const int16_t *from = row;
        const int8_t *weight = weights;
        for (int32_t columns = part.columns; columns > 0; columns--) {
            if (whole) {
                sum = n6k_add_products(sum, vldrhq_s16(from), vldrbq_s16(weight));
            } else if (gathered) {
                sum = n6k_add_products(sum, vldrhq_gather_shifted_offset_z_s16(from, these->sources, these->lanes),
                                       vldrbq_z_s16(weight, these->lanes));
            } else {
                sum = n6k_add_products(sum, vldrhq_z_s16(from, these->lanes), vldrbq_z_s16(weight, these->lanes));
            }
            from += part.pixel_step * in_channels;
            weight += channels;
        }
        row += part.row_step * in_channels;
        weights += part.tap_row * channels;
    }
    return sum;
}

static void __attribute__((noinline)) store_in_64_bits(const n6k_depthwise_conv_2d_int16_t *op, int16_t *output,
                                                       n6k_pair_t sum, const channels_t *these)
{
    int32_t sums[8];
    vst2q_s32(sums, ((int32x4x2_t){{sum.even, sum.odd}}));
    for (uint32_t i = 0, c = these->first; i < these->count; i++, c++) {
        const int64_t whole = op->bias[c] + sums[i];
        output[i] = n6k_to_int16(n6k_scale_single(whole, op->multiplier[c], op->shift[c]), op->range);
    }
}

/* Scale the sums. For b above 0, floor(floor(x / 2^a) / 2^b + 1/2) is floor(x / 2^(a + b) + 1/2). */
static inline int32x4_t scaled(int32x4_t sum, int32x4_t bias, int32x4_t multiplier, int32x4_t shift,
                               n6k_output_int16_t range)
{
    const int32x4_t high = vmulhq_s32(vaddq_s32(sum, bias), vshlq_n_s32(multiplier, 32 - HIGH_BITS));
    const int32x4_t result = vrshlq_s32(high, vsubq_s32(vdupq_n_s32(HIGH_BITS), shift));
    return vminq_s32(vmaxq_s32(result, vdupq_n_s32(range.clamp_min)), vdupq_n_s32(range.clamp_max));
}

static inline void store(const n6k_depthwise_conv_2d_int16_t *op, int16_t *output, n6k_pair_t sum,
                         const channels_t *these)
{
    if (these->in_32_bits && vmaxavq_s32(vmaxavq_s32(0, sum.even), sum.odd) < MOST_IN_32_BITS) {
        const int32x4_t even = scaled(sum.even, these->bias.even, these->multiplier.even, these->shift.even, op->range);
        const int32x4_t odd = scaled(sum.odd, these->bias.odd, these->multiplier.odd, these->shift.odd, op->range);
        vstrhq_p_s16(output, vmovntq_s32(vreinterpretq_s16_s32(even), odd), these->lanes);
        return;
    }
    store_in_64_bits(op, output, sum, these);
}

void n6k_depthwise_conv_2d_int16(const n6k_depthwise_conv_2d_int16_t *op)
{
    const n6k_depthwise_conv_2d_int16_t local = *op;
    for (int32_t oy = 0; oy < local.out.height; oy++) {
        const n6k_part_t rows = n6k_rows_inside(&local.in, &local.window, oy);
        for (uint32_t c = 0; c < local.out.channels; c += 8) {
            const channels_t these = channels_from(&local, c);
            const int whole = these.count == 8 && local.depth_multiplier == 1;
            int16_t *output = local.output + oy * local.out.width * local.out.channels + c;
            for (int32_t ox = 0; ox < local.out.width; ox++, output += local.out.channels) {
                const n6k_part_t part = n6k_columns_inside(rows, &local.in, &local.window, ox);
                store(&local, output, whole ? products(&local, part, &these, 1) : products(&local, part, &these, 0),
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
