/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * XSPI2 with a Macronix octal NOR: registers, the commands that bring-up code sends, and whether the memory-mapped window
 * would really read the part. Programming and erasing are not modelled: the NOR's file is never written.
 */
#include "n6virt.h"

typedef enum { NOR_SPI, NOR_OCTAL_STR, NOR_OCTAL_DTR } NorMode;

static struct {
    uint32_t jedec_id;
    NorMode mode;
    bool reset_enabled;
    bool write_enabled;
    uint8_t dummy_code; /* configuration register 2 at 0x300 */
    uint8_t fifo[32];
    unsigned fifo_used;
    unsigned fifo_read;
    unsigned writes_missing; /* data bytes that an indirect write still waits for */
} nor;

void n6virt_xspi_init(uint32_t jedec_id)
{
    nor.jedec_id = jedec_id;
}

void n6virt_xspi_reset(void)
{
    for (uint32_t offset = 0; offset < 0x200; offset += 4) {
        n6virt_set(N6_XSPI2_BASE + offset, 0);
    }
    nor.fifo_used = nor.fifo_read = nor.writes_missing = 0;
}

static uint32_t reg(uint32_t offset)
{
    return n6virt_get(N6_XSPI2_BASE + offset);
}

static uint32_t field(uint32_t offset, uint32_t mask, unsigned position)
{
    return (reg(offset) & mask) >> position;
}

#define FIELD_OF(register, name) field(N6_XSPI_##register##_OFFSET, N6_XSPI_##register##_##name, N6_XSPI_##register##_##name##_POS)

/* Supply and pins; the reason why the part hears nothing, or NULL. */
static const char *deaf(void)
{
    if (!n6virt_has(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3SV)) {
        return "the pads have no supply (PWR SVMCR3 VDDIO3SV)";
    }
    if (!n6virt_has(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3VRSEL)) {
        return "the pads are set for 3.3 V, the board has 1.8 V (PWR SVMCR3 VDDIO3VRSEL)";
    }
    for (unsigned pin = 0; pin <= 11; pin++) {
        uint32_t function = n6virt_get(pin < 8 ? N6_GPION_AFRL : N6_GPION_AFRH) >> 4 * (pin % 8) & 15;
        if (pin != 7 && ((n6virt_get(N6_GPION_MODER) >> 2 * pin & 3) != 2 || function != 9)) {
            return "a pin of port N is not set to the NOR (alternate function 9)";
        }
    }
    if (n6virt_has(N6_XSPIM_CR, N6_XSPIM_CR_MODE)) {
        return "XSPIM still swaps the controllers, as the boot ROM left it (XSPIM CR MODE)";
    }
    return NULL;
}

/* What the kernel clock lacks, or NULL. */
static const char *unclocked(void)
{
    uint32_t source = (n6virt_get(N6_RCC_CCIPR6) & N6_RCC_CCIPR6_XSPI2SEL) >> N6_RCC_CCIPR6_XSPI2SEL_POS;

    if (source == 2 && (!n6virt_has(N6_RCC_CR, N6_RCC_CR_PLL1ON) || !n6virt_has(N6_RCC_DIVENR, N6_RCC_DIVENR_IC3EN))) {
        return "the kernel clock of XSPI2, IC3, does not run (RCC CR PLL1ON, DIVENR IC3EN)";
    }
    return source == 1 || source == 3 ? "a kernel clock of XSPI2 that is not modelled (RCC CCIPR6)" : NULL;
}

static NorMode mode_of_lines(void)
{
    if (FIELD_OF(CCR, IMODE) != 4) {
        return NOR_SPI;
    }
    return FIELD_OF(CCR, IDTR) ? NOR_OCTAL_DTR : NOR_OCTAL_STR;
}

/* The opcode, or -1 where the part would not understand: in octal mode its inverse has to follow. */
static int opcode(void)
{
    uint32_t instruction = reg(N6_XSPI_IR_OFFSET);

    if (mode_of_lines() != nor.mode || deaf()) {
        return -1;
    }
    if (nor.mode == NOR_SPI) {
        return FIELD_OF(CCR, ISIZE) == 0 ? (int)(instruction & 0xff) : -1;
    }
    return FIELD_OF(CCR, ISIZE) == 1 && ((instruction >> 8 ^ instruction) & 0xff) == 0xff ? (int)(instruction >> 8 & 0xff) : -1;
}

