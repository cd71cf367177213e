/* SPDX-License-Identifier: Apache-2.0
 *
 * Octal NOR parts. In octal mode a command is the opcode and a second byte; the N6_NOR_ values of n6_board_nor.h differ from
 * family to family. The order of the steps is that of ST's board support package. Taking over from the boot ROM is necessary:
 * the ROM reads the NOR through XSPI1, with the two controllers swapped by XSPIM, and leaves that setting.
 */
#include "n6_xspi_nor.h"

#include "n6_board_nor.h"
#include "n6_clock.h"
#include "n6_pins.h"
#include "n6_reg.h"
#include "n6_soc_system.h"
#include "n6_xspi.h"

#define SPI_INSTRUCTION N6_FIELD(N6_XSPI_CCR_IMODE, N6_XSPI_ONE_LINE)
#define SPI_ADDRESS (N6_FIELD(N6_XSPI_CCR_ADMODE, N6_XSPI_ONE_LINE) | N6_FIELD(N6_XSPI_CCR_ADSIZE, N6_XSPI_ADDRESS_32_BITS))
#define SPI_DATA N6_FIELD(N6_XSPI_CCR_DMODE, N6_XSPI_ONE_LINE)
#define STR_INSTRUCTION \
    (N6_FIELD(N6_XSPI_CCR_IMODE, N6_XSPI_EIGHT_LINES) | N6_FIELD(N6_XSPI_CCR_ISIZE, N6_XSPI_INSTRUCTION_16_BITS))
#define DTR_INSTRUCTION (STR_INSTRUCTION | N6_XSPI_CCR_IDTR)
#define DTR_ADDRESS \
    (N6_FIELD(N6_XSPI_CCR_ADMODE, N6_XSPI_EIGHT_LINES) | N6_XSPI_CCR_ADDTR | N6_FIELD(N6_XSPI_CCR_ADSIZE, N6_XSPI_ADDRESS_32_BITS))
#define DTR_DATA (N6_FIELD(N6_XSPI_CCR_DMODE, N6_XSPI_EIGHT_LINES) | N6_XSPI_CCR_DDTR | N6_XSPI_CCR_DQSE)

#define WRITE_ENABLE 0x06u
#define READ_STATUS 0x05u
#define READ_IDENTIFICATION 0x9Fu
#define RESET_ENABLE 0x66u
#define RESET 0x99u

#define STATUS_WRITE_ENABLED 0x02u

#define RESET_MAX_US 100000u
#define WRITE_REGISTER_MAX_US 40000u

#define CHIP_SELECT_HIGH_CYCLES 2

bool n6_xspi_nor_is_fast(void)
{
    return n6_pins_are_fast(N6_BSEC_FVR124_HSLV_VDDIO3);
}

/* Set supply and pins. VDDIO3, the supply of the pads, is 1.8 V on these boards. Never declare 1.8 V for a rail of 3.3 V. */
static void supply_and_pins(void)
{
    n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, N6_RCC_AHB4ENR_PWREN | N6_NOR_PIN_PORT_ENABLE);
    n6_modify(N6_PWR_SVMCR3, 0u, N6_PWR_SVMCR3_VDDIO3SV | N6_PWR_SVMCR3_VDDIO3VRSEL);
    for (uint32_t pin = 0; pin < 16u; pin++) {
        if ((N6_NOR_PIN_MASK >> pin & 1u) != 0u) {
            n6_pin_alternate(N6_NOR_PIN_PORT_BASE, pin, N6_NOR_PIN_AF, pin == N6_NOR_NCS_PIN ? N6_PULL_UP : N6_PULL_NONE);
        }
    }
}

