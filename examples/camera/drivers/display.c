/* SPDX-License-Identifier: Apache-2.0
 *
 * Order and values are those of ST's board support package for the STM32N6570-DK. This driver has seen the virtual board only.
 */
#include "display.h"

#include "n6_board_vision.h"
#include "n6_cache.h"
#include "n6_pins.h"
#include "n6_reg.h"
#include "n6_soc.h"

#if !N6_HAS_DISPLAY
#error "board.yaml describes no display: see the key display of boards/stm32n6570-dk/board.yaml"
#endif

#define POLLS 10000000u
/* Layer 2 has the registers of layer 1, 0x100 later. */
#define SECOND 0x100u
#define LAYER_RGB565 4u
#define LAYER_FLEXIBLE 7u
#define FILL_ARGB4444 4u
#define FILL 3u
#define HALF 0x8000u
#define OPAQUE 0xF000u
#define TRUSTED (N6_FIELD(N6_RIFSC_RIMC_ATTR1_MCID, 1) | N6_RIFSC_RIMC_ATTR1_MSEC | N6_RIFSC_RIMC_ATTR1_MPRIV)

/* The drawing that is not shown: 0 or 1. */
static uint32_t hidden;

static uint32_t drawing_of(const display_window_t *window, uint32_t number)
{
    return window->drawings + number * 2u * window->width * window->height;
}

static void open_pins(void)
{
    static const struct {
        uint32_t port, enable, lines;
    } pins[] = {N6_DISPLAY_PINS};
    static const struct {
        uint32_t port, enable, pin;
    } high[] = {N6_DISPLAY_HIGH};
    for (uint32_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, pins[i].enable);
        for (uint32_t pin = 0; pin < 16u; pin++) {
            if ((pins[i].lines >> pin & 1u) != 0u) {
                n6_pin_alternate(pins[i].port, pin, N6_DISPLAY_AF, N6_PULL_NONE);
            }
        }
    }
    for (uint32_t i = 0; i < sizeof high / sizeof high[0]; i++) {
        n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, high[i].enable);
        N6_REG32(high[i].port + N6_GPIO_BSRR_OFFSET) = 1u << high[i].pin;
        n6_modify(high[i].port + N6_GPIO_MODER_OFFSET, 3u << (2u * high[i].pin), 1u << (2u * high[i].pin));
    }
}

/* Let LTDC and DMA2D use memory of the secure state, as the CPU does. */
static void open_rif(void)
{
    n6_enable(N6_RCC_AHB3ENSR, N6_RCC_AHB3ENR, N6_RCC_AHB3ENR_RIFSCEN);
    N6_REG32(N6_RIFSC_RIMC_ATTR8) = TRUSTED;
    N6_REG32(N6_RIFSC_RIMC_ATTR10) = TRUSTED;
    N6_REG32(N6_RIFSC_RIMC_ATTR11) = TRUSTED;
    n6_modify(N6_RIFSC_SECCFGR3, 0u,
              N6_RIFSC_SECCFGR3_DMA2D | N6_RIFSC_SECCFGR3_LTDC | N6_RIFSC_SECCFGR3_LTDC_L1 | N6_RIFSC_SECCFGR3_LTDC_L2);
}

