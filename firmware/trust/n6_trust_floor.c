/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust_floor.h"

#include "n6_reg.h"
#include "n6_soc_system.h"
#include "n6_trust_key.h"

static const uint16_t words[] = N6_TRUST_FLOOR_WORDS;

uint32_t n6_trust_floor(n6_trust_kind_t kind)
{
    /* The boot ROM leaves the clock of BSEC on; an Appli may have switched it off. */
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_BSECEN);
    return (uint32_t)__builtin_popcount(N6_REG32(N6_BSEC_BASE + 4u * words[kind]));
}
