/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that captures two frames of the camera by pipe 2 of DCMIPP, and shows the second one; -DDOES= names the case.
 * The picture for the panel is a window of 32 x 16 pixels at (8, 4) on a panel of 64 x 32, with a fill of DMA2D on layer 2.
 */
#include "n6_axisram.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "put.h"

#define AS_IT_SHOULD 0
#define PITCH_TOO_SMALL 1
#define UNALIGNED 2
#define WRONG_LANES 3
#define WRONG_WIDTH 4
#define PHY_OFF 5
#define NOT_LET_BY_RIF 6
#define NO_MEMORY 7
#define BANK_OFF 8
#define DIRTY 9
#define NOT_CLEANED 10
#define NO_PIXEL_CLOCK 11
#define NO_RELOAD 12
#define EMPTY_RECTANGLE 13
#define NOT_MODELLED 14
#define RAW_PIPE 15
#define TOO_MUCH_SCALED 16
#define OFF_THE_PANEL 17
#define NO_CAMERA 18
#define DOUBLE_BUFFER 19
#define DISPLAY_NOT_LET_BY_RIF 22
#define FILL_NOT_LET_BY_RIF 23
#define WRONG_FORMAT 24
#define CSI_OFF 25
#define CHANNEL_STOPPED 26
#define PARALLEL_SOURCE 27
#define PIPE_OFF 28
#define NO_REQUEST 29
#define SENSOR_RESTS 30
#define SHORT_LINES 31
#define FEW_LINES 32
#define FILL_OVER_DIRTY 33
#define FILL_NOWHERE 34
#define DISPLAY_BANK_OFF 35
#define NO_CLOCK_OF_CSI 36
#define NO_CLOCK_OF_DCMIPP 37
#define NO_CLOCK_OF_LTDC 38
#define NO_CLOCK_OF_DMA2D 39
#define FILL_BANK_OFF 40

#define SENSOR 0x1Au
#define WIDTH 32u
#define HEIGHT 16u
#define PITCH (DOES == PITCH_TOO_SMALL ? 64u : WIDTH * 3u)
#define FRAME_AT 0x34200000u
#define OVERLAY_AT 0x34210000u
#define SECOND_AT 0x34220000u
#define NOTHING_AT 0x40000000u
#define OFF_AT 0x34270000u
#define PANEL_WIDTH 64u
#define PANEL_HEIGHT 32u
#define BACK_PORCH 3u
#define PIPE_2(reg) ((reg) + N6_DCMIPP_P2FSCR_OFFSET - N6_DCMIPP_P1FSCR_OFFSET)
#define LAYER_2(reg) ((reg) + 0x100u)
#define ATTRIBUTES(master) (N6_RIFSC_RIMC_ATTR0 + 4u * (master))
#define TRUSTED (N6_FIELD(N6_RIFSC_RIMC_ATTR1_MCID, 1) | N6_RIFSC_RIMC_ATTR1_MSEC | N6_RIFSC_RIMC_ATTR1_MPRIV)
#define MOST_POLLS 1000000u
#define FRAME_OF_PIPE_2 0x02000000u
#define DMA2D 8u
#define DCMIPP 9u
#define LTDC1 10u
#define LTDC2 11u

const char n6_program[] = "test";

static void write_sensor(uint32_t number, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(number >> 8), (uint8_t)number, (uint8_t)value};
    N6_REG32(N6_I2C1_CR2) = SENSOR << 1 | 3u << N6_I2C_CR2_NBYTES_POS | N6_I2C_CR2_START | N6_I2C_CR2_AUTOEND;
    for (uint32_t i = 0; i < 3u; i++) {
        while (!(N6_REG32(N6_I2C1_ISR) & (N6_I2C_ISR_TXIS | N6_I2C_ISR_NACKF))) {
        }
        N6_REG32(N6_I2C1_TXDR) = bytes[i];
    }
}

