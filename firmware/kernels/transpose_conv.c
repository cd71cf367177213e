/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolution, int8: each output pixel gathers from the input pixels whose windows reach it.
 */
#include "dot.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

/* Return the input index along one dimension that a tap of the window maps to `out`; negative if there is none. */
static inline int32_t source_of(uint32_t out, uint32_t tap, uint32_t padding, uint32_t stride, uint32_t size)
{
    const uint32_t ahead = out + padding - tap; /* beyond INT32_MAX if negative */
    const uint32_t index = ahead / stride;
    return ahead > INT32_MAX || index * stride != ahead || index >= size ? -1 : (int32_t)index;
}

static int32_t plain_sum(const n6k_transpose_conv_t *op, uint32_t y, uint32_t x, uint32_t channel)
{
    const n6k_window_t *window = &op->window;
    const uint32_t taps = (uint32_t)window->height * window->width;
    int32_t sum = op->bias[channel];
    for (uint32_t tap = 0; tap < taps; tap++) {
        const int32_t row = source_of(y, tap / window->width, window->pad_top, window->stride_h, op->in.height);
        const int32_t column = source_of(x, tap % window->width, window->pad_left, window->stride_w, op->in.width);
        if (row >= 0 && column >= 0) {
            const int8_t *input = op->input + (row * op->in.width + column) * op->in.channels;
            const int8_t *weights = op->weights + (channel * taps + tap) * op->in.channels;
            sum = n6k_plain_dot(input, weights, op->in.channels, sum + op->tap_bias[tap * op->out.channels + channel]);
        }
    }
    return sum;
}

void n6k_plain_transpose_conv(const n6k_transpose_conv_t *op)
{
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out.height; y++) {
        for (uint32_t x = 0; x < op->out.width; x++) {
            for (uint32_t channel = 0; channel < op->out.channels; channel++) {
                const int32_t sum = plain_sum(op, y, x, channel);
                *output++ = n6k_to_output(n6k_scale_double(sum, op->multiplier[channel], op->shift[channel]), op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The first tap along one dimension that reaches an output index, and its input index. Further taps follow every `stride`, each
 * with the previous input index. */
typedef struct {
    uint32_t tap;
    int32_t source;
} start_t;

static inline start_t start_at(uint32_t out, uint32_t padding, uint32_t stride)
{
    const uint32_t source = (out + padding) / stride;
    return (start_t){out + padding - source * stride, (int32_t)source};
}

/* Return the sums of up to four channels of an output pixel. */
static int32x4_t sum_channels(const n6k_transpose_conv_t *op, start_t y, start_t x, uint32_t channel, uint32_t count)
{
    const n6k_window_t *window = &op->window;
    const uint32_t taps = (uint32_t)window->height * window->width, depth = op->in.channels;
    const mve_pred16_t lanes = vctp32q(count);
    int32_t sums[4];
    vst1q_s32(sums, vldrwq_z_s32(op->bias + channel, lanes));
    for (; y.tap < window->height && y.source >= 0; y.tap += window->stride_h, y.source--) {
        start_t at = y.source < op->in.height ? x : (start_t){window->width, 0};
        for (; at.tap < window->width && at.source >= 0; at.tap += window->stride_w, at.source--) {
            if (at.source < op->in.width) {
                const uint32_t tap = y.tap * window->width + at.tap;
                const int32x4_t tap_bias = vldrwq_z_s32(op->tap_bias + tap * op->out.channels + channel, lanes);
                vst1q_s32(sums, vaddq_s32(vld1q_s32(sums), tap_bias));
                n6k_dot_rows(op->input + (y.source * op->in.width + at.source) * depth,
                             op->weights + (channel * taps + tap) * depth, taps * depth, count, depth, sums);
            }
        }
    }
    return vld1q_s32(sums);
}

void n6k_transpose_conv(const n6k_transpose_conv_t *op)
{
    const n6k_window_t *window = &op->window;
    const int32x4_t zero = vdupq_n_s32(0);
    int8_t *output = op->output;
    for (uint32_t y = 0; y < op->out.height; y++) {
        const start_t from_y = start_at(y, window->pad_top, window->stride_h);
        for (uint32_t x = 0; x < op->out.width; x++, output += op->out.channels) {
            const start_t from_x = start_at(x, window->pad_left, window->stride_w);
            for (uint32_t channel = 0; channel < op->out.channels; channel += 4) {
                const uint32_t count = op->out.channels - channel < 4 ? op->out.channels - channel : 4;
                const mve_pred16_t lanes = vctp32q(count);
                const int32x4_t shift = vldrwq_z_s32(op->shift + channel, lanes);
                int32x4_t sum = sum_channels(op, from_y, from_x, channel, count);
                sum = vqrdmulhq_s32(vshlq_s32(sum, vmaxq_s32(shift, zero)), vldrwq_z_s32(op->multiplier + channel, lanes));
                sum = n6k_rounding_divide_x4(sum, vminq_s32(shift, zero));
                vstrbq_p_s32(output + channel, n6k_to_output_x4(sum, op->range), lanes);
            }
        }
    }
}

#else

void n6k_transpose_conv(const n6k_transpose_conv_t *op)
{
    n6k_plain_transpose_conv(op);
}

#endif
