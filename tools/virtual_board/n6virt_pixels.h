/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pixel formats and the arithmetic of the camera's pipes. A pixel is 0xAARRGGBB here; a picture has rows of R, G, B bytes.
 */
#ifndef N6VIRT_PIXELS_H
#define N6VIRT_PIXELS_H

#include <stdbool.h>
#include <stdint.h>

/* A format by its channels: position and width in bits of alpha, red, green and blue; width 0: there is no such channel. */
typedef struct {
    uint8_t bytes;
    uint8_t position[4], width[4];
} N6VirtFormat;

enum { N6VIRT_ALPHA, N6VIRT_RED, N6VIRT_GREEN, N6VIRT_BLUE };

extern const N6VirtFormat n6virt_argb8888, n6virt_abgr8888, n6virt_rgba8888, n6virt_bgra8888, n6virt_rgb888, n6virt_bgr888,
    n6virt_rgb565, n6virt_bgr565, n6virt_argb1555, n6virt_argb4444;

/* Read a pixel; a channel of fewer bits is widened by repeating its bits, and without alpha it is opaque. */
uint32_t n6virt_pixel(const N6VirtFormat *format, const uint8_t *at);
/* Write a pixel; the lower bits of a channel are cut off. */
void n6virt_put_pixel(const N6VirtFormat *format, uint8_t *at, uint32_t pixel);

/* A pipe's path through crop, decimation and downsize. */
typedef struct {
    uint32_t left, top, width, height; /* crop */
    uint32_t keep_x, keep_y;           /* of so many pixels, the first is kept */
    bool scales;
    uint32_t ratio_x, ratio_y;         /* 8192 for 1 */
    uint32_t divisor_x, divisor_y;     /* 1024 for 1 */
    uint32_t out_width, out_height;    /* of the downsized picture */
} N6VirtPath;

/* Return the size of the picture at the end of a path. */
void n6virt_path_size(const N6VirtPath *path, uint32_t *width, uint32_t *height);
/* Compute the picture at the end of a path from a picture with rows of `row` pixels, which contains the crop.
 *
 * INFERRED: the downsize is an average over a window of ratio pixels, where a partly covered pixel counts in parts of 1/8192; the
 * sum is divided by multiplication with the divisor, first in x, with 8 more bits, then in y, without rounding. */
void n6virt_follow_path(const N6VirtPath *path, const uint8_t *from, uint32_t row, uint8_t *to);

#endif