static void give_clocks(void)
{
    N6_REG32(N6_RCC_APB1ENSR1) = N6_RCC_APB1ENR1_I2C1EN;
    N6_REG32(N6_RCC_APB5ENSR) = (DOES == NO_CLOCK_OF_CSI ? 0u : N6_RCC_APB5ENR_CSIEN) |
                                (DOES == NO_CLOCK_OF_DCMIPP ? 0u : N6_RCC_APB5ENR_DCMIPPEN) |
                                (DOES == NO_CLOCK_OF_LTDC ? 0u : N6_RCC_APB5ENR_LTDCEN);
    N6_REG32(N6_RCC_AHB5ENSR) = DOES == NO_CLOCK_OF_DMA2D ? 0u : N6_RCC_AHB5ENR_DMA2DEN;
    N6_REG32(N6_RCC_AHB3ENSR) = N6_RCC_AHB3ENR_RIFSCEN;
    /* LTDC: HSI, or a divider that does not run. */
    N6_REG32(N6_RCC_CCIPR4) = (DOES == NO_PIXEL_CLOCK ? 2u : 3u) << N6_RCC_CCIPR4_LTDCSEL_POS;
    N6_REG32(ATTRIBUTES(DMA2D)) = DOES == FILL_NOT_LET_BY_RIF ? 0u : TRUSTED;
    N6_REG32(ATTRIBUTES(DCMIPP)) = DOES == NOT_LET_BY_RIF ? 0u : TRUSTED;
    N6_REG32(ATTRIBUTES(LTDC1)) = DOES == DISPLAY_NOT_LET_BY_RIF ? 0u : TRUSTED;
    N6_REG32(ATTRIBUTES(LTDC2)) = TRUSTED;
    N6_REG32(N6_RIFSC_SECCFGR2) = N6_RIFSC_SECCFGR2_CSI | N6_RIFSC_SECCFGR2_DCMIPP;
    N6_REG32(N6_RIFSC_SECCFGR3) = N6_RIFSC_SECCFGR3_DMA2D | N6_RIFSC_SECCFGR3_LTDC;
    N6_REG32(N6_I2C1_CR1) = N6_I2C_CR1_PE;
}

static void open_csi(void)
{
    N6_REG32(N6_CSI_LMCFGR) = (DOES == WRONG_LANES ? 1u : 2u) << N6_CSI_LMCFGR_LANENB_POS;
    N6_REG32(N6_CSI_PCR) = N6_CSI_PCR_PWRDOWN | N6_CSI_PCR_CLEN | N6_CSI_PCR_DL0EN | N6_CSI_PCR_DL1EN;
    N6_REG32(N6_CSI_PRCR) = DOES == PHY_OFF ? 0u : N6_CSI_PRCR_PEN;
    N6_REG32(N6_CSI_VC0CFGR1) = N6_CSI_VC0CFGR1_ALLDT | (DOES == WRONG_WIDTH ? 2u : 3u) << N6_CSI_VC0CFGR1_CDTFT_POS;
    N6_REG32(N6_CSI_CR) = DOES == CSI_OFF ? 0u : N6_CSI_CR_CSIEN;
    N6_REG32(N6_CSI_CR) |= DOES == CHANNEL_STOPPED ? 0u : N6_CSI_CR_VC0START;
    put("state=", N6_REG32(N6_CSI_SR0) & N6_CSI_SR0_VC0STATEF);
}

static uint32_t destination(void)
{
    switch (DOES) {
    case NO_MEMORY:
        return NOTHING_AT;
    case BANK_OFF:
        return OFF_AT;
    case UNALIGNED:
        return FRAME_AT + 4u;
    default:
        return FRAME_AT;
    }
}

/* Scale the middle of 2560 x 1280 pixels to 32 x 16: keep one of eight, then ten pixels to one would be too much for a step of
 * eight, so that the crop is 2048 x 1024: eight times eight. */
