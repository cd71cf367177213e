/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that copies 4 KB of weights from the NOR to AXISRAM3 and lets the NPU read them.
 */
#include "n6_axisram.h"
#include "n6_board_slots.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_fault.h"
#include "n6_npu.h"
#include "n6_soc.h"
#include "n6_xspi_nor.h"

#include "steps.h"
#include "test_npu.h"

#define WEIGHTS_BYTES 4096u

const char n6_program[] = "test";

static void power(void)
{
#if WRONG_ALIAS
    /* An error of generated code: RAMCFG through its non-secure alias. */
    n6_enable(N6_RCC_AHB2ENSR, N6_RCC_AHB2ENR, N6_RCC_AHB2ENR_RAMCFGEN);
    n6_enable(N6_RCC_MEMENSR, N6_RCC_MEMENR, N6_RCC_MEMENR_AXISRAM3EN);
    N6_REG32(N6_RAMCFG_SRAM3_CR - 0x10000000u) = 0u;
#else
    (void)n6_axisram_enable(N6_RCC_MEMENR_AXISRAM3EN, N6_RAMCFG_SRAM3_CR, N6_AXISRAM3_BASE, N6_AXISRAM3_BASE + 4u);
#endif
}

static void copy_weights(void)
{
    for (uint32_t offset = 0; offset < WEIGHTS_BYTES; offset += 4u) {
        uint32_t word = N6_REG32(N6_SLOT_WEIGHTS_ADDRESS + offset); /* READ */
        N6_REG32(N6_AXISRAM3_BASE + offset) = word;                 /* WRITE */
    }
}

int main(void)
{
    uint32_t jedec_id;
    n6_caches_enable();
    (void)n6_clock_use_hsi();
    if (EARLY_SWITCH) {
        N6_REG32(N6_RCC_CFGR1) = N6_FIELD(N6_RCC_CFGR1_CPUSW, 3); /* CPU */
    }
    if (EARLY_BUSES) {
        N6_REG32(N6_RCC_CFGR1) = N6_FIELD(N6_RCC_CFGR1_SYSSW, 3); /* BUSES */
    }
    n6_console_open();
    if (!OMIT_MAP) {
        (void)n6_xspi_nor_open(&jedec_id);
    }
    if (!OMIT_POWER) {
        power();
    }
    (void)n6_npu_enable();
    if (!OMIT_RIF) {
        n6_npu_open_rif();
    }
    copy_weights();
    if (!OMIT_CLEAN) {
        n6_dcache_clean(N6_AXISRAM3_BASE, WEIGHTS_BYTES);
    }
    n6_put("sum=");
    n6_put_u32(test_npu_sum(N6_AXISRAM3_BASE, WEIGHTS_BYTES));
    n6_put_end();
    n6_put("end");
    n6_put_end();
    return 0;
}
