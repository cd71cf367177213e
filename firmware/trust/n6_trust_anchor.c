/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust.h"
#include "n6_trust_key.h"

static const uint8_t n6_trust_points[N6_TRUST_KEYS][N6_TRUST_POINT_BYTES] = N6_TRUST_POINTS;

const n6_trust_anchor_t n6_trust_anchor = {.points = n6_trust_points, .keys = N6_TRUST_KEYS, .board = N6_TRUST_BOARD};