static void reset_part(void)
{
    nor.mode = NOR_SPI;
    nor.write_enabled = false;
    nor.dummy_code = 0;
}

static void set_configuration_2(uint32_t address, uint8_t value)
{
    if (!nor.write_enabled) {
        return;
    }
    nor.write_enabled = false;
    if (address == 0) {
        nor.mode = value == 2 ? NOR_OCTAL_DTR : value == 1 ? NOR_OCTAL_STR : NOR_SPI;
    } else if (address == 0x300) {
        nor.dummy_code = value & 7;
    }
}

static uint8_t get_configuration_2(uint32_t address)
{
    if (address == 0) {
        return nor.mode == NOR_OCTAL_DTR ? 2 : nor.mode == NOR_OCTAL_STR ? 1 : 0;
    }
    return address == 0x300 ? nor.dummy_code : 0;
}

static uint8_t answer(int code, unsigned index)
{
    switch (code) {
    case 0x05:
        return nor.write_enabled << 1;
    case 0x9f:
        return nor.jedec_id >> 8 * (2 - MIN(index, 2u));
    case 0x71:
        return get_configuration_2(reg(N6_XSPI_AR_OFFSET));
    default:
        return 0xff; /* nobody drives the lines */
    }
}

static void complete(void)
{
    n6virt_set(N6_XSPI2_SR, reg(N6_XSPI_SR_OFFSET) | N6_XSPI_SR_TCF);
}

static void carry_out(void)
{
    int code = opcode();
    uint32_t bytes = reg(N6_XSPI_DLR_OFFSET) + 1;
    bool reading = FIELD_OF(CR, FMODE) == 1;

    if (code == 0x99 && nor.reset_enabled) {
        reset_part();
    }
    nor.reset_enabled = code == 0x66;
    if (code == 0x06 || code == 0x04) {
        nor.write_enabled = code == 0x06;
    }
    if (reading && FIELD_OF(CCR, DMODE)) {
        nor.fifo_used = MIN(bytes, sizeof(nor.fifo));
        nor.fifo_read = 0;
        for (unsigned i = 0; i < nor.fifo_used; i++) {
            nor.fifo[i] = answer(code, i);
        }
    } else if (FIELD_OF(CCR, DMODE)) {
        nor.writes_missing = bytes;
        return;
    }
    complete();
}

static bool controller_ready(void)
{
    return n6virt_has(N6_XSPI2_CR, N6_XSPI_CR_EN);
}

uint32_t n6virt_xspi_read(uint32_t offset, unsigned size)
{
    uint32_t value = 0;

    switch (offset) {
    case N6_XSPI_SR_OFFSET:
        if (unclocked()) {
            return N6_XSPI_SR_BUSY;
        }
        value = reg(offset) & (N6_XSPI_SR_TCF | N6_XSPI_SR_TEF);
        return nor.fifo_read < nor.fifo_used ? value | N6_XSPI_SR_FTF : value;
    case N6_XSPI_DR_OFFSET:
        for (unsigned i = 0; i < size && nor.fifo_read < nor.fifo_used; i++) {
            value |= (uint32_t)nor.fifo[nor.fifo_read++] << 8 * i;
        }
        return value;
    default:
        return reg(offset);
    }
}

