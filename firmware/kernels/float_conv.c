/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions, products of matrices and poolings of float32, between quantised operators of ONNX models.
 */
#include <stddef.h>

#include "float_math.h"
#include "n6_kernels_plain.h"

/* The part of a window that is inside the input along one dimension: its taps from `begin` to `end`, and where tap 0 is. */
typedef struct {
    int32_t start;
    uint32_t begin;
    uint32_t end;
} span_t;

static inline span_t span_of(uint32_t place, uint32_t stride, uint32_t pad, uint32_t taps, uint32_t dilation, uint32_t size)
{
    span_t span = {(int32_t)(place * stride) - (int32_t)pad, taps, 0};
    for (uint32_t tap = taps; tap > 0; tap--) {
        const int32_t at = span.start + (int32_t)((tap - 1) * dilation);
        if (at >= 0 && at < (int32_t)size) {
            span.begin = tap - 1;
            span.end = span.end ? span.end : tap;
        }
    }
    return span;
}

static inline span_t rows_of(uint32_t y, const n6k_window_t *window, n6k_shape_t in)
{
    return span_of(y, window->stride_h, window->pad_top, window->height, window->dilation_h, in.height);
}

static inline span_t columns_of(uint32_t x, const n6k_window_t *window, n6k_shape_t in)
{
    return span_of(x, window->stride_w, window->pad_left, window->width, window->dilation_w, in.width);
}

/* Return the first channel of a pixel of the input. */
static inline const float *pixel(const float *input, n6k_shape_t in, const n6k_window_t *window, span_t rows, span_t columns,
                                 uint32_t ky, uint32_t kx)
{
    const uint32_t y = (uint32_t)(rows.start + (int32_t)(ky * window->dilation_h));
    const uint32_t x = (uint32_t)(columns.start + (int32_t)(kx * window->dilation_w));
    return input + ((size_t)y * in.width + x) * in.channels;
}

static float sum_of_window(const n6k_float_conv_t *op, span_t rows, span_t columns, uint32_t channel)
{
    const uint32_t depth = op->in.channels / op->groups;
    const uint32_t group = channel / (op->out.channels / op->groups);
    const float *weights = op->weights + (size_t)channel * op->window.height * op->window.width * depth;
    float sum = 0;
    for (uint32_t ky = rows.begin; ky < rows.end; ky++) {
        for (uint32_t kx = columns.begin; kx < columns.end; kx++) {
            const float *x = pixel(op->input, op->in, &op->window, rows, columns, ky, kx) + (size_t)group * depth;
            const float *w = weights + (size_t)(ky * op->window.width + kx) * depth;
            for (uint32_t i = 0; i < depth; i++) {
                float product = x[i] * w[i];
                N6K_SCALAR(product);
                sum += product;
            }
        }
    }
    return sum + op->bias[channel];
}

void n6k_plain_float_conv(const n6k_float_conv_t *op)
{
    float *output = op->output;
    for (uint32_t y = 0; y < op->out.height; y++) {
        const span_t rows = rows_of(y, &op->window, op->in);
        for (uint32_t x = 0; x < op->out.width; x++) {
            const span_t columns = columns_of(x, &op->window, op->in);
            for (uint32_t channel = 0; channel < op->out.channels; channel++) {
                *output++ = sum_of_window(op, rows, columns, channel);
            }
        }
    }
}

void n6k_float_conv(const n6k_float_conv_t *op)
{
    n6k_plain_float_conv(op);
}

void n6k_plain_float_matmul(const n6k_float_matmul_t *op)
{
    const float *x = op->x, *y = op->y;
    float *output = op->output;
    for (uint32_t batch = 0; batch < op->batches; batch++, x += op->x_stride, y += op->y_stride) {
        for (uint32_t row = 0; row < op->rows; row++) {
            for (uint32_t column = 0; column < op->columns; column++) {
                const float *a = x + (size_t)row * op->depth, *b = y + (size_t)column * op->depth;
                float sum = 0;
                for (uint32_t i = 0; i < op->depth; i++) {
                    float product = a[i] * b[i];
                    N6K_SCALAR(product);
                    sum += product;
                }
                *output++ = sum;
            }
        }
    }
}

void n6k_float_matmul(const n6k_float_matmul_t *op)
{
    n6k_plain_float_matmul(op);
}

static float pooled(const n6k_float_pool_t *op, span_t rows, span_t columns, uint32_t channel)
{
    float sum = 0, largest = -__builtin_inff();
    uint32_t count = 0;
    for (uint32_t ky = rows.begin; ky < rows.end; ky++) {
        for (uint32_t kx = columns.begin; kx < columns.end; kx++, count++) {
            float x = pixel(op->input, op->in, &op->window, rows, columns, ky, kx)[channel];
            N6K_SCALAR(x);
            sum += x;
            largest = x > largest ? x : largest;
        }
    }
    count = op->counts_padding ? (uint32_t)op->window.height * op->window.width : count;
    return op->average ? sum / (float)count : largest;
}

void n6k_plain_float_pool(const n6k_float_pool_t *op)
{
    float *output = op->output;
    for (uint32_t y = 0; y < op->out.height; y++) {
        const span_t rows = rows_of(y, &op->window, op->in);
        for (uint32_t x = 0; x < op->out.width; x++) {
            const span_t columns = columns_of(x, &op->window, op->in);
            for (uint32_t channel = 0; channel < op->out.channels; channel++) {
                *output++ = pooled(op, rows, columns, channel);
            }
        }
    }
}

void n6k_float_pool(const n6k_float_pool_t *op)
{
    n6k_plain_float_pool(op);
}
