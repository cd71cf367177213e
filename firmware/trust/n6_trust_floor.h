/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_TRUST_FLOOR_H
#define N6_TRUST_FLOOR_H

#include <stdint.h>

#include "n6_trust_claim.h"

/* The lowest security counter of this kind that the board accepts: as many as bits are set in its fuse word, which only go from 0
 * to 1. Fuses are read here, and written nowhere. */
uint32_t n6_trust_floor(n6_trust_kind_t kind);

#endif
