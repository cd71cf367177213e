/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the steps, and values without a public meaning, are those of ST's camera middleware and HAL on the STM32N6570-DK.
 * This driver has seen the virtual board only.
 */
#include "camera.h"

#include "n6_board_vision.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_pins.h"
#include "n6_reg.h"
#include "n6_soc.h"

#if !N6_HAS_CAMERA
#error "board.yaml describes no camera: see the key camera of boards/stm32n6570-dk/board.yaml"
#endif

#define POLLS 1000000u
/* A tenth of a second: three frames. */
#define FRAME_POLLS 1000u
#define POLL_US 100u

/* Pipe 2 has the registers of pipe 1 from its crop on, 0x400 later. */
#define SECOND 0x400u
#define FRAME_OF_PIPE_2 (N6_DCMIPP_CMSR2_P0FRAMEF << 16)
#define MOST_SCALED 63u
#define RAW10 0x2Bu
#define TEN_BITS 3u
#define RGB888 0u
#define RGB565 1u

static void set_output(uint32_t port, uint32_t pin, bool is_high)
{
    N6_REG32(port + N6_GPIO_BSRR_OFFSET) = 1u << (is_high ? pin : pin + 16u);
    n6_modify(port + N6_GPIO_MODER_OFFSET, 3u << (2u * pin), 1u << (2u * pin));
}

static void start_divider(uint32_t configuration, uint32_t enable, uint32_t divider)
{
    N6_REG32(configuration) = N6_FIELD(N6_RCC_IC1CFGR_INT, divider - 1u); /* from PLL1 */
    n6_enable(N6_RCC_DIVENSR, N6_RCC_DIVENR, enable);
}

static void power_sensor(void)
{
    n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR,
              N6_CAMERA_RESET_PORT_ENABLE | N6_CAMERA_ENABLE_PORT_ENABLE | N6_CAMERA_SCL_PORT_ENABLE | N6_CAMERA_SDA_PORT_ENABLE |
                  N6_RCC_AHB4ENR_PWREN);
    n6_modify(N6_PWR_SVMCR1, 0u, N6_CAMERA_SUPPLY);
    set_output(N6_CAMERA_ENABLE_PORT_BASE, N6_CAMERA_ENABLE_PIN, true);
    set_output(N6_CAMERA_RESET_PORT_BASE, N6_CAMERA_RESET_PIN, false);
    n6_delay_us(10000u);
    set_output(N6_CAMERA_RESET_PORT_BASE, N6_CAMERA_RESET_PIN, true);
    n6_delay_us(10000u);
}

static void open_bus(void)
{
    static const struct {
        uint32_t port, pin;
    } pins[] = {{N6_CAMERA_SCL_PORT_BASE, N6_CAMERA_SCL_PIN}, {N6_CAMERA_SDA_PORT_BASE, N6_CAMERA_SDA_PIN}};
    for (uint32_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        n6_pin_alternate(pins[i].port, pins[i].pin, N6_CAMERA_I2C_AF, N6_PULL_UP);
        n6_modify(pins[i].port + N6_GPIO_OTYPER_OFFSET, 0u, 1u << pins[i].pin);
    }
    n6_enable(N6_RCC_APB1ENSR1, N6_RCC_APB1ENR1, N6_RCC_APB1ENR1_I2C1EN);
    n6_modify(N6_RCC_CCIPR4, N6_RCC_CCIPR4_I2C1SEL, N6_FIELD(N6_RCC_CCIPR4_I2C1SEL, 5)); /* HSI */
    N6_REG32(N6_I2C1_CR1) = 0u;
    /* 100 kHz of 64 MHz: a prescaler of 16, then 20 ticks low and 16 high. */
    N6_REG32(N6_I2C1_TIMINGR) = 0xF0420F13u;
    N6_REG32(N6_I2C1_CR1) = N6_I2C_CR1_PE;
}

