/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_TRUST_FUSES_H
#define N6_TRUST_FUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_reg.h"
#include "n6_soc_system.h"
#include "n6_trust_key.h"

/* Offset of the register with the locks of N6_TRUST_FLOOR_WORD. */
#define N6_TRUST_LOCKS_OFFSET (N6_BSEC_SPLOCK1_OFFSET - 4u + N6_TRUST_FLOOR_WORD / 32u * 4u)

/* Return a fuse word: N6_TRUST_FLOOR_WORD or N6_TRUST_REVOKED_WORD. Fuse bits only change from 0 to 1. Both checks read them with
 * code of their own. */
static inline uint32_t n6_trust_fuses(uint32_t word)
{
    /* The boot ROM leaves the clock of BSEC on. */
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_BSECEN);
    return N6_REG32(N6_BSEC_BASE + 4u * word);
}

/* Return the lowest security counter that the board accepts: the number of bits set in its fuse word. */
uint32_t n6_trust_floor(void);

/* Program fuses until the board accepts no counter below `counter`. They never go back. Return false if the chip refuses it. */
bool n6_trust_advance(uint32_t counter);

/* Return the revoked keys, a bit for each. */
uint32_t n6_trust_revoked(void);

#endif