static void open_pipe(void)
{
    uint32_t format = DOES == NOT_MODELLED ? 6u : 0u;
    uint32_t ratio = DOES == TOO_MUCH_SCALED ? 20000u : 8u * 8192u - 1u;
    N6_REG32(N6_DCMIPP_CMCR) = DOES == PARALLEL_SOURCE ? 0u : N6_DCMIPP_CMCR_INSEL;
    N6_REG32(PIPE_2(N6_DCMIPP_P1CRSTR)) = 256u | 512u << N6_DCMIPP_P1CRSTR_VSTART_POS;
    N6_REG32(PIPE_2(N6_DCMIPP_P1CRSZR)) = 2048u | 1024u << N6_DCMIPP_P1CRSZR_VSIZE_POS | N6_DCMIPP_P1CRSZR_ENABLE;
    N6_REG32(PIPE_2(N6_DCMIPP_P1DCCR)) =
        DOES == TOO_MUCH_SCALED ? 0u
                                : N6_DCMIPP_P1DCCR_ENABLE | 3u << N6_DCMIPP_P1DCCR_HDEC_POS | 3u << N6_DCMIPP_P1DCCR_VDEC_POS;
    N6_REG32(PIPE_2(N6_DCMIPP_P1DSCR)) = 128u | 128u << N6_DCMIPP_P1DSCR_VDIV_POS | N6_DCMIPP_P1DSCR_ENABLE;
    N6_REG32(PIPE_2(N6_DCMIPP_P1DSRTIOR)) = ratio | ratio << N6_DCMIPP_P1DSRTIOR_VRATIO_POS;
    N6_REG32(PIPE_2(N6_DCMIPP_P1DSSZR)) =
        (DOES == TOO_MUCH_SCALED ? 1000u : WIDTH) | HEIGHT << N6_DCMIPP_P1DSSZR_VSIZE_POS;
    N6_REG32(PIPE_2(N6_DCMIPP_P1PPCR)) =
        format | N6_DCMIPP_P1PPCR_SWAPRB | (DOES == DOUBLE_BUFFER ? N6_DCMIPP_P1PPCR_DBM : 0u);
    N6_REG32(PIPE_2(N6_DCMIPP_P1PPM0AR1)) = destination();
    N6_REG32(PIPE_2(N6_DCMIPP_P1PPM0AR2)) = SECOND_AT;
    N6_REG32(PIPE_2(N6_DCMIPP_P1PPM0PR)) = PITCH;
    N6_REG32(N6_DCMIPP_P2FSCR) = DOES == PIPE_OFF ? 0u : N6_DCMIPP_P0FSCR_PIPEN;
    N6_REG32(N6_DCMIPP_P2FCTCR) = N6_DCMIPP_P0FCTCR_CPTMODE;
    if (DOES != NO_REQUEST) {
        N6_REG32(N6_DCMIPP_P2FCTCR) |= N6_DCMIPP_P0FCTCR_CPTREQ; /* CAPTURE */
    }
    if (DOES == RAW_PIPE) {
        N6_REG32(N6_DCMIPP_P0FSCR) = N6_DCMIPP_P0FSCR_PIPEN;
        N6_REG32(N6_DCMIPP_P0FCTCR) = N6_DCMIPP_P0FCTCR_CPTREQ; /* RAW */
    }
}

/* Give up after some more frames than the virtual board waits for. */
static void await_frame(void)
{
    for (uint32_t polls = 0; !(N6_REG32(N6_DCMIPP_CMSR2) & FRAME_OF_PIPE_2) && polls < MOST_POLLS; polls++) {
    }
    put("flags=", N6_REG32(N6_DCMIPP_CMSR2));
    N6_REG32(N6_DCMIPP_CMFCR) = 0xFFFFFFFFu;
    put("request=", N6_REG32(N6_DCMIPP_P2FCTCR) & N6_DCMIPP_P0FCTCR_CPTREQ);
}

static void show_layer(uint32_t first, uint32_t address, uint32_t format, uint32_t bytes)
{
    uint32_t left = 8u + BACK_PORCH + 1u, top = 4u + BACK_PORCH + 1u;
    uint32_t right = left + (DOES == OFF_THE_PANEL ? PANEL_WIDTH : WIDTH) - 1u;
    N6_REG32(first + N6_LTDC_L1WHPCR) = left | right << N6_LTDC_L1WHPCR_WHSPPOS_POS;
    N6_REG32(first + N6_LTDC_L1WVPCR) = top | (top + HEIGHT - 1u) << N6_LTDC_L1WVPCR_WVSPPOS_POS;
    N6_REG32(first + N6_LTDC_L1PFCR) = format;
    N6_REG32(first + N6_LTDC_L1CACR) = 0xFFu;
    N6_REG32(first + N6_LTDC_L1BFCR) = 6u << N6_LTDC_L1BFCR_BF1_POS | 7u;
    N6_REG32(first + N6_LTDC_L1CFBAR) = address;
    N6_REG32(first + N6_LTDC_L1CFBLR) =
        WIDTH * bytes << N6_LTDC_L1CFBLR_CFBP_POS | (WIDTH * bytes + (DOES == SHORT_LINES ? 0u : 7u));
    N6_REG32(first + N6_LTDC_L1CFBLNR) = DOES == FEW_LINES ? HEIGHT / 2u : HEIGHT;
    N6_REG32(first + N6_LTDC_L1CR) = N6_LTDC_L1CR_LEN;
    if (DOES != NO_RELOAD) {
        N6_REG32(first + N6_LTDC_L1RCR) = N6_LTDC_L1RCR_VBR; /* RELOAD */
    }
}