/* Write a register of the sensor: its number in two bytes, the upper one first, and a byte. */
static bool write_sensor(uint32_t number, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(number >> 8), (uint8_t)number, (uint8_t)value};
    N6_REG32(N6_I2C1_ICR) = N6_I2C_ICR_NACKCF | N6_I2C_ICR_STOPCF;
    N6_REG32(N6_I2C1_CR2) = N6_CAMERA_ADDRESS << 1 | N6_FIELD(N6_I2C_CR2_NBYTES, sizeof bytes) | N6_I2C_CR2_START | N6_I2C_CR2_AUTOEND;
    for (uint32_t i = 0; i < sizeof bytes; i++) {
        uint32_t polls = POLLS;
        while ((N6_REG32(N6_I2C1_ISR) & (N6_I2C_ISR_TXIS | N6_I2C_ISR_NACKF)) == 0u && polls-- != 0u) {
        }
        if ((N6_REG32(N6_I2C1_ISR) & N6_I2C_ISR_TXIS) == 0u) {
            return false;
        }
        N6_REG32(N6_I2C1_TXDR) = bytes[i];
    }
    return n6_wait_for(N6_I2C1_ISR, N6_I2C_ISR_STOPF, N6_I2C_ISR_STOPF, POLLS);
}

static bool set_sensor(void)
{
    static const uint16_t settings[][2] = {N6_CAMERA_SETTINGS};
    for (uint32_t i = 0; settings[i][0] != 0u; i++) {
        if (!write_sensor(settings[i][0], settings[i][1])) {
            return false;
        }
    }
    return true;
}

/* Write a register of the PHY by its test interface: the address and then the value, each with the falling edge of its clock. */
static void write_phy(uint32_t address, uint32_t value)
{
    const uint32_t words[][2] = {
        {N6_CSI_PTCR1_TWM, N6_CSI_PTCR1_TWM}, {0u, 0u}, {N6_CSI_PTCR1_TWM, N6_CSI_PTCR1_TWM | address}, {value, value}};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        N6_REG32(N6_CSI_PTCR1) = words[i][0];
        N6_REG32(N6_CSI_PTCR0) = N6_CSI_PTCR0_TCKEN;
        N6_REG32(N6_CSI_PTCR1) = words[i][1];
        N6_REG32(N6_CSI_PTCR0) = 0u;
    }
}

/* Open the receiver, and its PHY for 1600 Mbit/s, with a clock of 20 MHz. */
static void open_csi(void)
{
    /* Lane 0 of the connector is lane 1 here, and lane 1 lane 2. */
    N6_REG32(N6_CSI_LMCFGR) = N6_FIELD(N6_CSI_LMCFGR_LANENB, N6_CAMERA_LANES) | N6_FIELD(N6_CSI_LMCFGR_DL0MAP, 1) |
                              N6_FIELD(N6_CSI_LMCFGR_DL1MAP, 2);
    N6_REG32(N6_CSI_CR) = N6_CSI_CR_CSIEN;
    N6_REG32(N6_CSI_PRCR) = 0u;
    N6_REG32(N6_CSI_PCR) = 0u;
    N6_REG32(N6_CSI_PTCR0) = N6_CSI_PTCR0_TCKEN;
    n6_delay_us(1000u);
    N6_REG32(N6_CSI_PTCR0) = 0u;
    const uint32_t speed = N6_FIELD(N6_CSI_PFCR_CCFR, 0x28) | N6_FIELD(N6_CSI_PFCR_HSFR, 0x0D);
    N6_REG32(N6_CSI_PFCR) = speed;
    write_phy(0x08u, 0x38u);
    write_phy(0xE4u, 0x11u);
    /* The oscillator's target, 295, in two registers: as Linux writes it. ST's HAL writes 0xE3 twice. */
    write_phy(0xE2u, 295u & 0xFFu);
    write_phy(0xE3u, 295u >> 8);
    N6_REG32(N6_CSI_PFCR) = speed | N6_CSI_PFCR_DLD;
    N6_REG32(N6_CSI_PCR) =
        N6_CSI_PCR_PWRDOWN | N6_CSI_PCR_CLEN | N6_CSI_PCR_DL0EN | (N6_CAMERA_LANES > 1u ? N6_CSI_PCR_DL1EN : 0u);
    N6_REG32(N6_CSI_PRCR) = N6_CSI_PRCR_PEN;
    N6_REG32(N6_CSI_PMCR) = 0u;
    N6_REG32(N6_CSI_VC0CFGR1) = N6_CSI_VC0CFGR1_ALLDT | N6_FIELD(N6_CSI_VC0CFGR1_CDTFT, TEN_BITS);
}

