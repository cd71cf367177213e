/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution, NHWC int8, by weights with a zero point, which is multiplied with the sum of each window.
 */
#include <stddef.h>

#include "columns.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

void n6k_plain_conv_2d_asymmetric(const n6k_conv_2d_asymmetric_t *op)
{
    const n6k_window_t *window = &op->window;
    int8_t *output = op->output;
    for (int32_t oy = 0; oy < op->out.height; oy++) {
        for (int32_t ox = 0; ox < op->out.width; ox++) {
            const int8_t *weight = op->weights;
            for (int32_t oc = 0; oc < op->out.channels; oc++) {
                int32_t sum = op->bias[oc];
                for (int32_t tap = 0; tap < window->height * window->width; tap++) {
                    const int32_t y = oy * window->stride_h - window->pad_top + tap / window->width * window->dilation_h;
                    const int32_t x = ox * window->stride_w - window->pad_left + tap % window->width * window->dilation_w;
                    const int inside = y >= 0 && y < op->in.height && x >= 0 && x < op->in.width;
                    const int8_t *pixel = inside ? op->input + (y * op->in.width + x) * op->in.channels : NULL;
                    for (int32_t ic = 0; ic < op->in.channels; ic++) {
                        sum += (pixel ? pixel[ic] : op->input_zero_point) * (*weight++ - op->weights_zero_point);
                    }
                }
                *output++ = n6k_to_output(n6k_scale_double(sum, op->multiplier[oc], op->shift[oc]), op->range);
            }
        }
    }
}

#if defined(__ARM_FEATURE_MVE)

/* The sums of the products of two columns with up to four rows of weights. */
typedef struct {
    int32_t first[4];
    int32_t second[4];
} sums_t;

static inline void dot_two_rows(const int8_t *const columns[2], const int8_t *w0, const int8_t *w1, uint32_t taps,
                                int32_t *first, int32_t *second)
{
    const int8_t *x0 = columns[0];
    const int8_t *x1 = columns[1];
    int32_t a = 0, b = 0, c = 0, d = 0;
    for (; taps >= 16; taps -= 16, x0 += 16, x1 += 16, w0 += 16, w1 += 16) {
        const int8x16_t row = vldrbq_s8(w0), other = vldrbq_s8(w1);
        const int8x16_t column = vldrbq_s8(x0), next = vldrbq_s8(x1);
        a = vmladavaq_s8(a, column, row);
        b = vmladavaq_s8(b, column, other);
        c = vmladavaq_s8(c, next, row);
        d = vmladavaq_s8(d, next, other);
    }
    if (taps > 0) {
        const mve_pred16_t lanes = vctp8q(taps);
        const int8x16_t row = vldrbq_z_s8(w0, lanes), other = vldrbq_z_s8(w1, lanes);
        const int8x16_t column = vldrbq_z_s8(x0, lanes), next = vldrbq_z_s8(x1, lanes);
        a = vmladavaq_s8(a, column, row);
        b = vmladavaq_s8(b, column, other);
        c = vmladavaq_s8(c, next, row);
        d = vmladavaq_s8(d, next, other);
    }
    first[0] = a;
    first[1] = b;
    second[0] = c;
    second[1] = d;
}

static int32_t sum_of(const int8_t *column, uint32_t taps)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < taps; i += 16) {
        sum = vaddvaq_s8(sum, vldrbq_z_s8(column + i, vctp8q(taps - i)));
    }
    return sum;
}

/* Compute all channels of two pixels. `second` may be equal to `first`. */
static void two_pixels(const n6k_conv_2d_asymmetric_t *op, const int8_t *const columns[2], int8_t *first, int8_t *second)
{
    const uint32_t taps = (uint32_t)op->window.height * op->window.width * op->in.channels;
    const uint32_t channels = op->out.channels;
    const int32_t first_correction = -op->weights_zero_point * sum_of(columns[0], taps);
    const int32_t second_correction = -op->weights_zero_point * sum_of(columns[1], taps);
    for (uint32_t c = 0; c < channels; c += 4) {
        const mve_pred16_t lanes = vctp32q(channels - c);
        const int8_t *rows[4];
        for (uint32_t i = 0; i < 4; i++) { /* beyond the last channel: its row again, without effect */
            rows[i] = op->weights + (c + i < channels ? c + i : channels - 1) * taps;
        }
        sums_t sums;
        dot_two_rows(columns, rows[0], rows[1], taps, sums.first, sums.second);
        dot_two_rows(columns, rows[2], rows[3], taps, sums.first + 2, sums.second + 2);
        const int32x4_t bias = vldrwq_z_s32(op->bias + c, lanes);
        const int32x4_t multiplier = vldrwq_z_s32(op->multiplier + c, lanes);
        const int32x4_t shift = vldrwq_z_s32(op->shift + c, lanes);
        const int32x4_t a = vaddq_n_s32(vaddq_s32(vld1q_s32(sums.first), bias), first_correction);
        const int32x4_t b = vaddq_n_s32(vaddq_s32(vld1q_s32(sums.second), bias), second_correction);
        vstrbq_p_s32(second + c, n6k_to_output_x4(n6k_scale_double_x4(b, multiplier, shift), op->range), lanes);
        vstrbq_p_s32(first + c, n6k_to_output_x4(n6k_scale_double_x4(a, multiplier, shift), op->range), lanes);
    }
}

void n6k_conv_2d_asymmetric(const n6k_conv_2d_asymmetric_t *op)
{
    const uint32_t taps = (uint32_t)op->window.height * op->window.width * op->in.channels;
    const uint32_t pixels = (uint32_t)op->out.height * op->out.width;
    const n6k_columns_t from = {
        op->input, op->in.height, op->in.width, op->in.channels, &op->window, op->input_zero_point,
    };
    for (uint32_t pixel = 0; pixel < pixels; pixel += 2) {
        const uint32_t next = pixel + 1 < pixels ? pixel + 1 : pixel;
        const int8_t *const columns[2] = {
            n6k_column(&from, pixel / op->out.width, pixel % op->out.width, op->scratch),
            n6k_column(&from, next / op->out.width, next % op->out.width, op->scratch + ((taps + 15) & ~15U)),
        };
        two_pixels(op, columns, op->output + pixel * op->out.channels, op->output + next * op->out.channels);
    }
}

#else

void n6k_conv_2d_asymmetric(const n6k_conv_2d_asymmetric_t *op)
{
    n6k_plain_conv_2d_asymmetric(op);
}

#endif
