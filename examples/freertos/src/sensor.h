/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SENSOR_H
#define SENSOR_H

#include <stdint.h>

/* Fills `samples` with what a microphone would have heard. */
void sensor_read(int8_t *samples, uint32_t count);

#endif
