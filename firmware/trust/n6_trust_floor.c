/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust_floor.h"

#include "n6_reg.h"
#include "n6_soc_system.h"
#include "n6_trust_key.h"

uint32_t n6_trust_floor(void)
{
    /* The boot ROM leaves the clock of BSEC on. */
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_BSECEN);
    return (uint32_t)__builtin_popcount(N6_REG32(N6_BSEC_BASE + 4u * N6_TRUST_FLOOR_WORD));
}