/* Let the masters of camera and display use memory of the secure state, as the CPU does. */
static void open_rif(void)
{
    n6_enable(N6_RCC_AHB3ENSR, N6_RCC_AHB3ENR, N6_RCC_AHB3ENR_RIFSCEN);
    N6_REG32(N6_RIFSC_RIMC_ATTR9) =
        N6_FIELD(N6_RIFSC_RIMC_ATTR1_MCID, 1) | N6_RIFSC_RIMC_ATTR1_MSEC | N6_RIFSC_RIMC_ATTR1_MPRIV;
    n6_modify(N6_RIFSC_SECCFGR2, 0u, N6_RIFSC_SECCFGR2_CSI | N6_RIFSC_SECCFGR2_DCMIPP);
}

/* Give raw pixels their colours: no decimation, black level, the gains of daylight, the pattern of the sensor, a gamma of 2.2. In
 * poor light the sensor needs larger gains, and in other light than that of the day EXCR1 and EXCR2 others. */
static void open_isp(void)
{
    N6_REG32(N6_DCMIPP_P1DECR) = N6_DCMIPP_P1DECR_ENABLE;
    N6_REG32(N6_DCMIPP_P1BLCCR) = N6_FIELD(N6_DCMIPP_P1BLCCR_BLCR, N6_CAMERA_BLACK) |
                                  N6_FIELD(N6_DCMIPP_P1BLCCR_BLCG, N6_CAMERA_BLACK) |
                                  N6_FIELD(N6_DCMIPP_P1BLCCR_BLCB, N6_CAMERA_BLACK) | N6_DCMIPP_P1BLCCR_ENABLE;
    N6_REG32(N6_DCMIPP_P1EXCR2) = N6_FIELD(N6_DCMIPP_P1EXCR2_MULTG, N6_CAMERA_GREEN_GAIN) |
                                  N6_FIELD(N6_DCMIPP_P1EXCR2_SHFG, N6_CAMERA_GREEN_SHIFT) |
                                  N6_FIELD(N6_DCMIPP_P1EXCR2_MULTB, N6_CAMERA_BLUE_GAIN) |
                                  N6_FIELD(N6_DCMIPP_P1EXCR2_SHFB, N6_CAMERA_BLUE_SHIFT);
    N6_REG32(N6_DCMIPP_P1EXCR1) = N6_FIELD(N6_DCMIPP_P1EXCR1_MULTR, N6_CAMERA_RED_GAIN) |
                                  N6_FIELD(N6_DCMIPP_P1EXCR1_SHFR, N6_CAMERA_RED_SHIFT) | N6_DCMIPP_P1EXCR1_ENABLE;
    N6_REG32(N6_DCMIPP_P1DMCR) = N6_FIELD(N6_DCMIPP_P1DMCR_TYPE, N6_CAMERA_PATTERN) | N6_FIELD(N6_DCMIPP_P1DMCR_PEAK, 2) |
                                 N6_FIELD(N6_DCMIPP_P1DMCR_LINEV, 4) | N6_FIELD(N6_DCMIPP_P1DMCR_LINEH, 4) |
                                 N6_FIELD(N6_DCMIPP_P1DMCR_EDGE, 6) | N6_DCMIPP_P1DMCR_ENABLE;
    N6_REG32(N6_DCMIPP_P1GMCR) = 1u;
    N6_REG32(N6_DCMIPP_P1GMCR + SECOND) = 1u;
}

