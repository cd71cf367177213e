/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_PINS_H
#define N6_PINS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { N6_PULL_NONE = 0, N6_PULL_UP = 1, N6_PULL_DOWN = 2 } n6_pull_t;

/* Set a pin to an alternate function, push-pull, very high speed. port_base: N6_GPIOx_BASE, with its clock enabled. pin,
 * function: 0 to 15. */
void n6_pin_alternate(uint32_t port_base, uint32_t pin, uint32_t function, n6_pull_t pull);

/* Make a pin an input, whose level is then in its bit of IDR. */
void n6_pin_input(uint32_t port_base, uint32_t pin, n6_pull_t pull);

/* Return true if the fuse of their supply allows pads high speed at 1.8 V. fuse: N6_BSEC_FVR124_HSLV_VDDIO2 or _VDDIO3. */
bool n6_pins_are_fast(uint32_t fuse);

#endif
