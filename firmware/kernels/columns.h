/* SPDX-License-Identifier: Apache-2.0
 *
 * The elements under a window in a row, and the scaling of accumulators by channel. Internal to the kernels.
 */
#ifndef N6K_COLUMNS_H
#define N6K_COLUMNS_H

#include "helium.h"

#if defined(__ARM_FEATURE_MVE)

/* The source of columns. pixel: bytes of a pixel. outside: value of each byte outside the image. */
typedef struct {
    const int8_t *input;
    int32_t height;
    int32_t width;
    int32_t pixel;
    const n6k_window_t *window;
    int8_t outside;
} n6k_columns_t;

static inline int32_t n6k_between(int32_t x, int32_t low, int32_t high)
{
    return x < low ? low : (x > high ? high : x);
}

/* Return the column of an output pixel: in `scratch`, or in the input if it is contiguous there. */
static inline const int8_t *n6k_column(const n6k_columns_t *from, uint32_t oy, uint32_t ox, int8_t *scratch)
{
    const n6k_window_t *window = from->window;
    const int32_t pixel = from->pixel;
    const int32_t width = from->width;
    const int32_t top = (int32_t)oy * window->stride_h - window->pad_top;
    const int32_t left = (int32_t)ox * window->stride_w - window->pad_left;
    if (window->height == 1 && window->width == 1 && top >= 0 && top < from->height && left >= 0 && left < width) {
        return from->input + (top * width + left) * pixel;
    }
    /* Neighbouring taps are one run; in a dilated window each tap is a separate run. */
    const int32_t run = window->dilation_w == 1 ? window->width : 1;
    int8_t *to = scratch;
    for (int32_t ky = 0; ky < window->height; ky++) {
        const int32_t y = top + ky * window->dilation_h;
        const int row_inside = y >= 0 && y < from->height;
        for (int32_t kx = 0; kx < window->width; kx += run) {
            const int32_t x = left + kx * window->dilation_w;
            const int32_t before = row_inside ? n6k_between(-x, 0, run) : run;
            const int32_t behind = row_inside ? n6k_between(x + run - width, 0, run - before) : 0;
            const int32_t inside = run - before - behind;
            to = n6k_fill_bytes(to, from->outside, (uint32_t)(before * pixel));
            if (inside > 0) {
                to = n6k_copy_bytes(to, from->input + (y * width + x + before) * pixel, (uint32_t)(inside * pixel));
            }
            to = n6k_fill_bytes(to, from->outside, (uint32_t)(behind * pixel));
        }
    }
    return scratch;
}

/* The part of an output pixel's window inside the input. Pixels and taps are counted row by row. */
typedef struct {
    int32_t rows;
    int32_t columns;
    int32_t first_pixel;
    int32_t first_tap;
    int32_t pixel_step; /* to the pixel of the next tap */
    int32_t row_step;   /* to the pixel of the tap below */
    int32_t tap_row;    /* taps in a row of the whole window */
} n6k_part_t;

/* Return the number of taps inside the input. The taps are at start, start + step, ... first: the first tap inside. */
static inline int32_t n6k_taps_inside(int32_t start, int32_t step, int32_t taps, int32_t size, int32_t *first)
{
    *first = 0;
    while (*first < taps && start + *first * step < 0) {
        ++*first;
    }
    int32_t end = taps;
    while (end > *first && start + (end - 1) * step >= size) {
        end--;
    }
    return end - *first;
}

/* Return the part common to all output pixels of a row, without its columns. */
static inline n6k_part_t n6k_rows_inside(const n6k_shape_t *in, const n6k_window_t *window, int32_t oy)
{
    const int32_t top = oy * window->stride_h - window->pad_top;
    int32_t first_row;
    n6k_part_t part = {
        .rows = n6k_taps_inside(top, window->dilation_h, window->height, in->height, &first_row),
        .pixel_step = window->dilation_w,
        .row_step = window->dilation_h * in->width,
        .tap_row = window->width,
    };
    part.first_pixel = (top + first_row * window->dilation_h) * in->width;
    part.first_tap = first_row * window->width;
    return part;
}

/* Return the part of one output pixel, with its columns. */
static inline n6k_part_t n6k_columns_inside(n6k_part_t rows, const n6k_shape_t *in, const n6k_window_t *window, int32_t ox)
{
    const int32_t left = ox * window->stride_w - window->pad_left;
    int32_t first_column;
    rows.columns = n6k_taps_inside(left, window->dilation_w, window->width, in->width, &first_column);
    rows.first_pixel += left + first_column * window->dilation_w;
    rows.first_tap += first_column;
    return rows;
}

/* Return the input channels of eight output channels of a depthwise convolution. */
static inline uint16x8_t n6k_input_channels(uint32_t c, uint32_t depth_multiplier)
{
    uint16_t sources[8];
    for (uint32_t i = 0; i < 8; i++) {
        sources[i] = (uint16_t)((c + i) / depth_multiplier);
    }
    return vld1q_u16(sources);
}

/* 32 bits for each of eight lanes of 16 bits: the lanes with even numbers, and the lanes with odd numbers. */
typedef struct {
    int32x4_t even;
    int32x4_t odd;
} n6k_pair_t;

/* Load `count` elements; further ones are 0. */
static inline n6k_pair_t n6k_load_pair(const int32_t *from, uint32_t count)
{
    const uint32x4_t offsets = vidupq_n_u32(0, 2);
    const n6k_pair_t pair = {
        vldrwq_gather_shifted_offset_z_s32(from, offsets, vctp32q((count + 1) / 2)),
        vldrwq_gather_shifted_offset_z_s32(from + 1, offsets, vctp32q(count / 2)),
    };
    return pair;
}

static inline n6k_pair_t n6k_add_products(n6k_pair_t sum, int16x8_t a, int16x8_t b)
{
    sum.even = vaddq_s32(sum.even, vmullbq_int_s16(a, b));
    sum.odd = vaddq_s32(sum.odd, vmulltq_int_s16(a, b));
    return sum;
}

/* Return n6k_scale_double of each lane. */
static inline int32x4_t n6k_scale_double_x4(int32x4_t x, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t zero = vdupq_n_s32(0);
    const int32x4_t shifted = vshlq_s32(x, vmaxq_s32(shift, zero));
    return n6k_rounding_divide_x4(vqrdmulhq_s32(shifted, multiplier), vminq_s32(shift, zero));
}

#endif
#endif
