/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The way of a sensor's raw pixels through the ISP of DCMIPP. Values have 10 bits on the way.
 */
#ifndef N6VIRT_ISP_H
#define N6VIRT_ISP_H

#include <stdbool.h>
#include <stdint.h>

enum { N6VIRT_R, N6VIRT_G, N6VIRT_B, N6VIRT_COLOURS };

/* What the sensor makes of a scene: its pattern, as in DMCR TYPE, the value of black, of 255, and the gains in percent that its
 * colours need afterwards. */
typedef struct N6VirtSensor {
    uint32_t pattern, black;
    uint32_t daylight[N6VIRT_COLOURS];
} N6VirtSensor;

/* Settings, without those that are off: black of 255, gains of 128, factors of 256, offsets of 255. */
typedef struct {
    uint32_t black[N6VIRT_COLOURS], gain[N6VIRT_COLOURS], shift[N6VIRT_COLOURS];
    bool has_colours; /* demosaicing is on */
    uint32_t pattern;
    bool has_matrix;
    int32_t factor[N6VIRT_COLOURS][N6VIRT_COLOURS], offset[N6VIRT_COLOURS];
    bool has_gamma;
} N6VirtIsp;

/* Part of the picture for statistics. */
typedef struct {
    uint32_t left, top, width, height;
} N6VirtWindow;

/* Sums of 8-bit values in the window: of raw pixels by their colour, and of colours behind the gains. */
typedef struct {
    uint64_t raw[N6VIRT_COLOURS], developed[N6VIRT_COLOURS];
} N6VirtSums;

/* Make the picture behind the ISP of a scene with rows of R, G, B. sums: NULL, or room for the statistics of the window.
 *
 * INFERRED: the scene has a gamma of 2.2, which the sensor does not have; a missing colour is the mean of the neighbours that have
 * it; gamma comes before the crop, and the values are cut, not rounded. */
void n6virt_develop(const N6VirtIsp *isp, const N6VirtSensor *sensor, const uint8_t *scene, uint32_t width, uint32_t height,
                    const N6VirtWindow *window, uint8_t *to, N6VirtSums *sums);

#endif
