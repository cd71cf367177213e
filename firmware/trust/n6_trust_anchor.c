/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust.h"
#include "n6_trust_key.h"

const n6_trust_anchor_t n6_trust_anchor = {.point = N6_TRUST_POINT, .board = N6_TRUST_BOARD};
