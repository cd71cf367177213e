/* SPDX-License-Identifier: Apache-2.0
 *
 * Padding by a constant, and copies.
 */
#include <string.h>

#include "helium.h"
#include "n6_kernels_plain.h"

void n6k_plain_pad(const n6k_pad_t *op)
{
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        const int32_t y = oy - op->pad_top;
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const int32_t x = ox - op->pad_left;
            for (int32_t oc = 0; oc < op->out.channels; oc++) {
                const int32_t c = oc - op->pad_front;
                const int inside = y >= 0 && y < op->in.height && x >= 0 && x < op->in.width && c >= 0 &&
                                   c < op->in.channels;
                *output++ = inside ? op->input[(y * op->in.width + x) * op->in.channels + c] : op->value;
            }
        }
    }
}

void n6k_plain_copy(const n6k_copy_t *op)
{
    memcpy(op->output, op->input, op->bytes);
}

#if defined(__ARM_FEATURE_MVE)

void n6k_pad(const n6k_pad_t *op)
{
    const uint32_t pixel = op->out.channels;
    const uint32_t row = op->out.width * pixel;
    const int padded_channels = op->in.channels != op->out.channels;
    const uint32_t back = (uint32_t)op->out.channels - op->in.channels - op->pad_front;
    const uint32_t left = op->pad_left * pixel;
    const uint32_t right = row - left - op->in.width * pixel;
    const uint32_t copied = (uint32_t)op->in.width * op->in.channels;
    const int8_t *input = op->input;
    int8_t *output = n6k_fill_bytes(op->output, op->value, op->pad_top * row);
    for (uint32_t y = op->in.height; y > 0; y--) {
        output = n6k_fill_bytes(output, op->value, left);
        if (padded_channels) {
            for (uint32_t x = op->in.width; x > 0; x--, input += op->in.channels) {
                output = n6k_fill_bytes(output, op->value, op->pad_front);
                output = n6k_copy_bytes(output, input, op->in.channels);
                output = n6k_fill_bytes(output, op->value, back);
            }
        } else {
            output = n6k_copy_bytes(output, input, copied);
            input += copied;
        }
        output = n6k_fill_bytes(output, op->value, right);
    }
    n6k_fill_bytes(output, op->value, ((uint32_t)op->out.height - op->in.height - op->pad_top) * row);
}

void n6k_copy(const n6k_copy_t *op)
{
    n6k_copy_bytes(op->output, op->input, op->bytes);
}

#else

void n6k_pad(const n6k_pad_t *op)
{
    n6k_plain_pad(op);
}

void n6k_copy(const n6k_copy_t *op)
{
    n6k_plain_copy(op);
}

#endif
