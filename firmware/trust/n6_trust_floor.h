/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_TRUST_FLOOR_H
#define N6_TRUST_FLOOR_H

#include <stdint.h>

/* Return the lowest security counter that the board accepts: the number of bits set in its fuse word. Fuse bits only change from
 * 0 to 1. n6build reads fuses here, and writes none. */
uint32_t n6_trust_floor(void);

#endif