/* Positions of a layer count from the start of the synchronisation. */
static void open_layer(uint32_t layer, const display_window_t *window, uint32_t format, uint32_t address)
{
    uint32_t left = 2u * N6_DISPLAY_PORCH + (N6_DISPLAY_WIDTH - window->width) / 2u;
    uint32_t top = 2u * N6_DISPLAY_PORCH + (N6_DISPLAY_HEIGHT - window->height) / 2u;
    uint32_t line = 2u * window->width;
    N6_REG32(N6_LTDC_L1WHPCR + layer) =
        N6_FIELD(N6_LTDC_L1WHPCR_WHSTPOS, left) | N6_FIELD(N6_LTDC_L1WHPCR_WHSPPOS, left + window->width - 1u);
    N6_REG32(N6_LTDC_L1WVPCR + layer) =
        N6_FIELD(N6_LTDC_L1WVPCR_WVSTPOS, top) | N6_FIELD(N6_LTDC_L1WVPCR_WVSPPOS, top + window->height - 1u);
    N6_REG32(N6_LTDC_L1PFCR + layer) = format;
    N6_REG32(N6_LTDC_L1CACR + layer) = 0xFFu;
    N6_REG32(N6_LTDC_L1BFCR + layer) = N6_FIELD(N6_LTDC_L1BFCR_BF1, 6) | N6_FIELD(N6_LTDC_L1BFCR_BF2, 7); /* by the pixel's alpha */
    N6_REG32(N6_LTDC_L1CFBAR + layer) = address;
    N6_REG32(N6_LTDC_L1CFBLR + layer) = N6_FIELD(N6_LTDC_L1CFBLR_CFBP, line) | N6_FIELD(N6_LTDC_L1CFBLR_CFBLL, line + 7u);
    N6_REG32(N6_LTDC_L1CFBLNR + layer) = window->height;
    N6_REG32(N6_LTDC_L1CR + layer) = N6_LTDC_L1CR_LEN;
    N6_REG32(N6_LTDC_L1RCR + layer) = N6_LTDC_L1RCR_IMR | N6_LTDC_L1RCR_GRMSK;
}

const char *display_open(const display_window_t *window)
{
    if (window->width > N6_DISPLAY_WIDTH || window->height > N6_DISPLAY_HEIGHT) {
        return "the window is larger than the panel";
    }
    open_pins();
    open_rif();
    N6_REG32(N6_RCC_IC16CFGR) = N6_FIELD(N6_RCC_IC1CFGR_INT, N6_DISPLAY_DIVIDER - 1u);
    n6_enable(N6_RCC_DIVENSR, N6_RCC_DIVENR, N6_RCC_DIVENR_IC16EN);
    n6_modify(N6_RCC_CCIPR4, N6_RCC_CCIPR4_LTDCSEL, N6_FIELD(N6_RCC_CCIPR4_LTDCSEL, 2)); /* IC16 */
    n6_enable(N6_RCC_APB5ENSR, N6_RCC_APB5ENR, N6_RCC_APB5ENR_LTDCEN);
    n6_enable(N6_RCC_AHB5ENSR, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_DMA2DEN);
    for (hidden = 0; hidden < 2u; hidden++) {
        display_fill(window, 0, 0, (int32_t)window->width, (int32_t)window->height, DISPLAY_CLEAR);
    }
    hidden = 1u;
    const uint32_t porch = N6_DISPLAY_PORCH, wide = N6_DISPLAY_WIDTH, high = N6_DISPLAY_HEIGHT;
    N6_REG32(N6_LTDC_SSCR) = N6_FIELD(N6_LTDC_SSCR_HSW, porch - 1u) | N6_FIELD(N6_LTDC_SSCR_VSH, porch - 1u);
    N6_REG32(N6_LTDC_BPCR) = N6_FIELD(N6_LTDC_BPCR_AHBP, 2u * porch - 1u) | N6_FIELD(N6_LTDC_BPCR_AVBP, 2u * porch - 1u);
    N6_REG32(N6_LTDC_AWCR) = N6_FIELD(N6_LTDC_AWCR_AAW, 2u * porch + wide - 1u) | N6_FIELD(N6_LTDC_AWCR_AAH, 2u * porch + high - 1u);
    N6_REG32(N6_LTDC_TWCR) =
        N6_FIELD(N6_LTDC_TWCR_TOTALW, 3u * porch + wide - 1u) | N6_FIELD(N6_LTDC_TWCR_TOTALH, 3u * porch + high - 1u);
    N6_REG32(N6_LTDC_BCCR) = 0u;
    /* ARGB4444, from alpha in the upper four bits to blue in the lower ones, two bytes a pixel. */
    N6_REG32(N6_LTDC_L1FPF0R + SECOND) = N6_FIELD(N6_LTDC_L1FPF0R_APOS, 12) | N6_FIELD(N6_LTDC_L1FPF0R_ALEN, 4) |
                                         N6_FIELD(N6_LTDC_L1FPF0R_RPOS, 8) | N6_FIELD(N6_LTDC_L1FPF0R_RLEN, 4);
    N6_REG32(N6_LTDC_L1FPF1R + SECOND) = N6_FIELD(N6_LTDC_L1FPF1R_GPOS, 4) | N6_FIELD(N6_LTDC_L1FPF1R_GLEN, 4) |
                                         N6_FIELD(N6_LTDC_L1FPF1R_BLEN, 4) | N6_FIELD(N6_LTDC_L1FPF1R_PSIZE, 2);
    open_layer(0u, window, LAYER_RGB565, window->picture);
    open_layer(SECOND, window, LAYER_FLEXIBLE, drawing_of(window, 0u));
    n6_modify(N6_LTDC_GCR, 0u, N6_LTDC_GCR_PCPOL | N6_LTDC_GCR_LTDCEN);
    return "";
}

