/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_TRUST_FUSES_H
#define N6_TRUST_FUSES_H

#include <stdint.h>

#include "n6_reg.h"
#include "n6_soc_system.h"
#include "n6_trust_key.h"

/* Return a fuse word: N6_TRUST_FLOOR_WORD or N6_TRUST_REVOKED_WORD. Fuse bits only change from 0 to 1. n6build reads fuses here,
 * and writes none. Both checks read them with code of their own. */
static inline uint32_t n6_trust_fuses(uint32_t word)
{
    /* The boot ROM leaves the clock of BSEC on. */
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_BSECEN);
    return N6_REG32(N6_BSEC_BASE + 4u * word);
}

/* Return the lowest security counter that the board accepts: the number of bits set in its fuse word. */
uint32_t n6_trust_floor(void);

/* Return the revoked keys, a bit for each. */
uint32_t n6_trust_revoked(void);

#endif