const char *camera_open(void)
{
    power_sensor();
    open_bus();
    if (!set_sensor()) {
        return "no sensor answers on its bus: is the camera module in its connector, and on the virtual board camera= set?";
    }
    start_divider(N6_RCC_IC17CFGR, N6_RCC_DIVENR_IC17EN, N6_CAMERA_DCMIPP_DIVIDER);
    start_divider(N6_RCC_IC18CFGR, N6_RCC_DIVENR_IC18EN, N6_CAMERA_PHY_DIVIDER);
    n6_modify(N6_RCC_CCIPR1, N6_RCC_CCIPR1_DCMIPPSEL, N6_FIELD(N6_RCC_CCIPR1_DCMIPPSEL, 2)); /* IC17 */
    n6_enable(N6_RCC_APB5ENSR, N6_RCC_APB5ENR, N6_RCC_APB5ENR_DCMIPPEN | N6_RCC_APB5ENR_CSIEN);
    open_rif();
    open_csi();
    N6_REG32(N6_DCMIPP_PRCR) = 0u;
    N6_REG32(N6_DCMIPP_CMCR) = N6_DCMIPP_CMCR_INSEL;
    N6_REG32(N6_DCMIPP_P1FSCR) = RAW10;
    N6_REG32(N6_DCMIPP_P2FSCR) = RAW10;
    open_isp();
    N6_REG32(N6_CSI_CR) |= N6_CSI_CR_VC0START;
    if (!n6_wait_for(N6_CSI_SR0, N6_CSI_SR0_VC0STATEF, N6_CSI_SR0_VC0STATEF, POLLS)) {
        return "CSI does not start: does its PHY have a clock (IC18)?";
    }
    if (!write_sensor(N6_CAMERA_START_REGISTER, N6_CAMERA_START_VALUE)) {
        return "the sensor does not start";
    }
    return "";
}

uint32_t camera_pitch(uint32_t width)
{
    return (3u * width + 15u) / 16u * 16u;
}

camera_part_t camera_middle(uint32_t width, uint32_t height, bool is_stretched)
{
    camera_part_t part = {0u, 0u, N6_CAMERA_WIDTH, N6_CAMERA_HEIGHT};
    if (!is_stretched && N6_CAMERA_WIDTH * height >= N6_CAMERA_HEIGHT * width) {
        part.width = N6_CAMERA_HEIGHT * width / height & ~1u;
    } else if (!is_stretched) {
        part.height = N6_CAMERA_WIDTH * height / width & ~1u;
    }
    /* A pipe makes a pixel of at most 64 by 64: smaller pictures show less. */
    part.width = part.width > MOST_SCALED * width ? MOST_SCALED * width : part.width;
    part.height = part.height > MOST_SCALED * height ? MOST_SCALED * height : part.height;
    part.left = (N6_CAMERA_WIDTH - part.width) / 2u;
    part.top = (N6_CAMERA_HEIGHT - part.height) / 2u;
    return part;
}

/* One axis of a pipe: one of 2^decimation pixels stays, then `ratio` of 8192 become one. */
typedef struct {
    uint32_t decimation, ratio;
} axis_t;

static axis_t axis_of(uint32_t from, uint32_t to)
{
    axis_t axis = {0u, 0u};
    while ((from >> axis.decimation) >= 8u * to) {
        axis.decimation++;
    }
    axis.ratio = 8192u * (from >> axis.decimation) / to;
    return axis;
}

/* Return the factor that makes an average of the sum of such pixels; 1024 is one. */
static uint32_t divisor_of(axis_t axis)
{
    return (1024u * 8192u - 1u) / axis.ratio;
}

