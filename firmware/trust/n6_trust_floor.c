/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust_floor.h"

uint32_t n6_trust_floor(void)
{
    return (uint32_t)__builtin_popcount(n6_trust_floor_fuses());
}
