/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution, NHWC int16 by int8 weights, with 64-bit accumulators.
 */
#include "columns.h"
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

void n6k_plain_conv_2d_int16(const n6k_conv_2d_int16_t *op)
{
    const n6k_window_t *window = &op->window;
    int16_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const int8_t *weight = op->weights;
            for (int32_t oc = 0; oc < op->out.channels; oc++) {
                int64_t sum = op->bias[oc];
                for (int32_t tap = 0; tap < window->height * window->width; tap++, weight += op->in.channels) {
                    const int32_t y = oy * window->stride_h - window->pad_top + tap / window->width * window->dilation_h;
                    const int32_t x = ox * window->stride_w - window->pad_left + tap % window->width * window->dilation_w;
                    if (y < 0 || y >= op->in.height || x < 0 || x >= op->in.width) {
                        continue;
                    }
                    const int16_t *pixel = op->input + (y * op->in.width + x) * op->in.channels;
                    for (int32_t ic = 0; ic < op->in.channels; ic++) {
                        sum += pixel[ic] * weight[ic];
                    }
                }
                *output++ = n6k_to_int16(n6k_scale_single(sum, op->multiplier[oc], op->shift[oc]), op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* Add the products of two columns with a row of weights to two sums. */
static inline void dot_two_columns(const int16_t *const columns[2], const int8_t *row, uint32_t taps, int64_t sums[2])
{
    const int16_t *x0 = columns[0];
    const int16_t *x1 = columns[1];
    int64_t a = sums[0], b = sums[1];
    for (; taps >= 8; taps -= 8, x0 += 8, x1 += 8, row += 8) {
        const int16x8_t weights = vldrbq_s16(row);
        a = vmlaldavaq_s16(a, vldrhq_s16(x0), weights);
        b = vmlaldavaq_s16(b, vldrhq_s16(x1), weights);
    }
    if (taps > 0) {
        const mve_pred16_t lanes = vctp16q(taps);
        const int16x8_t weights = vldrbq_z_s16(row, lanes);
        a = vmlaldavaq_s16(a, vldrhq_z_s16(x0, lanes), weights);
        b = vmlaldavaq_s16(b, vldrhq_z_s16(x1, lanes), weights);
    }
    sums[0] = a;
    sums[1] = b;
}

void n6k_conv_2d_int16(const n6k_conv_2d_int16_t *op)
{
    const uint32_t channels = op->out.channels;
    const uint32_t taps = (uint32_t)op->window.height * op->window.width * op->in.channels;
    const uint32_t pixels = (uint32_t)op->out.height * op->out.width;
    const n6k_columns_t from = {
        (const int8_t *)op->input, op->in.height, op->in.width, 2 * op->in.channels, &op->window, 0,
    };
    for (uint32_t pixel = 0; pixel < pixels; pixel += 2) {
        const uint32_t next = pixel + 1 < pixels ? pixel + 1 : pixel;
        const int8_t *first = n6k_column(&from, pixel / op->out.width, pixel % op->out.width, op->scratch);
        int8_t *const behind = op->scratch + ((2 * taps + 15) & ~15U);
        const int8_t *second = n6k_column(&from, next / op->out.width, next % op->out.width, behind);
        const int16_t *const columns[2] = {(const int16_t *)first, (const int16_t *)second};
        const int8_t *row = op->weights;
        for (uint32_t c = 0; c < channels; c++, row += taps) {
            int64_t sums[2] = {op->bias[c], op->bias[c]};
            dot_two_columns(columns, row, taps, sums);
            for (uint32_t i = 0; i < 2; i++) {
                const int32_t scaled = n6k_scale_single(sums[i], op->multiplier[c], op->shift[c]);
                op->output[(i == 0 ? pixel : next) * channels + c] = n6k_to_int16(scaled, op->range);
            }
        }
    }
}

#else

void n6k_conv_2d_int16(const n6k_conv_2d_int16_t *op)
{
    n6k_plain_conv_2d_int16(op);
}

#endif
