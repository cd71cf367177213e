/* SPDX-License-Identifier: Apache-2.0
 *
 * The camera of the board, by CSI and DCMIPP: pipe 1 shows it, pipe 2 takes pictures for the network. Both take the same part of
 * the sensor's picture, which the ISP of pipe 1 gives colours. Addresses are multiples of 16, and so is the pitch.
 */
#ifndef CAMERA_H
#define CAMERA_H

#include <stdbool.h>
#include <stdint.h>

/* A part of the sensor's picture, in pixels. */
typedef struct {
    uint32_t left, top, width, height;
} camera_part_t;

/* Return the bytes from line to line of a picture for camera_take. */
uint32_t camera_pitch(uint32_t width);

/* Return the largest part in the middle that a pipe scales to this size, with its ratio of width to height unless stretched. */
camera_part_t camera_middle(uint32_t width, uint32_t height, bool is_stretched);

/* Switch the sensor on and let it send. Return "", or the reason that there are no pictures. */
const char *camera_open(void);

/* Write each frame to memory, two bytes a pixel: five bits of red, six of green, five of blue. */
void camera_show(camera_part_t part, uint32_t address, uint32_t width, uint32_t height);

/* Write the next frame to memory, a byte each of red, green and blue, and wait for it. The data cache has no old bytes of it
 * afterwards. Return false if none arrives. */
bool camera_take(camera_part_t part, uint32_t address, uint32_t width, uint32_t height);

#endif
