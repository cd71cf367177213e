/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trust_fuses.h"

#define POLLS 1000000u
#define BITS 32u

/* Let BSEC load the fuses of a word into its shadow, or program them first. */
static bool transfer(uint32_t control)
{
    N6_REG32(N6_BSEC_OTPCR) = control;
    return n6_wait_for(N6_BSEC_OTPSR, N6_BSEC_OTPSR_BUSY, 0u, POLLS) && (N6_REG32(N6_BSEC_OTPSR) & N6_BSEC_OTPSR_PROGFAIL) == 0u;
}

bool n6_trust_advance(uint32_t counter)
{
    const uint32_t before = n6_trust_fuses(N6_TRUST_FLOOR_WORD), address = N6_FIELD(N6_BSEC_OTPCR_ADDR, N6_TRUST_FLOOR_WORD);
    uint32_t after = before;
    for (uint32_t bit = 0; bit < BITS && (uint32_t)__builtin_popcount(after) < counter; bit++) {
        after |= UINT32_C(1) << bit;
    }
    if (after == before) {
        return true;
    }
    if ((N6_REG32(N6_BSEC_BASE + N6_TRUST_LOCKS_OFFSET) >> N6_TRUST_FLOOR_WORD % BITS & 1u) != 0u) {
        return false;
    }
    /* The order of ST's HAL (HAL_BSEC_OTP_Program): the whole word, the command, and a comparison after a new load. */
    N6_REG32(N6_BSEC_WDR) = after;
    return transfer(address | N6_BSEC_OTPCR_PROG) && transfer(address) && n6_trust_fuses(N6_TRUST_FLOOR_WORD) == after;
}

uint32_t n6_trust_floor(void)
{
    return (uint32_t)__builtin_popcount(n6_trust_fuses(N6_TRUST_FLOOR_WORD));
}

uint32_t n6_trust_revoked(void)
{
    return n6_trust_fuses(N6_TRUST_REVOKED_WORD);
}
