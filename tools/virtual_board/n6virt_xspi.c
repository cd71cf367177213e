/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * XSPI2 with an octal NOR: registers, the commands that bring-up code sends, and whether the memory-mapped window would really
 * read the part. Programming and erasing are not modelled: the NOR's file is never written. What differs from part to part are
 * properties of the machine, such as nor-read-dtr=0xEE (the board's nor.commands, in boards/nor).
 */
#include "n6virt.h"

#include "qapi/error.h"

typedef enum { NOR_SPI, NOR_OCTAL_STR, NOR_OCTAL_DTR } NorMode;

N6VirtNor n6virt_nor;

static struct {
    NorMode mode;
    bool reset_enabled;
    bool write_enabled;
    uint8_t dummy_code;
    uint8_t fifo[32];
    unsigned fifo_used;
    unsigned fifo_read;
    unsigned writes_missing; /* data bytes that an indirect write still waits for */
} nor;

static char *get_dummy_cycles(Object *object, Error **errp)
{
    return g_strdup(n6virt_nor.dummy_cycles);
}

static void set_dummy_cycles(Object *object, const char *value, Error **errp)
{
    n6virt_nor.dummy_cycles = g_strdup(value);
}

static void add_properties(Object *machine)
{
    static const struct {
        const char *name;
        uint32_t *value;
    } numbers[] = {
        {"nor-jedec-id", &n6virt_nor.jedec_id},
        {"nor-memory-type", &n6virt_nor.memory_type},
        {"nor-second-byte", &n6virt_nor.second_byte},
        {"nor-read", &n6virt_nor.read},
        {"nor-read-str", &n6virt_nor.read_str},
        {"nor-read-dtr", &n6virt_nor.read_dtr},
        {"nor-write-register", &n6virt_nor.write_register},
        {"nor-read-register", &n6virt_nor.read_register},
        {"nor-mode-address", &n6virt_nor.mode_address},
        {"nor-mode-spi", &n6virt_nor.mode_spi},
        {"nor-mode-str", &n6virt_nor.mode_str},
        {"nor-mode-dtr", &n6virt_nor.mode_dtr},
        {"nor-dummy-address", &n6virt_nor.dummy_address},
        {"nor-port", &n6virt_nor.port},
        {"nor-pins", &n6virt_nor.pins},
        {"nor-alternate", &n6virt_nor.alternate},
    };

    for (unsigned i = 0; i < ARRAY_SIZE(numbers); i++) {
        object_property_add_uint32_ptr(machine, numbers[i].name, numbers[i].value, OBJ_PROP_FLAG_READWRITE);
    }
    object_property_add_str(machine, "nor-dummy-cycles", get_dummy_cycles, set_dummy_cycles);
}

/* Of the part as it is set; UINT_MAX where its register has no such value. */
static unsigned dummy_cycles(void)
{
    g_auto(GStrv) known = g_strsplit(n6virt_nor.dummy_cycles ? n6virt_nor.dummy_cycles : "", "/", -1);

    return nor.dummy_code < g_strv_length(known) ? strtoul(known[nor.dummy_code], NULL, 10) : UINT_MAX;
}

/* A command on eight lines. */
static uint32_t octal(uint32_t opcode)
{
    return opcode << 8 | (opcode ^ n6virt_nor.second_byte);
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

static char reason[160];

/* Supply and pins; the reason why the part hears nothing, or NULL. */
static const char *deaf(void)
{
    if (!n6virt_has(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3SV)) {
        return "the pads have no supply (PWR SVMCR3 VDDIO3SV)";
    }
    if (!n6virt_has(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3VRSEL)) {
        return "the pads are set for 3.3 V, the board has 1.8 V (PWR SVMCR3 VDDIO3VRSEL)";
    }
    for (unsigned pin = 0; pin < 16; pin++) {
        if ((n6virt_nor.pins >> pin & 1) && !n6virt_pin_is(n6virt_nor.port, pin, n6virt_nor.alternate)) {
            snprintf(reason, sizeof(reason), "pin P%c%u is not set to the NOR (alternate function %u)",
                     n6virt_port_letter(n6virt_nor.port), pin, n6virt_nor.alternate);
            return reason;
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

/* The opcode, or -1 where the part would not understand: in octal mode a second byte has to follow. */
static int opcode(void)
{
    uint32_t instruction = reg(N6_XSPI_IR_OFFSET);

    if (mode_of_lines() != nor.mode || deaf()) {
        return -1;
    }
    if (nor.mode == NOR_SPI) {
        return FIELD_OF(CCR, ISIZE) == 0 ? (int)(instruction & 0xff) : -1;
    }
    return FIELD_OF(CCR, ISIZE) == 1 && (instruction & 0xffff) == octal(instruction >> 8 & 0xff) ? (int)(instruction >> 8 & 0xff) : -1;
}

static void reset_part(void)
{
    nor.mode = NOR_SPI;
    nor.write_enabled = false;
    nor.dummy_code = 0;
}

static void set_register(uint32_t address, uint8_t value)
{
    if (!nor.write_enabled) {
        return;
    }
    nor.write_enabled = false;
    if (address == n6virt_nor.mode_address) {
        nor.mode = value == n6virt_nor.mode_dtr ? NOR_OCTAL_DTR : value == n6virt_nor.mode_str ? NOR_OCTAL_STR : NOR_SPI;
    } else if (address == n6virt_nor.dummy_address) {
        nor.dummy_code = value;
    }
}

static uint8_t get_register(uint32_t address)
{
    if (address == n6virt_nor.mode_address) {
        return nor.mode == NOR_OCTAL_DTR ? n6virt_nor.mode_dtr : nor.mode == NOR_OCTAL_STR ? n6virt_nor.mode_str : n6virt_nor.mode_spi;
    }
    return address == n6virt_nor.dummy_address ? nor.dummy_code : 0;
}

static uint8_t answer(int code, unsigned index)
{
    switch (code) {
    case 0x05:
        return nor.write_enabled << 1;
    case 0x9f:
        return n6virt_nor.jedec_id >> 8 * (2 - MIN(index, 2u));
    default:
        /* Otherwise nobody drives the lines. */
        return code == (int)n6virt_nor.read_register ? get_register(reg(N6_XSPI_AR_OFFSET)) : 0xff;
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

static uint32_t xspi_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
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

static void xspi_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
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
                if (opcode() == (int)n6virt_nor.write_register) {
                    set_register(reg(N6_XSPI_AR_OFFSET), value);
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

/* With an address of 32 bits on one line; its eight dummy cycles are those of JEDEC. */
#define FAST_READ_4_BYTE_ADDRESS 0x0c

/* How the window is configured against how the part is set. */
static const char *mismatch(void)
{
    bool dtr = nor.mode == NOR_OCTAL_DTR;
    uint32_t instruction = reg(N6_XSPI_IR_OFFSET), wanted = octal(dtr ? n6virt_nor.read_dtr : n6virt_nor.read_str);
    uint32_t cycles = FIELD_OF(TCR, DCYC);

    if (mode_of_lines() != nor.mode) {
        return "the controller and the NOR disagree on lines and edges (CCR against the part's mode)";
    }
    if (FIELD_OF(CCR, ADSIZE) != 3) {
        return "addresses are not 32 bits wide (CCR ADSIZE)";
    }
    if (nor.mode == NOR_SPI) {
        bool read = (instruction == n6virt_nor.read && cycles == 0) || (instruction == FAST_READ_4_BYTE_ADDRESS && cycles == 8);
        snprintf(reason, sizeof(reason), "no read with 32-bit address in 1-1-1 (IR 0x%02X without, 0x%02X with 8 dummy cycles)",
                 n6virt_nor.read, FAST_READ_4_BYTE_ADDRESS);
        return read && FIELD_OF(CCR, ADMODE) == 1 && FIELD_OF(CCR, DMODE) == 1 ? NULL : reason;
    }
    if (instruction != wanted || FIELD_OF(CCR, ADMODE) != 4 || FIELD_OF(CCR, DMODE) != 4 || FIELD_OF(CCR, ADDTR) != dtr ||
        FIELD_OF(CCR, DDTR) != dtr) {
        snprintf(reason, sizeof(reason), "no octal %s read (IR 0x%04X with address and data on eight lines, %s)", dtr ? "DTR" : "STR",
                 wanted, dtr ? "both edges" : "one edge");
        return reason;
    }
    if (cycles != dummy_cycles()) {
        snprintf(reason, sizeof(reason), "the dummy cycles differ from the part's (TCR DCYC against its register at 0x%x)",
                 n6virt_nor.dummy_address);
        return reason;
    }
    return NULL;
}

/* At two bytes a clock the bytes of a half-word may come in another order than the controller expects. */
static bool swapped(void)
{
    return nor.mode == NOR_OCTAL_DTR && FIELD_OF(DCR1, MTYP) != n6virt_nor.memory_type;
}

N6VirtWindow n6virt_xspi_window(const char **why)
{
    if (!n6virt_has(N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI2EN)) {
        *why = "XSPI2 has no clock";
        return N6VIRT_WINDOW_CLOSED;
    }
    if (!controller_ready() || FIELD_OF(CR, FMODE) != 3) {
        *why = "XSPI2 is not in memory-mapped mode";
        return N6VIRT_WINDOW_CLOSED;
    }
    *why = unclocked();
    if (*why) {
        return N6VIRT_WINDOW_CLOSED;
    }
    *why = deaf();
    if (!*why) {
        *why = mismatch();
    }
    if (*why) {
        return N6VIRT_WINDOW_WRONG;
    }
    if (swapped()) {
        *why = "the memory type is not that of the part (DCR1 MTYP)";
        return N6VIRT_WINDOW_SWAPPED;
    }
    return N6VIRT_WINDOW_OPEN;
}

static void xspim_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    if (n6virt_has(N6_XSPI1_CR, N6_XSPI_CR_EN) || n6virt_has(N6_XSPI2_CR, N6_XSPI_CR_EN)) {
        n6virt_finding("nor-mode", N6_XSPIM_CR, "XSPIM CR is written while an XSPI is enabled: the write is lost");
        return;
    }
    n6virt_set(N6_XSPIM_CR, value);
}

static const N6VirtModel xspi2 = {.read = xspi_read, .write = xspi_write};
static const N6VirtModel xspim = {.write = xspim_write, .registers = (const uint32_t[]){N6_XSPIM_CR_OFFSET, N6VIRT_END}};

static void start(void)
{
    n6virt_model(N6_XSPI2_BASE, &xspi2);
    n6virt_model(N6_XSPIM_BASE, &xspim);
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start};
N6VIRT_MODULE(module)