void display_fill(const display_window_t *window, int32_t x, int32_t y, int32_t width, int32_t height, display_colour_t colour)
{
    int32_t right = x + width, bottom = y + height;
    x = x < 0 ? 0 : x;
    y = y < 0 ? 0 : y;
    right = right > (int32_t)window->width ? (int32_t)window->width : right;
    bottom = bottom > (int32_t)window->height ? (int32_t)window->height : bottom;
    if (right <= x || bottom <= y) {
        return;
    }
    uint32_t columns = (uint32_t)(right - x), rows = (uint32_t)(bottom - y);
    N6_REG32(N6_DMA2D_OPFCCR) = FILL_ARGB4444;
    N6_REG32(N6_DMA2D_OCOLR) = (uint32_t)colour;
    N6_REG32(N6_DMA2D_OMAR) = drawing_of(window, hidden) + 2u * ((uint32_t)y * window->width + (uint32_t)x);
    N6_REG32(N6_DMA2D_OOR) = window->width - columns;
    N6_REG32(N6_DMA2D_NLR) = N6_FIELD(N6_DMA2D_NLR_PL, columns) | N6_FIELD(N6_DMA2D_NLR_NL, rows);
    N6_REG32(N6_DMA2D_CR) = N6_FIELD(N6_DMA2D_CR_MODE, FILL) | N6_DMA2D_CR_START;
    (void)n6_wait_for(N6_DMA2D_CR, N6_DMA2D_CR_START, 0u, POLLS);
}

void display_box(const display_window_t *window, int32_t x, int32_t y, int32_t width, int32_t height, display_colour_t colour)
{
    display_fill(window, x, y, width, 1, colour);
    display_fill(window, x, y + height - 1, width, 1, colour);
    display_fill(window, x, y, 1, height, colour);
    display_fill(window, x + width - 1, y, 1, height, colour);
}

void display_areas(const display_window_t *window, const uint8_t *classes, uint32_t columns, uint32_t rows,
                   const display_colour_t *colours, uint32_t count)
{
    const uint32_t drawing = drawing_of(window, hidden), width = window->width, height = window->height;
    uint16_t *pixel = (uint16_t *)drawing;
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row = classes + (2u * y + 1u) * rows / (2u * height) * columns;
        for (uint32_t x = 0; x < width; x++) {
            uint32_t class = row[(2u * x + 1u) * columns / (2u * width)];
            *pixel++ = (uint16_t)(class == 0u ? (uint32_t)DISPLAY_CLEAR : ((uint32_t)colours[class % count] & ~OPAQUE) | HALF);
        }
    }
    n6_dcache_clean(drawing, 2u * width * height);
}

void display_next(const display_window_t *window)
{
    N6_REG32(N6_LTDC_L1CFBAR + SECOND) = drawing_of(window, hidden);
    N6_REG32(N6_LTDC_L1RCR + SECOND) = N6_LTDC_L1RCR_VBR | N6_LTDC_L1RCR_GRMSK;
    /* The drawing that was shown is free from the reload on. */
    (void)n6_wait_for(N6_LTDC_L1RCR + SECOND, N6_LTDC_L1RCR_VBR, 0u, POLLS);
    hidden ^= 1u;
    display_fill(window, 0, 0, (int32_t)window->width, (int32_t)window->height, DISPLAY_CLEAR);
}