void n6virt_xspi_write(uint32_t offset, uint32_t value, unsigned size)
{
    switch (offset) {
    case N6_XSPI_FCR_OFFSET:
        n6virt_set(N6_XSPI2_SR, reg(N6_XSPI_SR_OFFSET) & ~value);
        return;
    case N6_XSPI_CR_OFFSET:
        n6virt_set(N6_XSPI2_CR, value & ~N6_XSPI_CR_ABORT);
        if (value & N6_XSPI_CR_ABORT) {
            complete();
        }
        return;
    case N6_XSPI_DR_OFFSET:
        if (nor.writes_missing) {
            nor.writes_missing -= MIN(nor.writes_missing, size);
            if (!nor.writes_missing) {
                if (opcode() == 0x72) {
                    set_configuration_2(reg(N6_XSPI_AR_OFFSET), value);
                }
                complete();
            }
        }
        return;
    default:
        n6virt_set(N6_XSPI2_BASE + offset, value);
    }
    if (controller_ready() && FIELD_OF(CR, FMODE) < 2 &&
        ((offset == N6_XSPI_IR_OFFSET && !FIELD_OF(CCR, ADMODE)) || (offset == N6_XSPI_AR_OFFSET && FIELD_OF(CCR, ADMODE)))) {
        carry_out();
    }
}

#define READ_4_BYTE_ADDRESS 0x13
#define FAST_READ_4_BYTE_ADDRESS 0x0c
#define OCTAL_STR_READ 0xec13
#define OCTAL_DTR_READ 0xee11
#define MACRONIX 1

/* How the window is configured against how the part is set. */
static const char *mismatch(void)
{
    static const uint8_t dummy_cycles[8] = {20, 18, 16, 14, 12, 10, 8, 6};
    bool dtr = nor.mode == NOR_OCTAL_DTR;
    uint32_t instruction = reg(N6_XSPI_IR_OFFSET);
    uint32_t cycles = FIELD_OF(TCR, DCYC);

    if (mode_of_lines() != nor.mode) {
        return "the controller and the NOR disagree on lines and edges (CCR against the part's configuration register 2)";
    }
    if (FIELD_OF(CCR, ADSIZE) != 3) {
        return "addresses are not 32 bits wide (CCR ADSIZE)";
    }
    if (nor.mode == NOR_SPI) {
        bool read = (instruction == READ_4_BYTE_ADDRESS && cycles == 0) ||
                    (instruction == FAST_READ_4_BYTE_ADDRESS && cycles == 8);
        return read && FIELD_OF(CCR, ADMODE) == 1 && FIELD_OF(CCR, DMODE) == 1
                   ? NULL
                   : "no read with 32-bit address in 1-1-1 (IR 0x13 without, 0x0C with 8 dummy cycles)";
    }
    if (instruction != (dtr ? OCTAL_DTR_READ : OCTAL_STR_READ) || FIELD_OF(CCR, ADMODE) != 4 || FIELD_OF(CCR, DMODE) != 4 ||
        FIELD_OF(CCR, ADDTR) != dtr || FIELD_OF(CCR, DDTR) != dtr) {
        return dtr ? "no octal DTR read (IR 0xEE11 with address and data on eight lines, both edges)"
                   : "no octal STR read (IR 0xEC13 with address and data on eight lines, one edge)";
    }
    if (cycles != dummy_cycles[nor.dummy_code]) {
        return "the dummy cycles differ from the part's (TCR DCYC against configuration register 2 at 0x300)";
    }
    return NULL;
}

/* At two bytes a clock the part sends the second of each half-word first. */
static bool swapped(void)
{
    return nor.mode == NOR_OCTAL_DTR && FIELD_OF(DCR1, MTYP) != MACRONIX;
}

N6VirtWindow n6virt_xspi_window(const char **reason)
{
    if (!n6virt_has(N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI2EN)) {
        *reason = "XSPI2 has no clock";
        return N6VIRT_WINDOW_CLOSED;
    }
    if (!controller_ready() || FIELD_OF(CR, FMODE) != 3) {
        *reason = "XSPI2 is not in memory-mapped mode";
        return N6VIRT_WINDOW_CLOSED;
    }
    *reason = unclocked();
    if (*reason) {
        return N6VIRT_WINDOW_CLOSED;
    }
    *reason = deaf();
    if (!*reason) {
        *reason = mismatch();
    }
    if (*reason) {
        return N6VIRT_WINDOW_WRONG;
    }
    if (swapped()) {
        *reason = "the memory type is not Macronix (DCR1 MTYP)";
        return N6VIRT_WINDOW_SWAPPED;
    }
    return N6VIRT_WINDOW_OPEN;
}
