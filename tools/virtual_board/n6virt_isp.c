/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma GCC optimize("O3")
#include "n6virt_isp.h"

#include <math.h>
#include <stdlib.h>

#define MOST 1023
#define GAMMA 2.2

typedef struct {
    uint16_t linear[N6VIRT_COLOURS][256]; /* of a scene's value, with black */
    uint8_t shown[MOST + 1];              /* of 10 bits */
} Curves;

static Curves curves_of(const N6VirtIsp *isp, const N6VirtSensor *sensor)
{
    Curves curves;
    int black = 4 * (int)sensor->black;

    for (int i = 0; i < 256; i++) {
        for (unsigned colour = 0; colour < N6VIRT_COLOURS; colour++) {
            double light = pow(i / 255.0, GAMMA) * 100 / sensor->daylight[colour];

            curves.linear[colour][i] = (uint16_t)(black + (light < 1 ? light : 1) * (MOST - black));
        }
    }
    for (int i = 0; i <= MOST; i++) {
        curves.shown[i] = isp->has_gamma ? (uint8_t)(255 * pow(i / (double)MOST, 1 / GAMMA)) : (uint8_t)(i >> 2);
    }
    return curves;
}

static int held(int64_t value)
{
    return value < 0 ? 0 : value > MOST ? MOST : (int)value;
}

/* Return the colour of a raw pixel. Patterns 0 to 3: RGGB, GRBG, GBRG, BGGR. */
static unsigned colour_at(uint32_t pattern, uint32_t x, uint32_t y)
{
    uint32_t column = (x ^ pattern) & 1, row = (y ^ pattern >> 1) & 1;

    return column != row ? N6VIRT_G : row ? N6VIRT_B : N6VIRT_R;
}

static bool is_inside(const N6VirtWindow *window, uint32_t x, uint32_t y)
{
    return x - window->left < window->width && y - window->top < window->height;
}

/* Return raw pixels behind black level and gains. */
static uint16_t *exposed(const N6VirtIsp *isp, const N6VirtSensor *sensor, const Curves *curves, const uint8_t *scene,
                         uint32_t width, uint32_t height, const N6VirtWindow *window, N6VirtSums *sums)
{
    uint16_t *raw = malloc((size_t)width * height * sizeof(*raw));

    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            size_t at = (size_t)y * width + x;
            unsigned sent = colour_at(sensor->pattern, x, y), taken = colour_at(isp->pattern, x, y);
            int value = curves->linear[sent][scene[3 * at + sent]];

            if (sums && is_inside(window, x, y)) {
                sums->raw[taken] += (unsigned)value >> 2;
            }
            value = held(value - 4 * (int)isp->black[taken]);
            raw[at] = (uint16_t)held((int64_t)value * isp->gain[taken] / 128 << isp->shift[taken]);
        }
    }
    return raw;
}

/* Read a colour of a pixel: its own, or the mean of the neighbours that have it. */
static int colour_of(const uint16_t *raw, uint32_t pattern, uint32_t width, uint32_t height, uint32_t x, uint32_t y, unsigned colour)
{
    int sum = 0, count = 0;

    if (colour_at(pattern, x, y) == colour) {
        return raw[(size_t)y * width + x];
    }
    for (uint32_t row = y ? y - 1 : 0; row <= y + 1 && row < height; row++) {
        for (uint32_t column = x ? x - 1 : 0; column <= x + 1 && column < width; column++) {
            if (colour_at(pattern, column, row) == colour) {
                sum += raw[(size_t)row * width + column];
                count++;
            }
        }
    }
    return count ? sum / count : 0;
}

void n6virt_develop(const N6VirtIsp *isp, const N6VirtSensor *sensor, const uint8_t *scene, uint32_t width, uint32_t height,
                    const N6VirtWindow *window, uint8_t *to, N6VirtSums *sums)
{
    Curves curves = curves_of(isp, sensor);
    uint16_t *raw = exposed(isp, sensor, &curves, scene, width, height, window, sums);

    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++, to += N6VIRT_COLOURS) {
            int values[N6VIRT_COLOURS];

            for (unsigned i = 0; i < N6VIRT_COLOURS; i++) {
                values[i] = isp->has_colours ? colour_of(raw, isp->pattern, width, height, x, y, i) : raw[(size_t)y * width + x];
                if (sums && is_inside(window, x, y)) {
                    sums->developed[i] += (unsigned)values[i] >> 2;
                }
            }
            for (unsigned i = 0; i < N6VIRT_COLOURS; i++) {
                const int32_t *by = isp->factor[i];
                int64_t mixed = ((int64_t)by[0] * values[0] + (int64_t)by[1] * values[1] + (int64_t)by[2] * values[2]) >> 8;

                to[i] = curves.shown[isp->has_matrix ? held(mixed + 4 * isp->offset[i]) : values[i]];
            }
        }
    }
    free(raw);
}
