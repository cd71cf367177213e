/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that listens to a microphone with filter 2 of MDF1, at 64 MHz / 16 / 256 = 15625 samples a second; -DDOES= names
 * the case.
 */
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "put.h"

#define POLL 0
#define CIRCULAR_DMA 1
#define TOO_SLOW 2
#define NO_CLOCK 3

#define FILTER(reg) ((reg) + 0x80u * 2u)
#define SAMPLES 8u
#define FROM_HSI 5u

const char n6_program[] = "test";

static volatile uint32_t *const item = (volatile uint32_t *)0x341A0000u;
static volatile int32_t *const heard = (volatile int32_t *)0x341A1000u;

static void listen(uint32_t flags)
{
    N6_REG32(N6_RCC_AHB2ENSR) = N6_RCC_AHB2ENR_MDF1EN;
    N6_REG32(N6_RCC_CCIPR5) = FROM_HSI << N6_RCC_CCIPR5_MDF1SEL_POS;
    uint32_t generator = 15u << N6_MDF_CKGCR_CCKDIV_POS | N6_MDF_CKGCR_CCK0DIR | N6_MDF_CKGCR_CCK0EN;
    N6_REG32(N6_MDF1_CKGCR) = DOES == NO_CLOCK ? generator : generator | N6_MDF_CKGCR_CKDEN;
    N6_REG32(FILTER(N6_MDF1_SITFCR)) = N6_MDF_SITFCR_SITFEN;
    N6_REG32(FILTER(N6_MDF1_DFLTCICR)) = 255u << N6_MDF_DFLTCICR_MCICD_POS;
    N6_REG32(FILTER(N6_MDF1_DFLTRSFR)) = N6_MDF_DFLTRSFR_RSFLTBYP;
    N6_REG32(FILTER(N6_MDF1_DFLTCR)) = N6_MDF_DFLTCR_DFLTEN | flags; /* LISTEN */
}

static void count_cycles(void)
{
    N6_REG32(N6_DCB_DEMCR) = N6_DCB_DEMCR_TRCENA;
    N6_REG32(N6_DWT_CTRL) = N6_DWT_CTRL_CYCCNTENA;
}

static uint32_t poll(void)
{
    while (!(N6_REG32(FILTER(N6_MDF1_DFLTISR)) & N6_MDF_DFLTISR_RXNEF)) {
    }
    return N6_REG32(FILTER(N6_MDF1_DFLTDR));
}

/* Listen as ST's HAL does: with an item that links to itself, and events at half and at the end. */
static void listen_by_dma(void)
{
    N6_REG32(N6_RCC_AHB1ENSR) = N6_RCC_AHB1ENR_GPDMA1EN;
    item[0] = 2u | 2u << N6_DMA_CTR1_DDW_LOG2_POS | N6_DMA_CTR1_DINC;
    item[1] = N6_DMA_REQUEST_MDF1_FLT0 + 2u;
    item[2] = SAMPLES * 4u;
    item[3] = FILTER(N6_MDF1_DFLTDR);
    item[4] = (uint32_t)heard;
    item[5] = ((uint32_t)item & N6_DMA_CLLR_LA) | N6_DMA_CLLR_UT1 | N6_DMA_CLLR_UT2 | N6_DMA_CLLR_UB1 | N6_DMA_CLLR_USA |
              N6_DMA_CLLR_UDA | N6_DMA_CLLR_ULL;
    N6_REG32(N6_GPDMA1_CLBAR) = (uint32_t)item & N6_DMA_CLBAR_LBA;
    N6_REG32(N6_GPDMA1_CLLR) = item[5];
    N6_REG32(N6_GPDMA1_CCR) = N6_DMA_CCR_EN;
    listen(N6_MDF_DFLTCR_DMAEN);
    while (!(N6_REG32(N6_GPDMA1_CSR) & N6_DMA_CSR_HTF)) {
    }
    put("half=", N6_REG32(N6_GPDMA1_CSR));
    put("left=", N6_REG32(N6_GPDMA1_CBR1));
    for (unsigned round = 0; round < 2u; round++) {
        while (!(N6_REG32(N6_GPDMA1_CSR) & N6_DMA_CSR_TCF)) {
        }
        N6_REG32(N6_GPDMA1_CFCR) = N6_DMA_CSR_TCF | N6_DMA_CSR_HTF;
        for (uint32_t i = 0; i < SAMPLES; i++) {
            put("sample=", (uint32_t)heard[i] >> 8);
        }
    }
}

int main(void)
{
    (void)n6_clock_use_hsi();
    n6_console_open();
    switch (DOES) {
    case CIRCULAR_DMA:
        listen_by_dma();
        break;
    case TOO_SLOW:
        listen(0u);
        while (!(N6_REG32(FILTER(N6_MDF1_DFLTISR)) & N6_MDF_DFLTISR_DOVRF)) {
        }
        for (uint32_t i = 0; i < 4u; i++) {
            put("sample=", poll() >> 8);
        }
        N6_REG32(FILTER(N6_MDF1_DFLTISR)) = N6_MDF_DFLTISR_DOVRF;
        put("next=", poll() >> 8);
        put("isr=", N6_REG32(FILTER(N6_MDF1_DFLTISR)));
        break;
    case POLL:
    case NO_CLOCK:
        count_cycles();
        listen(0u);
        if (DOES == NO_CLOCK) {
            break;
        }
        uint32_t first = poll(), before = N6_REG32(N6_DWT_CYCCNT);
        for (uint32_t i = 0; i < 100u; i++) {
            (void)poll();
        }
        put("first=", first >> 8);
        put("cycles=", N6_REG32(N6_DWT_CYCCNT) - before);
        put("irq=", N6_REG32(FILTER(N6_MDF1_DFLTCR)));
        break;
    }
    n6_put("end");
    n6_put_end();
    return 0;
}
