/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of AP Memory on sixteen lines; the N6_PSRAM_ values of n6_board_psram.h differ from family to family. Order and values
 * are those of ST's board support package for the STM32N6570-DK. It omits identification and reading back, which are as in the
 * firmware of the OpenMV N6. RIF needs no setting here: after reset RISAF11, which guards XSPI1, permits secure accesses of
 * compartment 1. These are the accesses of the CPU and, after n6_npu_open_rif, of the NPU.
 */
#include "n6_xspi_psram.h"

#include "n6_board_psram.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_pins.h"
#include "n6_reg.h"
#include "n6_soc_system.h"
#include "n6_xspi.h"

bool n6_xspi_psram_is_mapped(void)
{
    const uint32_t mapped = N6_XSPI_CR_EN | N6_XSPI_CR_FMODE;
    return (N6_REG32(N6_RCC_AHB5ENR) & N6_RCC_AHB5ENR_XSPI1EN) != 0u && (N6_REG32(N6_XSPI1_CR) & mapped) == mapped;
}

const char *n6_xspi_psram_text(n6_psram_status_t status)
{
    switch (status) {
    case N6_PSRAM_OK:
        return "";
    case N6_PSRAM_BUSY:
        return "N6-FW-030 XSPI1 stays busy: check kernel clock and supply of the pads (VDDIO2)";
    case N6_PSRAM_SILENT:
        return "N6-FW-031 the PSRAM does not answer like the part in board.yaml: check pins, supply and part";
    case N6_PSRAM_UNSET:
        return "N6-FW-032 a mode register of the PSRAM does not keep written data";
    case N6_PSRAM_FORGETS:
        return "N6-FW-033 the PSRAM does not keep written data: try a lower psram.max_clock_hz in board.yaml";
    case N6_PSRAM_SWAPPED:
        return "N6-FW-034 XSPIM gives XSPI1 another port than the PSRAM's: the FSBL must map the NOR first";
    }
    return "";
}

#ifdef N6_PSRAM_BASE

/* The instruction uses one edge of the clock, all other phases both. Mode registers use eight lines, whatever the data use. */
#define INSTRUCTION N6_FIELD(N6_XSPI_CCR_IMODE, N6_XSPI_EIGHT_LINES)
#define ADDRESS \
    (N6_FIELD(N6_XSPI_CCR_ADMODE, N6_XSPI_EIGHT_LINES) | N6_XSPI_CCR_ADDTR | N6_FIELD(N6_XSPI_CCR_ADSIZE, N6_XSPI_ADDRESS_32_BITS))
#define REGISTER_DATA (N6_FIELD(N6_XSPI_CCR_DMODE, N6_XSPI_EIGHT_LINES) | N6_XSPI_CCR_DDTR)
#define MEMORY_DATA (N6_FIELD(N6_XSPI_CCR_DMODE, N6_XSPI_SIXTEEN_LINES) | N6_XSPI_CCR_DDTR | N6_XSPI_CCR_DQSE)
#define RESET_ADDRESS \
    (N6_FIELD(N6_XSPI_CCR_ADMODE, N6_XSPI_EIGHT_LINES) | N6_FIELD(N6_XSPI_CCR_ADSIZE, N6_XSPI_ADDRESS_24_BITS))
/* The first cycle of a latency is that of the last address byte. */
#define TIMING(latency) (N6_XSPI_TCR_DHQC | N6_FIELD(N6_XSPI_TCR_DCYC, (latency) - 1u))

#define CHIP_SELECT_HIGH_CYCLES 5u
#define FIFO_THRESHOLD 8u
#define RESET_MAX_US 1000u
#define REGISTER_BYTES 2u
#define LAST_WORD (N6_PSRAM_BASE + N6_PSRAM_BYTES - 4u)

/* Set supply and pins. The rail is 1.8 V on these boards. Never declare 1.8 V for a rail of 3.3 V. */
static void supply_and_pins(void)
{
    n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, N6_RCC_AHB4ENR_PWREN | N6_PSRAM_PORTS_ENABLE);
    n6_modify(N6_PWR_SVMCR3, 0u, N6_PSRAM_SUPPLY);
    for (uint32_t pin = 0; pin < 16u; pin++) {
        if ((N6_PSRAM_CONTROL_PIN_MASK >> pin & 1u) != 0u) {
            n6_pin_alternate(N6_PSRAM_CONTROL_PORT_BASE, pin, N6_PSRAM_CONTROL_PIN_AF,
                             pin == N6_PSRAM_NCS_PIN ? N6_PULL_UP : N6_PULL_NONE);
        }
        if ((N6_PSRAM_DATA_PIN_MASK >> pin & 1u) != 0u) {
            n6_pin_alternate(N6_PSRAM_DATA_PORT_BASE, pin, N6_PSRAM_DATA_PIN_AF, N6_PULL_NONE);
        }
    }
}

