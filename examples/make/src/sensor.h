/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SENSOR_H
#define SENSOR_H

#include <stdint.h>

/* Fill `samples` with placeholder data instead of a microphone's. */
void sensor_read(int8_t *samples, uint32_t count);

#endif
