/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust_fuses.h"

uint32_t n6_trust_floor(void)
{
    return (uint32_t)__builtin_popcount(n6_trust_fuses(N6_TRUST_FLOOR_WORD));
}

uint32_t n6_trust_revoked(void)
{
    return n6_trust_fuses(N6_TRUST_REVOKED_WORD);
}
