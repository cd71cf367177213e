/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolution, int16 by int8 weights, with 64-bit accumulators. Plain C only.
 */
#include "n6_kernels_plain.h"
#include "requantize_int16.h"

/* Return the input index along one dimension that a tap of the window maps to `out`; negative if there is none. */
static inline int32_t source_of(uint32_t out, uint32_t tap, uint32_t padding, uint32_t stride, uint32_t size)
{
    const uint32_t ahead = out + padding - tap; /* beyond INT32_MAX if negative */
    const uint32_t index = ahead / stride;
    return ahead > INT32_MAX || index * stride != ahead || index >= size ? -1 : (int32_t)index;
}

void n6k_plain_transpose_conv_int16(const n6k_transpose_conv_int16_t *op)
{
    const n6k_window_t *window = &op->window;
    const uint32_t taps = (uint32_t)window->height * window->width, depth = op->in.channels;
    int16_t *output = op->output;
    for (uint32_t place = 0; place < (uint32_t)op->out.height * op->out.width; place++) {
        const uint32_t y = place / op->out.width, x = place % op->out.width;
        for (uint32_t channel = 0; channel < op->out.channels; channel++) {
            int64_t sum = op->bias[channel];
            for (uint32_t tap = 0; tap < taps; tap++) {
                const int32_t row = source_of(y, tap / window->width, window->pad_top, window->stride_h, op->in.height);
                const int32_t column = source_of(x, tap % window->width, window->pad_left, window->stride_w, op->in.width);
                if (row >= 0 && column >= 0) {
                    const int16_t *input = op->input + (uint32_t)(row * op->in.width + column) * depth;
                    const int8_t *weights = op->weights + (channel * taps + tap) * depth;
                    for (uint32_t i = 0; i < depth; i++) {
                        sum += input[i] * weights[i];
                    }
                }
            }
            *output++ = n6k_to_int16(n6k_scale_single(sum, op->multiplier[channel], op->shift[channel]), op->range);
        }
    }
}

void n6k_transpose_conv_int16(const n6k_transpose_conv_int16_t *op)
{
    n6k_plain_transpose_conv_int16(op);
}
