/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that plays by block A of SAI1, and hears itself by block B; -DDOES= names the case. Frames of two words at
 * 64 MHz / (16 * 256) = 15625 a second.
 */
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "put.h"

#define POLL 0
#define NO_CLOCK 1
#define OF_OUTSIDE 2
#define HEAR 3
#define EXTERNAL_INTERRUPT 4
#define MONO 5

#define BLOCK_B(reg) ((reg) + 0x20u)
#define WORDS 64u
#define FROM_HSI 5u
#define DATA_16 (4u << N6_SAI_CR1_DS_POS)
#define DIVIDER (16u << N6_SAI_CR1_MCKDIV_POS)
#define SLAVE_OUT 2u
#define MASTER_IN 1u
#define SYNCHRONOUS (1u << N6_SAI_CR1_SYNCEN_POS)
#define STEREO (1u << N6_SAI_SLOTR_NBSLOT_POS | 3u << N6_SAI_SLOTR_SLOTEN_POS)
#define FULL 5u

const char n6_program[] = "test";

static uint32_t level(void)
{
    return (N6_REG32(N6_SAI1_SR) & N6_SAI_SR_FLVL) >> N6_SAI_SR_FLVL_POS;
}

static void open_sai(void)
{
    N6_REG32(N6_RCC_APB2ENSR) = N6_RCC_APB2ENR_SAI1EN;
    N6_REG32(N6_RCC_CCIPR7) = (DOES == NO_CLOCK ? 6u : FROM_HSI) << N6_RCC_CCIPR7_SAI1SEL_POS;
    N6_REG32(N6_SAI1_SLOTR) = STEREO;
    N6_REG32(BLOCK_B(N6_SAI1_SLOTR)) = STEREO;
    N6_REG32(N6_SAI1_FRCR) = 31u;
}

static void play(void)
{
    N6_REG32(N6_SAI1_CR1) = DATA_16 | DIVIDER | (DOES == MONO ? N6_SAI_CR1_MONO : 0u);
    put("idle=", N6_REG32(N6_SAI1_SR));
    N6_REG32(N6_SAI1_CR1) |= N6_SAI_CR1_SAIEN;
    for (uint32_t i = 0; i < WORDS; i++) {
        while (level() == FULL) {
        }
        N6_REG32(N6_SAI1_DR) = i & 1u ? 0x8000u | i : i;
    }
    while (level()) {
    }
    put("underrun=", N6_REG32(N6_SAI1_SR) & N6_SAI_SR_OVRUDR);
}

static void hear(void)
{
    N6_REG32(BLOCK_B(N6_SAI1_CR1)) = MASTER_IN | DATA_16 | SYNCHRONOUS;
    N6_REG32(N6_SAI1_CR1) = DATA_16 | DIVIDER | N6_SAI_CR1_SAIEN;
    N6_REG32(BLOCK_B(N6_SAI1_CR1)) |= N6_SAI_CR1_SAIEN;
    for (uint32_t i = 0; i < 4u; i++) {
        while (!(N6_REG32(BLOCK_B(N6_SAI1_SR)) & N6_SAI_SR_FREQ)) {
        }
        put("word=", N6_REG32(BLOCK_B(N6_SAI1_DR)));
    }
}

static void interrupt_itself(void)
{
    N6_REG32(N6_EXTI_IMR1) = 1u << 3;
    N6_REG32(N6_EXTI_SWIER1) = 1u << 3 | 1u << 5;
    put("pending=", N6_REG32(N6_EXTI_RPR1));
    /* Bits of interrupts 0 to 31 in ISPR0. */
    put("nvic=", N6_REG32(0xE000E200u));
    N6_REG32(N6_EXTI_RPR1) = 1u << 3;
    put("pending=", N6_REG32(N6_EXTI_RPR1));
    put("trigger=", N6_REG32(N6_EXTI_SWIER1));
    N6_REG32(N6_RCC_APB4ENSR2) = N6_RCC_APB4ENR2_SYSCFGEN;
    put("ready=", N6_REG32(N6_SYSCFG_VDDIO3CCSR));
    N6_REG32(N6_SYSCFG_VDDIO3CCCR) = N6_SYSCFG_VDDIO3CCCR_EN;
    put("ready=", N6_REG32(N6_SYSCFG_VDDIO3CCSR));
}

int main(void)
{
    (void)n6_clock_use_hsi();
    n6_console_open();
    open_sai();
    switch (DOES) {
    case HEAR:
        hear();
        break;
    case EXTERNAL_INTERRUPT:
        interrupt_itself();
        break;
    case OF_OUTSIDE:
        N6_REG32(N6_SAI1_CR1) = SLAVE_OUT | DATA_16 | N6_SAI_CR1_SAIEN;
        break;
    case NO_CLOCK:
        N6_REG32(N6_SAI1_CR1) = DATA_16 | DIVIDER | N6_SAI_CR1_SAIEN;
        break;
    default:
        play();
    }
    n6_put("end");
    n6_put_end();
    return 0;
}
