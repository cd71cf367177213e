/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers of DMA channels from memory to memory; -DDOES= names the case.
 */
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "put.h"

#define ONE_BLOCK 0
#define TWO_ITEMS 1
#define SIGNED_HALVES 2
#define PACKED_BYTES 3
#define NOTHING_THERE 4
#define TRIGGERED 5
#define UNCLEANED 6
#define ODD_BYTES 7
#define OVER_CODE 8

#define ENDED (N6_DMA_CSR_TCF | N6_DMA_CSR_DTEF | N6_DMA_CSR_ULEF | N6_DMA_CSR_USEF)
#define CHANNEL(number, reg) ((reg) + 0x80u * (number))
#define NUMBER 3u
#define PENDING(irq) (N6_REG32(N6_NVIC_ICPR + 4u * ((irq) / 32u)) >> (irq) % 32u & 1u)

const char n6_program[] = "test";

/* Buffers in AXISRAM2, in a 64 KiB that nothing else uses. */
static volatile uint32_t *const source = (volatile uint32_t *)0x341A0000u;
static volatile uint32_t *const destination = (volatile uint32_t *)0x341A1000u;
static volatile uint32_t *const item = (volatile uint32_t *)0x341A2000u;

static void set(uint32_t reg, uint32_t value)
{
    N6_REG32(CHANNEL(NUMBER, reg)) = value;
}

static void prepare(uint32_t from_width, uint32_t to_width, uint32_t bytes)
{
    set(N6_HPDMA1_CTR1, from_width | to_width << N6_DMA_CTR1_DDW_LOG2_POS | N6_DMA_CTR1_SINC | N6_DMA_CTR1_DINC);
    set(N6_HPDMA1_CTR2, N6_DMA_CTR2_SWREQ);
    set(N6_HPDMA1_CBR1, bytes);
    set(N6_HPDMA1_CSAR, (uint32_t)source);
    set(N6_HPDMA1_CDAR, (uint32_t)destination);
}

static __attribute__((noinline)) void run(void)
{
    N6_REG32(CHANNEL(NUMBER, N6_HPDMA1_CCR)) = N6_DMA_CCR_EN | N6_DMA_CSR_TCF; /* START */
    for (uint32_t tries = 0; tries < 10000u && !(N6_REG32(CHANNEL(NUMBER, N6_HPDMA1_CSR)) & ENDED); tries++) {
    }
    put("csr=", N6_REG32(CHANNEL(NUMBER, N6_HPDMA1_CSR)));
    put("left=", N6_REG32(CHANNEL(NUMBER, N6_HPDMA1_CBR1)));
}

static void two_items(void)
{
    prepare(2u, 2u, 8u);
    item[0] = 4u;                                   /* CBR1 */
    item[1] = (uint32_t)(source + 8);               /* CSAR */
    item[2] = 0u;                                   /* CLLR: the last */
    set(N6_HPDMA1_CLBAR, (uint32_t)item & N6_DMA_CLBAR_LBA);
    set(N6_HPDMA1_CLLR, ((uint32_t)item & N6_DMA_CLLR_LA) | N6_DMA_CLLR_UB1 | N6_DMA_CLLR_USA | N6_DMA_CLLR_ULL);
    set(N6_HPDMA1_CTR2, N6_DMA_CTR2_SWREQ | N6_DMA_CTR2_TCEM);
}

static void uncleaned(void)
{
    N6_REG32(N6_RCC_AHB2ENSR) = N6_RCC_AHB2ENR_RAMCFGEN;
    N6_REG32(N6_RCC_MEMENSR) = N6_RCC_MEMENR_AXISRAM3EN;
    N6_REG32(N6_RAMCFG_SRAM3_CR) = 0u;
    n6_caches_enable();
    N6_REG32(N6_AXISRAM3_BASE) = 0x55u;
    prepare(2u, 2u, 4u);
    set(N6_HPDMA1_CSAR, N6_AXISRAM3_BASE);
}

/* Call the function that the destination has: it returns a number. */
static uint32_t number_there(void)
{
    return ((uint32_t (*)(void))((uint32_t)destination | 1u))();
}

static void over_code(void)
{
    destination[0] = 0x47702001u; /* movs r0, #1; bx lr */
    source[0] = 0x47702002u;      /* movs r0, #2; bx lr */
    put("number=", number_there());
    run();
    put("number=", number_there());
}

int main(void)
{
    (void)n6_clock_use_hsi();
    n6_console_open();
    N6_REG32(N6_RCC_AHB5ENSR) = N6_RCC_AHB5ENR_HPDMA1EN;
    N6_REG32(N6_HPDMA1_SECCFGR) = 1u << NUMBER;
    for (uint32_t i = 0; i < 16u; i++) {
        source[i] = 0x80017FF0u + i;
        destination[i] = 0u;
    }
    prepare(2u, 2u, 64u);
    switch (DOES) {
    case TWO_ITEMS:
        two_items();
        break;
    case SIGNED_HALVES:
        prepare(1u, 2u, 8u);
        n6_modify(CHANNEL(NUMBER, N6_HPDMA1_CTR1), 0u, 1u << N6_DMA_CTR1_PAM_POS);
        break;
    case PACKED_BYTES:
        prepare(0u, 2u, 8u);
        n6_modify(CHANNEL(NUMBER, N6_HPDMA1_CTR1), 0u, 2u << N6_DMA_CTR1_PAM_POS);
        break;
    case NOTHING_THERE:
        set(N6_HPDMA1_CSAR, 0x20200000u);
        break;
    case TRIGGERED:
        n6_modify(CHANNEL(NUMBER, N6_HPDMA1_CTR2), 0u, 1u << N6_DMA_CTR2_TRIGPOL_POS);
        break;
    case UNCLEANED:
        uncleaned();
        break;
    case ODD_BYTES:
        set(N6_HPDMA1_CBR1, 62u);
        break;
    case OVER_CODE:
        over_code();
        break;
    }
    put("csr=", N6_REG32(CHANNEL(NUMBER, N6_HPDMA1_CSR)));
    run();
    put("smisr=", N6_REG32(N6_HPDMA1_SMISR));
    put("irq=", PENDING(N6_IRQ_HPDMA1_CH0 + NUMBER));
    for (uint32_t i = 0; i < 4u; i++) {
        put("word=", destination[i]);
    }
    put("last=", destination[15]);
    n6_put("end");
    n6_put_end();
    return 0;
}