/* Fill a line of 8 pixels at (4, 2) with green. */
static void fill(void)
{
    N6_REG32(N6_DMA2D_OPFCCR) = 4u; /* ARGB4444 */
    N6_REG32(N6_DMA2D_OCOLR) = 0xF0F0u;
    N6_REG32(N6_DMA2D_OMAR) = DOES == FILL_NOWHERE    ? NOTHING_AT
                              : DOES == FILL_BANK_OFF ? OFF_AT
                                                      : OVERLAY_AT + 2u * (2u * WIDTH + 4u);
    N6_REG32(N6_DMA2D_OOR) = WIDTH - 8u;
    N6_REG32(N6_DMA2D_NLR) = (DOES == EMPTY_RECTANGLE ? 0u : 8u) << N6_DMA2D_NLR_PL_POS | 1u;
    N6_REG32(N6_DMA2D_CR) = 3u << N6_DMA2D_CR_MODE_POS | N6_DMA2D_CR_START; /* FILL */
    put("filled=", N6_REG32(N6_DMA2D_ISR));
}

static void show(void)
{
    volatile uint16_t *overlay = (volatile uint16_t *)OVERLAY_AT;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        overlay[i] = 0u;
    }
    overlay[0] = 0xF00Fu;
    if (DOES != NOT_CLEANED) {
        n6_dcache_clean(OVERLAY_AT, 2u * WIDTH * HEIGHT);
    }
    n6_dcache_invalidate(OVERLAY_AT, DOES == NOT_CLEANED ? 0u : 2u * WIDTH * HEIGHT);
    if (DOES == FILL_OVER_DIRTY) {
        overlay[2u * WIDTH + 4u] = 1u;
    }
    fill();
    N6_REG32(N6_LTDC_BPCR) = BACK_PORCH | BACK_PORCH << N6_LTDC_BPCR_AHBP_POS;
    N6_REG32(N6_LTDC_AWCR) = (PANEL_HEIGHT + BACK_PORCH) | (PANEL_WIDTH + BACK_PORCH) << N6_LTDC_AWCR_AAW_POS;
    N6_REG32(N6_LTDC_TWCR) = (PANEL_HEIGHT + 8u) | (PANEL_WIDTH + 8u) << N6_LTDC_TWCR_TOTALW_POS;
    N6_REG32(N6_LTDC_BCCR) = 0x00102030u;
    N6_REG32(LAYER_2(N6_LTDC_L1FPF0R)) = 12u | 4u << 5 | 8u << 9 | (DOES == WRONG_FORMAT ? 12u : 4u) << 14;
    N6_REG32(LAYER_2(N6_LTDC_L1FPF1R)) = 4u | 4u << 5 | 0u << 9 | 4u << 14 | 2u << 18;
    show_layer(0u, DOES == DISPLAY_BANK_OFF ? OFF_AT : FRAME_AT, 6u, 3u);
    show_layer(0x100u, OVERLAY_AT, 7u, 2u);
    N6_REG32(N6_LTDC_GCR) |= N6_LTDC_GCR_LTDCEN;
    if (DOES == NO_RELOAD || DOES == NO_PIXEL_CLOCK) {
        return;
    }
    while (N6_REG32(LAYER_2(N6_LTDC_L1RCR)) & N6_LTDC_L1RCR_VBR) {
    }
    put("reloaded=", N6_REG32(N6_LTDC_ISR2) & (N6_LTDC_ISR_LIF | N6_LTDC_ISR_RRIF));
}

int main(void)
{
    (void)n6_clock_use_hsi();
    n6_console_open();
    give_clocks();
    (void)n6_axisram_enable(N6_RCC_MEMENR_AXISRAM3EN, N6_RAMCFG_SRAM3_CR, N6_AXISRAM3_BASE, N6_AXISRAM4_BASE - 4u);
    n6_caches_enable();
    if (DOES == DIRTY) {
        *(volatile uint32_t *)FRAME_AT = 1u;
    }
    open_csi();
    open_pipe();
    if (DOES != SENSOR_RESTS) {
        write_sensor(0x3000u, 0u);
    }
    if (DOES != NO_CAMERA) {
        await_frame();
        if (DOES != NO_REQUEST) {
            N6_REG32(N6_DCMIPP_P2FCTCR) = N6_DCMIPP_P0FCTCR_CPTREQ | N6_DCMIPP_P0FCTCR_CPTMODE; /* AGAIN */
        }
        await_frame();
        n6_dcache_invalidate(FRAME_AT, PITCH * HEIGHT);
        show();
    }
    n6_put("end");
    n6_put_end();
    return 0;
}
