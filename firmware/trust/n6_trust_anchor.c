/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust.h"
#include "n6_trust_key.h"

const n6_trust_anchor_t n6_trust_anchor = {.points = N6_TRUST_POINTS, .keys = N6_TRUST_KEYS, .board = N6_TRUST_BOARD};