static void take_over_from_boot_rom(void)
{
    const uint32_t resets = N6_RCC_AHB5RSTR_XSPI1RST | N6_RCC_AHB5RSTR_XSPI2RST | N6_RCC_AHB5RSTR_XSPIMRST;
    n6_enable(N6_RCC_MISCENSR, N6_RCC_MISCENR, N6_RCC_MISCENR_XSPIPHYCOMPEN);
    n6_enable(N6_RCC_AHB5ENSR, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI1EN | N6_RCC_AHB5ENR_XSPI2EN | N6_RCC_AHB5ENR_XSPIMEN);
    /* XSPIM can be written only while both controllers are off. */
    n6_xspi_stop(N6_XSPI1_BASE);
    n6_xspi_stop(N6_XSPI2_BASE);
    N6_REG32(N6_RCC_AHB5RSTSR) = resets;
    n6_barrier();
    N6_REG32(N6_RCC_AHB5RSTCR) = resets;
    n6_barrier();
    N6_REG32(N6_XSPIM_CR) = 0u; /* XSPI2 at port 2 */
}

static bool set_up_controller(bool is_fast)
{
    /* One step larger than the part: a read of its last bytes with DQS would wrap otherwise (device errata 2.4.5). */
    N6_REG32(N6_XSPI2_DCR1) = N6_FIELD(N6_XSPI_DCR1_DEVSIZE, N6_NOR_DEVSIZE + 1u) |
                              N6_FIELD(N6_XSPI_DCR1_CSHT, CHIP_SELECT_HIGH_CYCLES);
    N6_REG32(N6_XSPI2_DCR2) = N6_FIELD(N6_XSPI_DCR2_PRESCALER, is_fast ? N6_XSPI_FAST_PRESCALER : N6_XSPI_SLOW_PRESCALER);
    if (!n6_xspi_wait_idle(N6_XSPI2_BASE)) {
        return false;
    }
    N6_REG32(N6_XSPI2_CR) = N6_XSPI_CR_EN;
    return true;
}

/* Reset the part, from every mode that an earlier program or a flash loader may have left. */
static bool reset_part(void)
{
    static const n6_xspi_command_t commands[] = {
        {SPI_INSTRUCTION, 0, RESET_ENABLE, 0},
        {SPI_INSTRUCTION, 0, RESET, 0},
        {STR_INSTRUCTION, 0, N6_NOR_OCTAL(RESET_ENABLE), 0},
        {STR_INSTRUCTION, 0, N6_NOR_OCTAL(RESET), 0},
        {DTR_INSTRUCTION, N6_XSPI_TCR_DHQC, N6_NOR_OCTAL(RESET_ENABLE), 0},
        {DTR_INSTRUCTION, N6_XSPI_TCR_DHQC, N6_NOR_OCTAL(RESET), 0},
    };
    for (uint32_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (!n6_xspi_send(N6_XSPI2_BASE, &commands[i])) {
            return false;
        }
    }
    n6_delay_us(RESET_MAX_US);
    return true;
}

static n6_nor_status_t identify(uint32_t *jedec_id)
{
    static const n6_xspi_command_t command = {SPI_INSTRUCTION | SPI_DATA, 0, READ_IDENTIFICATION, 0};
    uint32_t bytes;
    if (!n6_xspi_read(N6_XSPI2_BASE, &command, 3u, &bytes)) {
        return N6_NOR_BUSY;
    }
    *jedec_id = __builtin_bswap32(bytes) >> 8;
    return *jedec_id == 0u || *jedec_id == 0xFFFFFFu ? N6_NOR_SILENT : N6_NOR_OK;
}

#if N6_NOR_MODE_OPI_DTR
static bool write_register(uint32_t address, uint8_t value)
{
    static const n6_xspi_command_t enable = {SPI_INSTRUCTION, 0, WRITE_ENABLE, 0};
    static const n6_xspi_command_t status = {SPI_INSTRUCTION | SPI_DATA, 0, READ_STATUS, 0};
    const n6_xspi_command_t write = {SPI_INSTRUCTION | SPI_ADDRESS | SPI_DATA, 0, N6_NOR_WRITE_REGISTER, address};
    uint32_t enabled = 0u;
    if (!n6_xspi_send(N6_XSPI2_BASE, &enable)) {
        return false;
    }
    for (uint32_t polls = 0; polls < 1000u && (enabled & STATUS_WRITE_ENABLED) == 0u; polls++) {
        if (!n6_xspi_read(N6_XSPI2_BASE, &status, 1u, &enabled)) {
            return false;
        }
    }
    return (enabled & STATUS_WRITE_ENABLED) != 0u && n6_xspi_write(N6_XSPI2_BASE, &write, 1u, value);
}

