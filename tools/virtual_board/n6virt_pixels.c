/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See n6virt_pixels.h.
 */
#include "n6virt_pixels.h"

#include <stdlib.h>
#include <string.h>

#define CHANNELS 3
#define UNIT 8192u
/* Bits of ratio and divisor together: 8192 * 1024. */
#define SCALE_BITS 23
#define MORE_BITS 8

#define FORMAT(name, bytes, a, aw, r, rw, g, gw, b, bw) const N6VirtFormat name = {bytes, {a, r, g, b}, {aw, rw, gw, bw}}
FORMAT(n6virt_argb8888, 4, 24, 8, 16, 8, 8, 8, 0, 8);
FORMAT(n6virt_abgr8888, 4, 24, 8, 0, 8, 8, 8, 16, 8);
FORMAT(n6virt_rgba8888, 4, 0, 8, 24, 8, 16, 8, 8, 8);
FORMAT(n6virt_bgra8888, 4, 0, 8, 8, 8, 16, 8, 24, 8);
FORMAT(n6virt_rgb888, 3, 0, 0, 16, 8, 8, 8, 0, 8);
FORMAT(n6virt_bgr888, 3, 0, 0, 0, 8, 8, 8, 16, 8);
FORMAT(n6virt_rgb565, 2, 0, 0, 11, 5, 5, 6, 0, 5);
FORMAT(n6virt_bgr565, 2, 0, 0, 0, 5, 5, 6, 11, 5);
FORMAT(n6virt_argb1555, 2, 15, 1, 10, 5, 5, 5, 0, 5);
FORMAT(n6virt_argb4444, 2, 12, 4, 8, 4, 4, 4, 0, 4);

static uint32_t widened(uint32_t value, unsigned width)
{
    uint32_t wide = value << (8 - width);

    for (unsigned bits = width; bits < 8; bits *= 2) {
        wide |= wide >> bits;
    }
    return wide & 0xff;
}

uint32_t n6virt_pixel(const N6VirtFormat *format, const uint8_t *at)
{
    uint32_t word = 0, pixel = 0;

    for (unsigned i = 0; i < format->bytes; i++) {
        word |= (uint32_t)at[i] << 8 * i;
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned width = format->width[i];
        uint32_t value = width ? widened(word >> format->position[i] & ((1u << width) - 1), width) : 0xff;

        pixel = pixel << 8 | value;
    }
    return pixel;
}

void n6virt_put_pixel(const N6VirtFormat *format, uint8_t *at, uint32_t pixel)
{
    uint32_t word = 0;

    for (unsigned i = 0; i < 4; i++) {
        uint32_t value = pixel >> (24 - 8 * i) & 0xff;

        word |= value >> (8 - format->width[i]) << format->position[i];
    }
    for (unsigned i = 0; i < format->bytes; i++) {
        at[i] = word >> 8 * i;
    }
}

static uint32_t kept(uint32_t count, uint32_t keep)
{
    return (count + keep - 1) / keep;
}

void n6virt_path_size(const N6VirtPath *path, uint32_t *width, uint32_t *height)
{
    *width = path->scales ? path->out_width : kept(path->width, path->keep_x);
    *height = path->scales ? path->out_height : kept(path->height, path->keep_y);
}

/* A window of a picture's row or column: its first and last pixel, and the parts of both. Behind the picture, its last pixel
 * repeats: `most`. */
typedef struct {
    uint32_t first, last, first_part, last_part, most;
} Window;

static Window window_of(uint32_t index, uint32_t ratio, uint32_t count)
{
    uint64_t begin = (uint64_t)index * ratio, end = begin + ratio;
    Window window = {begin / UNIT, (end - 1) / UNIT, UNIT - begin % UNIT, (end - 1) % UNIT + 1, count - 1};

    if (window.first == window.last) {
        window.first_part = ratio;
        window.last_part = 0;
    }
    return window;
}

static uint32_t at_most(uint64_t value, uint32_t most)
{
    return value < most ? value : most;
}

static uint64_t sum_of(const Window *window, const uint16_t *values, uint32_t step)
{
    uint64_t sum = (uint64_t)window->first_part * values[(uint64_t)at_most(window->first, window->most) * step];

    for (uint32_t i = window->first + 1; i < window->last; i++) {
        sum += (uint64_t)UNIT * values[(uint64_t)at_most(i, window->most) * step];
    }
    return sum + (uint64_t)window->last_part * values[(uint64_t)at_most(window->last, window->most) * step];
}

static void downsize(const N6VirtPath *path, const uint8_t *from, uint32_t row, uint8_t *to)
{
    uint32_t width = kept(path->width, path->keep_x), height = kept(path->height, path->keep_y);
    uint16_t *line = malloc(sizeof(uint16_t) * width), *narrow = malloc(sizeof(uint16_t) * height * path->out_width);

    for (unsigned channel = 0; channel < CHANNELS; channel++) {
        for (uint32_t y = 0; y < height; y++) {
            const uint8_t *at = from + ((uint64_t)(path->top + y * path->keep_y) * row + path->left) * CHANNELS + channel;

            for (uint32_t x = 0; x < width; x++) {
                line[x] = at[(uint64_t)x * path->keep_x * CHANNELS];
            }
            for (uint32_t x = 0; x < path->out_width; x++) {
                Window window = window_of(x, path->ratio_x, width);
                uint64_t sum = sum_of(&window, line, 1) * path->divisor_x >> (SCALE_BITS - MORE_BITS);

                narrow[(uint64_t)y * path->out_width + x] = at_most(sum, 0xff << MORE_BITS);
            }
        }
        for (uint32_t y = 0; y < path->out_height; y++) {
            Window window = window_of(y, path->ratio_y, height);

            for (uint32_t x = 0; x < path->out_width; x++) {
                uint64_t sum = sum_of(&window, narrow + x, path->out_width) * path->divisor_y >> (SCALE_BITS + MORE_BITS);

                to[((uint64_t)y * path->out_width + x) * CHANNELS + channel] = at_most(sum, 0xff);
            }
        }
    }
    free(line);
    free(narrow);
}

void n6virt_follow_path(const N6VirtPath *path, const uint8_t *from, uint32_t row, uint8_t *to)
{
    uint32_t width, height;

    if (path->scales) {
        downsize(path, from, row, to);
        return;
    }
    n6virt_path_size(path, &width, &height);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t *at = from + ((uint64_t)(path->top + y * path->keep_y) * row + path->left + x * path->keep_x) * CHANNELS;

            memcpy(to + ((uint64_t)y * width + x) * CHANNELS, at, CHANNELS);
        }
    }
}