/* Set crop, scale and memory of a pipe. pipe: 0, or SECOND. */
static void set_pipe(uint32_t pipe, camera_part_t part, uint32_t width, uint32_t height, uint32_t format, uint32_t pitch)
{
    axis_t x = axis_of(part.width, width), y = axis_of(part.height, height);
    N6_REG32(N6_DCMIPP_P1CRSTR + pipe) = N6_FIELD(N6_DCMIPP_P1CRSTR_HSTART, part.left) | N6_FIELD(N6_DCMIPP_P1CRSTR_VSTART, part.top);
    N6_REG32(N6_DCMIPP_P1CRSZR + pipe) = N6_FIELD(N6_DCMIPP_P1CRSZR_HSIZE, part.width) |
                                         N6_FIELD(N6_DCMIPP_P1CRSZR_VSIZE, part.height) | N6_DCMIPP_P1CRSZR_ENABLE;
    N6_REG32(N6_DCMIPP_P1DCCR + pipe) = N6_FIELD(N6_DCMIPP_P1DCCR_HDEC, x.decimation) |
                                        N6_FIELD(N6_DCMIPP_P1DCCR_VDEC, y.decimation) | N6_DCMIPP_P1DCCR_ENABLE;
    N6_REG32(N6_DCMIPP_P1DSRTIOR + pipe) =
        N6_FIELD(N6_DCMIPP_P1DSRTIOR_HRATIO, x.ratio) | N6_FIELD(N6_DCMIPP_P1DSRTIOR_VRATIO, y.ratio);
    N6_REG32(N6_DCMIPP_P1DSSZR + pipe) = N6_FIELD(N6_DCMIPP_P1DSSZR_HSIZE, width) | N6_FIELD(N6_DCMIPP_P1DSSZR_VSIZE, height);
    N6_REG32(N6_DCMIPP_P1DSCR + pipe) = N6_FIELD(N6_DCMIPP_P1DSCR_HDIV, divisor_of(x)) |
                                        N6_FIELD(N6_DCMIPP_P1DSCR_VDIV, divisor_of(y)) | N6_DCMIPP_P1DSCR_ENABLE;
    /* Networks read red first. */
    N6_REG32(N6_DCMIPP_P1PPCR + pipe) = N6_FIELD(N6_DCMIPP_P1PPCR_FORMAT, format) | (format == RGB888 ? N6_DCMIPP_P1PPCR_SWAPRB : 0u);
    N6_REG32(N6_DCMIPP_P1PPM0PR + pipe) = pitch;
}

void camera_show(camera_part_t part, uint32_t address, uint32_t width, uint32_t height)
{
    set_pipe(0u, part, width, height, RGB565, 2u * width);
    N6_REG32(N6_DCMIPP_P1PPM0AR1) = address;
    N6_REG32(N6_DCMIPP_P1FSCR) = RAW10 | N6_DCMIPP_P1FSCR_PIPEN;
    N6_REG32(N6_DCMIPP_P1FCTCR) = N6_DCMIPP_P0FCTCR_CPTREQ;
}

bool camera_take(camera_part_t part, uint32_t address, uint32_t width, uint32_t height)
{
    uint32_t pitch = camera_pitch(width);
    set_pipe(SECOND, part, width, height, RGB888, pitch);
    N6_REG32(N6_DCMIPP_P1PPM0AR1 + SECOND) = address;
    N6_REG32(N6_DCMIPP_CMFCR) = FRAME_OF_PIPE_2;
    N6_REG32(N6_DCMIPP_P2FSCR) = RAW10 | N6_DCMIPP_P1FSCR_PIPEN;
    N6_REG32(N6_DCMIPP_P2FCTCR) = N6_DCMIPP_P0FCTCR_CPTMODE | N6_DCMIPP_P0FCTCR_CPTREQ;
    uint32_t polls = 0;
    while ((N6_REG32(N6_DCMIPP_CMSR2) & FRAME_OF_PIPE_2) == 0u) {
        if (++polls == FRAME_POLLS) {
            return false;
        }
        n6_delay_us(POLL_US);
    }
    n6_dcache_invalidate(address, pitch * height);
    return true;
}
