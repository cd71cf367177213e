/* SPDX-License-Identifier: Apache-2.0
 *
 * As block 3 of network 1, the NPU copies a few bytes, and the program sleeps until the interrupt arrives. Each faulty variant
 * omits one step, by a -D.
 */
#include "n6_axisram.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_epoch_marker.h"
#include "n6_npu.h"
#include "n6_reg.h"
#include "n6_soc.h"

#define UNIT(number, offset) N6_REG32(N6_NPU_BASE + (number)*0x1000u + (offset))
#define CLKCTRL 0u
#define INTCTRL 1u
#define STRSWITCH 4u
#define READER 7u
#define WRITER 10u
#define BYTES 64u
/* STRENG CTRL: EN, DIR, RAW, 8 bits in lane 0. */
#define READS (1u | 1u << 8 | 8u << 16)
#define WRITES (READS | 1u << 3)
#define DONE (1u << (WRITER - 5u))

#ifndef MASK
#define MASK (~DONE)
#endif
#ifndef ENABLES
#define ENABLES 1
#endif
#ifndef HOLDS_BACK
#define HOLDS_BACK 0
#endif
#ifndef CLEANS
#define CLEANS 1
#endif

const char n6_program[] = "test";

#ifdef OVER_THE_END
/* The first half is in AXISRAM3, which is switched on; the second half is in AXISRAM4, which is not. */
static uint8_t *const source = (uint8_t *)(N6_AXISRAM4_BASE - BYTES / 2u);
#define SOURCE_BYTES (BYTES / 2u)
#else
static uint8_t source[BYTES] __attribute__((aligned(32)));
#define SOURCE_BYTES BYTES
#endif
static uint8_t target[BYTES] __attribute__((aligned(32)));
static volatile uint32_t is_done;

void NPU0_IRQHandler(void);
void NPU0_IRQHandler(void)
{
    UNIT(INTCTRL, 0x0Cu + 4u) = UNIT(INTCTRL, 0x08u);
    is_done = 1u;
}

static void set_engine(uint32_t unit, const uint8_t *data)
{
    UNIT(unit, 0x08u) = (uint32_t)(uintptr_t)data;
    UNIT(unit, 0x0Cu) = BYTES;
}

int main(void)
{
    n6_caches_enable();
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_npu_enable();
    n6_npu_open_rif();
#ifdef OVER_THE_END
    if (!n6_axisram_enable(N6_RCC_MEMENR_AXISRAM3EN, N6_RAMCFG_SRAM3_CR, N6_AXISRAM3_BASE, N6_AXISRAM4_BASE - 4u)) {
        return 1;
    }
#endif
    for (uint32_t i = 0; i < SOURCE_BYTES; i++) {
        source[i] = (uint8_t)(i + 1u);
    }
#if CLEANS
    n6_dcache_clean_invalidate((uintptr_t)source, SOURCE_BYTES);
#endif
    n6_dcache_clean_invalidate((uintptr_t)target, BYTES);
    N6_REG32(N6_ITM_STIM0 + 4u * N6_EPOCH_MARKER_PORT) = 1u << N6_EPOCH_MARKER_NETWORK_POS | 3u;
    UNIT(CLKCTRL, 0u) = 1u;
    UNIT(CLKCTRL, 0x08u) = UNIT(CLKCTRL, 0x0Cu) = UNIT(CLKCTRL, 0x10u) = 0xFFFFFFFFu;
    for (uint32_t line = 0; line < 4u; line++) {
        UNIT(INTCTRL, 0x14u + 4u * line) = 0xFFFFFFFFu;
        UNIT(INTCTRL, 0x24u + 4u * line) = 0xFFFFFFFFu;
    }
    UNIT(INTCTRL, 0x14u) = MASK;
#if ENABLES
    N6_REG32(N6_NVIC_ISER + 4u * (N6_IRQ_NPU0 / 32u)) = 1u << (N6_IRQ_NPU0 % 32u);
#endif
#if HOLDS_BACK
    __asm volatile("cpsid i");
#endif
    UNIT(STRSWITCH, 0x08u + 4u * (WRITER - 5u)) = 1u | (READER - 5u) << 1;
    set_engine(WRITER, target);
    set_engine(READER, source);
    UNIT(WRITER, 0u) = WRITES;
    UNIT(READER, 0u) = READS; /* WORK */
    while (is_done == 0u) {
        __asm volatile("wfe");
    }
    n6_dcache_clean_invalidate((uintptr_t)target, BYTES);
    n6_put("end last=");
    n6_put_u32(target[BYTES - 1u]);
    n6_put(" half=");
    n6_put_u32(target[BYTES / 2u - 1u]);
    n6_put_end();
    return 0;
}