/* Set up XSPI1. XSPIM and XSPI2 stay unchanged: the program may run from the NOR. */
static bool set_up_controller(void)
{
    n6_modify(N6_RCC_CCIPR6, N6_RCC_CCIPR6_XSPI1SEL, 0u); /* HCLK */
    n6_enable(N6_RCC_MISCENSR, N6_RCC_MISCENR, N6_RCC_MISCENR_XSPIPHYCOMPEN);
    n6_enable(N6_RCC_AHB5ENSR, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI1EN | N6_RCC_AHB5ENR_XSPIMEN);
    /* Keep the clocks in Sleep: a program waits for the NPU with WFE. */
    N6_REG32(N6_RCC_AHB5LPENSR) = N6_RCC_AHB5LPENR_XSPI1LPEN | N6_RCC_AHB5LPENR_XSPIMLPEN;
    n6_xspi_stop(N6_XSPI1_BASE);
    N6_REG32(N6_RCC_AHB5RSTSR) = N6_RCC_AHB5RSTR_XSPI1RST;
    n6_barrier();
    N6_REG32(N6_RCC_AHB5RSTCR) = N6_RCC_AHB5RSTR_XSPI1RST;
    n6_barrier();
    /* Declare one step more than the part: with DQS its last bytes would wrap otherwise (device errata 2.4.5). */
    N6_REG32(N6_XSPI1_DCR1) = N6_FIELD(N6_XSPI_DCR1_MTYP, N6_PSRAM_MEMORY_TYPE) |
                              N6_FIELD(N6_XSPI_DCR1_DEVSIZE, N6_PSRAM_DEVSIZE + 1u) |
                              N6_FIELD(N6_XSPI_DCR1_CSHT, CHIP_SELECT_HIGH_CYCLES - 1u);
    /* Split accesses at the end of a row, where the part would wrap, and at the longest time that its refresh can wait. */
    N6_REG32(N6_XSPI1_DCR3) = N6_FIELD(N6_XSPI_DCR3_CSBOUND, N6_PSRAM_ROW_BOUNDARY);
    const bool is_fast = n6_pins_are_fast(N6_PSRAM_PADS_FUSE);
    N6_REG32(N6_XSPI1_DCR4) = is_fast ? N6_PSRAM_FAST_REFRESH_CYCLES : N6_PSRAM_SLOW_REFRESH_CYCLES;
    N6_REG32(N6_XSPI1_DCR2) = N6_FIELD(N6_XSPI_DCR2_PRESCALER, is_fast ? N6_PSRAM_FAST_PRESCALER : N6_PSRAM_SLOW_PRESCALER);
    if (!n6_xspi_wait_idle(N6_XSPI1_BASE)) {
        return false;
    }
    N6_REG32(N6_XSPI1_CR) = N6_XSPI_CR_EN | N6_FIELD(N6_XSPI_CR_FTHRES, FIFO_THRESHOLD - 1u);
    return true;
}

/* Reset the part, also from sixteen lines or from sleep. */
static bool reset_part(void)
{
    static const n6_xspi_command_t reset = {INSTRUCTION | RESET_ADDRESS, N6_XSPI_TCR_DHQC, N6_PSRAM_RESET, 0};
    bool sent = n6_xspi_send(N6_XSPI1_BASE, &reset);
    n6_delay_us(RESET_MAX_US);
    return sent;
}

/* Write a mode register. Two bytes are sent, one at each edge; the part uses the first. */
static bool write_register(uint32_t address, uint32_t value)
{
    const n6_xspi_command_t write = {INSTRUCTION | ADDRESS | REGISTER_DATA, N6_XSPI_TCR_DHQC, N6_PSRAM_WRITE_REGISTER, address};
    return n6_xspi_write(N6_XSPI1_BASE, &write, REGISTER_BYTES, value | value << 8);
}

