/* SPDX-License-Identifier: Apache-2.0
 *
 * The panel of the board by LTDC: the camera's picture on layer 1, and rectangles that DMA2D draws over it on layer 2, or areas that
 * the CPU draws.
 */
#ifndef DISPLAY_H
#define DISPLAY_H

#include <stdint.h>

/* A window in the middle of the panel, with its memory: a picture of five bits of red, six of green and five of blue, and room
 * for two drawings, each as large as the picture. */
typedef struct {
    uint32_t picture, drawings, width, height;
} display_window_t;

typedef enum {
    DISPLAY_GREEN = 0xF0F0,
    DISPLAY_RED = 0xFF00,
    DISPLAY_CYAN = 0xF0FF,
    DISPLAY_MAGENTA = 0xFF0F,
    DISPLAY_YELLOW = 0xFFF0,
    DISPLAY_CLEAR = 0
} display_colour_t;

/* Return "", or the reason that the panel stays dark. */
const char *display_open(const display_window_t *window);

/* Draw on the one of two drawings that is not shown: fill a rectangle, or its edges. */
void display_fill(const display_window_t *window, int32_t x, int32_t y, int32_t width, int32_t height, display_colour_t colour);
void display_box(const display_window_t *window, int32_t x, int32_t y, int32_t width, int32_t height, display_colour_t colour);

/* Draw the colour of each area, half transparent. classes: the class of each place in a grid of columns and rows that fills the
 * window; class 0 has no colour. */
void display_areas(const display_window_t *window, const uint8_t *classes, uint32_t columns, uint32_t rows,
                   const display_colour_t *colours, uint32_t count);

/* Show what was drawn, from the next frame of the panel on, and begin the other drawing. */
void display_next(const display_window_t *window);

#endif
