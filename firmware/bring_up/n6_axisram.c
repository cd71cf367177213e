/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_axisram.h"

#include "n6_cache.h"
#include "n6_reg.h"
#include "n6_soc_system.h"

/* Write a word, clean and invalidate its cache line, and compare. The value read back comes from memory. No dirty line remains
 * that would later overwrite data of the NPU. */
static bool keeps(uint32_t address, uint32_t pattern)
{
    N6_REG32(address) = pattern;
    n6_dcache_clean_invalidate(address, sizeof pattern);
    return N6_REG32(address) == pattern;
}

bool n6_axisram_enable(uint32_t rcc_enable_mask, uint32_t ramcfg_cr, uint32_t first_word, uint32_t last_word)
{
    n6_enable(N6_RCC_AHB2ENSR, N6_RCC_AHB2ENR, N6_RCC_AHB2ENR_RAMCFGEN);
    n6_enable(N6_RCC_MEMENSR, N6_RCC_MEMENR, rcc_enable_mask);
    n6_modify(ramcfg_cr, N6_RAMCFG_CR_SRAMSD, 0u);
    n6_barrier();
    /* The clock stays on in Sleep: a program waits for the NPU with WFE. MEMLPENR has the bits of MEMENR. */
    N6_REG32(N6_RCC_MEMLPENSR) = rcc_enable_mask;
    return keeps(first_word, 0xA5C3F00Du) && keeps(last_word, 0x5A3C0FF2u) && keeps(first_word, 0u) && keeps(last_word, 0u);
}