static bool read_register(uint32_t address, uint32_t *value)
{
    const n6_xspi_command_t read = {INSTRUCTION | ADDRESS | REGISTER_DATA | N6_XSPI_CCR_DQSE, TIMING(N6_PSRAM_READ_LATENCY),
                                    N6_PSRAM_READ_REGISTER, address};
    bool complete = n6_xspi_read(N6_XSPI1_BASE, &read, REGISTER_BYTES, value);
    *value &= 0xFFu;
    return complete;
}

/* Identify the part. Set the read latency before any read: its value after a reset differs from part to part. */
static n6_psram_status_t identify(uint32_t *id)
{
    uint32_t vendor, density;
    if (!write_register(N6_PSRAM_READ_LATENCY_REGISTER, N6_PSRAM_READ_LATENCY_VALUE) ||
        !read_register(N6_PSRAM_VENDOR_REGISTER, &vendor) || !read_register(N6_PSRAM_DENSITY_REGISTER, &density)) {
        return N6_PSRAM_BUSY;
    }
    *id = vendor << 8 | density;
    bool known = (vendor & N6_PSRAM_VENDOR_MASK) == N6_PSRAM_VENDOR && (density & N6_PSRAM_DENSITY_MASK) == N6_PSRAM_DENSITY;
    return known ? N6_PSRAM_OK : N6_PSRAM_SILENT;
}

static n6_psram_status_t set_registers(void)
{
    static const struct {
        uint32_t address, value;
    } registers[] = {
        {N6_PSRAM_READ_LATENCY_REGISTER, N6_PSRAM_READ_LATENCY_VALUE},
        {N6_PSRAM_WRITE_LATENCY_REGISTER, N6_PSRAM_WRITE_LATENCY_VALUE},
        {N6_PSRAM_WIDTH_REGISTER, N6_PSRAM_WIDTH_VALUE},
    };
    for (uint32_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        uint32_t kept;
        if (!write_register(registers[i].address, registers[i].value) || !read_register(registers[i].address, &kept)) {
            return N6_PSRAM_BUSY;
        }
        if (kept != registers[i].value) {
            return N6_PSRAM_UNSET;
        }
    }
    return N6_PSRAM_OK;
}

static void map(void)
{
    N6_REG32(N6_XSPI1_CCR) = INSTRUCTION | ADDRESS | MEMORY_DATA;
    N6_REG32(N6_XSPI1_TCR) = TIMING(N6_PSRAM_READ_LATENCY);
    N6_REG32(N6_XSPI1_IR) = N6_PSRAM_READ;
    N6_REG32(N6_XSPI1_WCCR) = INSTRUCTION | ADDRESS | MEMORY_DATA;
    N6_REG32(N6_XSPI1_WTCR) = N6_FIELD(N6_XSPI_TCR_DCYC, N6_PSRAM_WRITE_LATENCY - 1u);
    N6_REG32(N6_XSPI1_WIR) = N6_PSRAM_WRITE;
    n6_xspi_map(N6_XSPI1_BASE);
}

static void put(uint32_t address, uint32_t value)
{
    N6_REG32(address) = value;
    n6_dcache_clean_invalidate(address, 4u);
}

/* Test the first and the last word. Write both before the reads: they coincide in a part of half the size, or with a stuck
 * address line. */
static bool keeps(uint32_t first, uint32_t last)
{
    put(N6_PSRAM_BASE, first);
    put(LAST_WORD, last);
    return N6_REG32(N6_PSRAM_BASE) == first && N6_REG32(LAST_WORD) == last;
}

n6_psram_status_t n6_xspi_psram_open(uint32_t *id)
{
    *id = 0u;
    supply_and_pins();
    if (!set_up_controller()) {
        return N6_PSRAM_BUSY;
    }
    if ((N6_REG32(N6_XSPIM_CR) & (N6_XSPIM_CR_MODE | N6_XSPIM_CR_MUXEN)) != 0u) {
        return N6_PSRAM_SWAPPED;
    }
    if (!reset_part()) {
        return N6_PSRAM_BUSY;
    }
    n6_psram_status_t status = identify(id);
    if (status == N6_PSRAM_OK) {
        status = set_registers();
    }
    if (status != N6_PSRAM_OK) {
        return status;
    }
    map();
    return keeps(0xA5C3F00Du, 0x5A3C0FF2u) && keeps(0u, 0u) ? N6_PSRAM_OK : N6_PSRAM_FORGETS;
}

#endif