static n6_nor_status_t switch_to_octal_dtr(void)
{
    if (!write_register(N6_NOR_DUMMY_ADDRESS, N6_NOR_DUMMY_VALUE) ||
        !write_register(N6_NOR_MODE_ADDRESS, N6_NOR_MODE_VALUE)) {
        return N6_NOR_BUSY;
    }
    n6_delay_us(WRITE_REGISTER_MAX_US);
    /* With this memory type the controller restores the byte order of a 16-bit word. */
    n6_modify(N6_XSPI2_DCR1, N6_XSPI_DCR1_MTYP, N6_FIELD(N6_XSPI_DCR1_MTYP, N6_NOR_MEMORY_TYPE));
    const n6_xspi_command_t read_mode = {DTR_INSTRUCTION | DTR_ADDRESS | DTR_DATA,
                                     N6_XSPI_TCR_DHQC | N6_FIELD(N6_XSPI_TCR_DCYC, N6_NOR_REGISTER_DUMMY_CYCLES),
                                     N6_NOR_OCTAL_READ_REGISTER, N6_NOR_MODE_ADDRESS};
    uint32_t mode;
    if (!n6_xspi_read(N6_XSPI2_BASE, &read_mode, 2u, &mode)) {
        return N6_NOR_BUSY;
    }
    return (mode & 0xFFu) == N6_NOR_MODE_VALUE ? N6_NOR_OK : N6_NOR_NOT_OCTAL;
}
#endif

static void map(void)
{
#if N6_NOR_MODE_OPI_DTR
    N6_REG32(N6_XSPI2_CCR) = DTR_INSTRUCTION | DTR_ADDRESS | DTR_DATA;
    N6_REG32(N6_XSPI2_TCR) = N6_XSPI_TCR_DHQC | N6_FIELD(N6_XSPI_TCR_DCYC, N6_NOR_DUMMY_CYCLES);
    N6_REG32(N6_XSPI2_IR) = N6_NOR_OCTAL_READ;
    N6_REG32(N6_XSPI2_WCCR) = DTR_INSTRUCTION | DTR_ADDRESS | DTR_DATA;
    N6_REG32(N6_XSPI2_WTCR) = 0u;
    N6_REG32(N6_XSPI2_WIR) = N6_NOR_OCTAL_PROGRAM;
#else
    N6_REG32(N6_XSPI2_CCR) = SPI_INSTRUCTION | SPI_ADDRESS | SPI_DATA;
    N6_REG32(N6_XSPI2_TCR) = 0u;
    N6_REG32(N6_XSPI2_IR) = N6_NOR_READ;
#endif
    n6_xspi_map(N6_XSPI2_BASE);
    /* The first read after the change of mode wakes up the interface; its value does not matter. */
    (void)N6_REG32(N6_NOR_BASE);
}

n6_nor_status_t n6_xspi_nor_open(uint32_t *jedec_id)
{
    const bool is_fast = n6_xspi_nor_is_fast();
    supply_and_pins();
    if (!n6_clock_start_xspi(is_fast ? N6_NOR_FAST_DIVIDER : N6_NOR_SLOW_DIVIDER)) {
        return N6_NOR_NO_CLOCK;
    }
    take_over_from_boot_rom();
    if (!set_up_controller(is_fast) || !reset_part()) {
        return N6_NOR_BUSY;
    }
    n6_nor_status_t status = identify(jedec_id);
#if N6_NOR_MODE_OPI_DTR
    if (status == N6_NOR_OK) {
        status = switch_to_octal_dtr();
    }
#endif
    if (status == N6_NOR_OK) {
        map();
    }
    return status;
}
