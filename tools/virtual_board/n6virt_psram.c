/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A PSRAM on sixteen lines behind XSPI1: the commands of the part, its mode registers, and whether the memory-mapped window
 * would really reach it. The differences between parts are properties of the machine, such as psram-read=0x20 (from the board's
 * external_ram.psram, and boards/psram); without psram-bytes there is no part. Not modelled: clock rates, the effect of a missing
 * refresh or of a burst over the end of a row, and the voltage range of the pads. Programs published as running on a real board
 * leave DCR3, DCR4 and VRSEL as they are after reset, so DCR3 and DCR4 are checked with harshness only.
 */
#include "n6virt.h"

#include "exec/address-spaces.h"
#include "qapi/error.h"

#define REGISTERS 16
#define SIXTEEN_LINES 5
#define LINES_OF(register_value, name) (((register_value) & N6_XSPI_CCR_##name) >> N6_XSPI_CCR_##name##_POS)

static struct {
    uint32_t bytes;
    uint32_t memory_type;
    uint32_t reset, read, write, read_register, write_register;
    uint32_t reset_us, row, max_select_ns;
    uint32_t read_latency_address, read_latency_bit, read_latency_reset, fixed_latency;
    uint32_t write_latency_address, write_latency_bit, write_latency_reset;
    uint32_t width_address, width;
    uint32_t vendor_address, vendor, density_address, density;
    uint32_t supply; /* bits of PWR SVMCR3 */
    uint32_t control_port, control_pins, control_alternate;
    uint32_t data_port, data_pins, data_alternate;
    char *read_latency, *write_latency; /* such as 3/4/5: cycles by the code */
} part;

typedef enum { NOTHING, REGISTER_READ, REGISTER_WRITE, MEMORY_READ, MEMORY_WRITE } Transfer;
typedef enum { CLOSED, WRONG, OPEN } Window;

static struct {
    uint8_t registers[REGISTERS];
    Transfer transfer; /* in indirect mode */
    uint32_t address;
    int64_t ready_at;    /* guest time: the end of its reset */
    bool has_content;    /* of power-on */
    MemoryRegion closed;
    N6VirtRam ram; /* cached for reading only: write-through by the processor's default memory map */
} psram;

static char reason[192];

static void add_properties(Object *machine)
{
    static const N6VirtNumber numbers[] = {
        {"psram-bytes", &part.bytes},
        {"psram-memory-type", &part.memory_type},
        {"psram-reset", &part.reset},
        {"psram-reset-us", &part.reset_us},
        {"psram-row", &part.row},
        {"psram-max-select-ns", &part.max_select_ns},
        {"psram-read", &part.read},
        {"psram-write", &part.write},
        {"psram-read-register", &part.read_register},
        {"psram-write-register", &part.write_register},
        {"psram-read-latency-address", &part.read_latency_address},
        {"psram-read-latency-bit", &part.read_latency_bit},
        {"psram-read-latency-reset", &part.read_latency_reset},
        {"psram-fixed-latency", &part.fixed_latency},
        {"psram-write-latency-address", &part.write_latency_address},
        {"psram-write-latency-bit", &part.write_latency_bit},
        {"psram-write-latency-reset", &part.write_latency_reset},
        {"psram-width-address", &part.width_address},
        {"psram-width", &part.width},
        {"psram-vendor-address", &part.vendor_address},
        {"psram-vendor", &part.vendor},
        {"psram-density-address", &part.density_address},
        {"psram-density", &part.density},
        {"psram-supply", &part.supply},
        {"psram-control-port", &part.control_port},
        {"psram-control-pins", &part.control_pins},
        {"psram-control-alternate", &part.control_alternate},
        {"psram-data-port", &part.data_port},
        {"psram-data-pins", &part.data_pins},
        {"psram-data-alternate", &part.data_alternate},
    };

    n6virt_number_properties(machine, numbers, ARRAY_SIZE(numbers));
    n6virt_text_property(machine, "psram-read-latency", &part.read_latency);
    n6virt_text_property(machine, "psram-write-latency", &part.write_latency);
}

bool n6virt_psram_uses_port(uint32_t port)
{
    return part.bytes && (port == part.control_port || port == part.data_port);
}

static uint32_t reg(uint32_t offset)
{
    return n6virt_get(N6_XSPI1_BASE + offset);
}

static uint32_t mode_register(uint32_t address)
{
    return address < REGISTERS ? psram.registers[address] : 0;
}

static void reset_part(void)
{
    memset(psram.registers, 0, sizeof(psram.registers));
    psram.registers[part.read_latency_address % REGISTERS] = part.read_latency_reset;
    psram.registers[part.write_latency_address % REGISTERS] = part.write_latency_reset;
    psram.registers[part.vendor_address % REGISTERS] = part.vendor;
    psram.registers[part.density_address % REGISTERS] = part.density;
}

/* Return a latency in clock cycles; 0 for an unknown code in the register. codes: such as 3/4/5. */
static unsigned latency(const char *codes, uint32_t address, uint32_t bit)
{
    g_auto(GStrv) known = g_strsplit(codes ? codes : "", "/", -1);
    unsigned count = g_strv_length(known), code = mode_register(address) >> bit & (pow2ceil(MAX(count, 1u)) - 1);

    return code < count ? strtoul(known[code], NULL, 10) : 0;
}

static bool is_wide(void)
{
    return (mode_register(part.width_address) & part.width) == part.width;
}

/* Check supply, pins and route. Return the reason why the part receives nothing, or NULL. */
static const char *deaf(void)
{
    const char *wrong;

    if (!n6virt_has(N6_PWR_SVMCR3, part.supply)) {
        snprintf(reason, sizeof(reason), "the pads have no supply (PWR SVMCR3 0x%08x)", part.supply);
        return reason;
    }
    wrong = n6virt_wrong_pin(part.control_port, part.control_pins, part.control_alternate, "the PSRAM");
    wrong = wrong ? wrong : n6virt_wrong_pin(part.data_port, part.data_pins, part.data_alternate, "the PSRAM");
    wrong = wrong ? wrong : n6virt_slow_pin(part.control_port, part.control_pins, n6virt_xspi_hz(N6_XSPI1_BASE));
    wrong = wrong ? wrong : n6virt_slow_pin(part.data_port, part.data_pins, n6virt_xspi_hz(N6_XSPI1_BASE));
    if (wrong) {
        return wrong;
    }
    if (n6virt_get(N6_XSPIM_CR) & (N6_XSPIM_CR_MODE | N6_XSPIM_CR_MUXEN)) {
        return "XSPIM gives XSPI1 another port, as the boot ROM left it (XSPIM CR MODE, MUXEN)";
    }
    return NULL;
}

/* Return whether a command has the part's format for registers and memory: the instruction on eight lines at one edge, an
 * address of 32 bits and data at both. */
static bool is_framed(uint32_t lines)
{
    return LINES_OF(lines, IMODE) == 4 && !LINES_OF(lines, IDTR) && LINES_OF(lines, ISIZE) == 0 && LINES_OF(lines, ADMODE) == 4 &&
           LINES_OF(lines, ADDTR) && LINES_OF(lines, ADSIZE) == 3 && LINES_OF(lines, DDTR);
}

/* Return whether the dummy cycles are right. The controller ends a latency with the strobe: fewer cycles suffice, more lose the
 * first data. */
static bool is_in_time(uint32_t timing)
{
    unsigned cycles = latency(part.read_latency, part.read_latency_address, part.read_latency_bit);

    if (mode_register(part.read_latency_address) & part.fixed_latency) {
        cycles *= 2;
    }
    return cycles && (timing & N6_XSPI_TCR_DCYC) + 1 <= cycles;
}

/* Return the reason why an access to the memory goes wrong, or NULL. r: prefix of the registers' names, "W" for writes. */
static const char *wrong_access(const char *r, uint32_t lines, uint32_t timing, uint32_t instruction, bool writes)
{
    uint32_t opcode = writes ? part.write : part.read;

    if (!is_framed(lines) || instruction != opcode) {
        snprintf(reason, sizeof(reason),
                 "no linear %s (%sIR 0x%02X; %sCCR: instruction on eight lines at one edge, 32-bit address on eight at both, data at both)",
                 writes ? "write" : "read", r, opcode, r);
    } else if (LINES_OF(lines, DMODE) != (is_wide() ? SIXTEEN_LINES : 4)) {
        snprintf(reason, sizeof(reason), "the part has its data on %s lines (%sCCR DMODE against its register %u)",
                 is_wide() ? "sixteen" : "eight", r, part.width_address);
    } else if (!LINES_OF(lines, DQSE)) {
        snprintf(reason, sizeof(reason), "the strobe is off, which %s (%sCCR DQSE)", writes ? "masks bytes" : "marks valid data", r);
    } else if (writes ? (timing & N6_XSPI_TCR_DCYC) + 1 !=
                            latency(part.write_latency, part.write_latency_address, part.write_latency_bit)
                      : !is_in_time(timing)) {
        snprintf(reason, sizeof(reason), "the latency differs from the part's (%sTCR DCYC + 1 against its register %u)", r,
                 writes ? part.write_latency_address : part.read_latency_address);
    } else {
        return NULL;
    }
    return reason;
}

static const char *wrong_controller(void)
{
    uint32_t device = reg(N6_XSPI_DCR1_OFFSET);

    if (reg(N6_XSPI_CR_OFFSET) & N6_XSPI_CR_CSSEL) {
        return "nothing is at the second chip select (CR CSSEL)";
    }
    if ((device & N6_XSPI_DCR1_MTYP) >> N6_XSPI_DCR1_MTYP_POS != part.memory_type) {
        return "the memory type is not that of the part (DCR1 MTYP)";
    }
    return n6virt_xspi_part_bytes(N6_XSPI1_BASE) < part.bytes ? "the controller knows a part smaller than this one (DCR1 DEVSIZE)" : NULL;
}

static Window window(const char **why)
{
    *why = n6virt_xspi_unmapped(N6_XSPI1_BASE);
    if (*why) {
        return CLOSED;
    }
    *why = deaf();
    *why = *why ? *why : wrong_controller();
    *why = *why ? *why : wrong_access("", reg(N6_XSPI_CCR_OFFSET), reg(N6_XSPI_TCR_OFFSET), reg(N6_XSPI_IR_OFFSET), false);
    *why = *why ? *why : wrong_access("W", reg(N6_XSPI_WCCR_OFFSET), reg(N6_XSPI_WTCR_OFFSET), reg(N6_XSPI_WIR_OFFSET), true);
    return *why ? WRONG : OPEN;
}

/* Fill the part as at power-on. Most programs never use it, so not earlier. */
static void power_up(void)
{
    if (!psram.has_content && n6virt_is_harsh()) {
        n6virt_fill_fresh(psram.ram.data, psram.ram.base, part.bytes);
        n6virt_changed(&psram.ram, 0, part.bytes);
    }
    psram.has_content = true;
}

/* Report a window that is mapped without the limits of a burst. */
static void check_bursts(void)
{
    uint32_t boundary = (reg(N6_XSPI_DCR3_OFFSET) & N6_XSPI_DCR3_CSBOUND) >> N6_XSPI_DCR3_CSBOUND_POS;
    uint32_t refresh = reg(N6_XSPI_DCR4_OFFSET);
    uint64_t cycles = n6virt_xspi_hz(N6_XSPI1_BASE) * part.max_select_ns / 1000000000u;

    if (!boundary || boundary > 31 || 1u << boundary > part.row) {
        n6virt_finding("psram-row", N6_XSPI1_DCR3, "A burst to the PSRAM may run over the end of a row, where the part wraps: end it every "
                       "%u bytes (DCR3 CSBOUND)", part.row);
    }
    if (!refresh || refresh > cycles + 1) {
        n6virt_finding("psram-refresh", N6_XSPI1_DCR4, "The PSRAM may stay selected for too long to refresh itself, and forgets: release it "
                       "after at most %" PRIu64 " cycles (DCR4 REFRESH)", cycles);
    }
}

static void update(void)
{
    bool open, was_open = psram.ram.memory.enabled;
    const char *why;

    if (part.bytes) {
        open = window(&why) == OPEN;
        memory_region_set_enabled(&psram.ram.memory, open);
        if (open && !was_open && n6virt_is_harsh()) {
            power_up();
            check_bursts();
        }
    }
}

static MemTxResult closed_access(hwaddr offset, const char *access, const char *effect)
{
    uint32_t address = N6_XSPI1_WINDOW_BASE + offset;
    const char *why;

    switch (window(&why)) {
    case OPEN:
        n6virt_finding("psram-hole", address, "%s 0x%08x faults: the PSRAM has %u bytes", access, address, part.bytes);
        return MEMTX_ERROR;
    case CLOSED:
        n6virt_finding("psram-not-mapped", address, "%s the PSRAM at 0x%08x faults: %s", access, address, why);
        return MEMTX_ERROR;
    default:
        n6virt_finding("psram-mode", address, "%s the PSRAM at 0x%08x %s: %s", access, address, effect, why);
        return MEMTX_OK;
    }
}

static MemTxResult closed_read(void *opaque, hwaddr offset, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    *value = UINT64_MAX;
    return closed_access(offset, "Read of", "gives ones");
}

static MemTxResult closed_write(void *opaque, hwaddr offset, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    return closed_access(offset, "Write to", "is lost");
}

static const MemoryRegionOps closed_ops = {
    .read_with_attrs = closed_read, .write_with_attrs = closed_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

static void add_window(void)
{
    if (!part.bytes) {
        return;
    }
    reset_part();
    memory_region_init_io(&psram.closed, NULL, &closed_ops, NULL, "n6.psram-closed", N6_XSPI1_WINDOW_SIZE);
    memory_region_add_subregion_overlap(get_system_memory(), N6_XSPI1_WINDOW_BASE, &psram.closed, 0);
    memory_region_init_ram(&psram.ram.memory, NULL, "n6.psram", part.bytes, &error_fatal);
    memory_region_add_subregion_overlap(get_system_memory(), N6_XSPI1_WINDOW_BASE, &psram.ram.memory, 1);
    memory_region_set_enabled(&psram.ram.memory, false);
    psram.ram.name = "PSRAM";
    psram.ram.base = N6_XSPI1_WINDOW_BASE;
    psram.ram.bytes = part.bytes;
    psram.ram.data = memory_region_get_ram_ptr(&psram.ram.memory);
    psram.ram.cleaned = g_malloc0(part.bytes / N6_CACHE_LINE);
    n6virt_add_outside_ram(&psram.ram);
}

/* Indirect mode */

/* Return the transfer that the command begins; NOTHING if the part does not understand it, or has no data for it. */
static Transfer understood(const N6VirtFrame *frame)
{
    uint32_t lines = frame->lines;

    if (deaf()) {
        return NOTHING;
    }
    if (n6virt_now() < psram.ready_at) {
        n6virt_finding("psram-busy", N6_XSPI1_BASE, "The PSRAM ignores the command 0x%02X: its reset takes %u us", frame->instruction & 0xff,
                       part.reset_us);
        return NOTHING;
    }
    if (frame->instruction == part.reset && LINES_OF(lines, IMODE) == 4 && !LINES_OF(lines, IDTR) && LINES_OF(lines, ADMODE) == 4) {
        reset_part();
        psram.ready_at = n6virt_is_harsh() ? n6virt_after_us(part.reset_us) : 0;
        return NOTHING;
    }
    if (is_framed(lines) && LINES_OF(lines, DMODE) == 4) {
        if (frame->reads && frame->instruction == part.read_register && LINES_OF(lines, DQSE) && is_in_time(frame->timing)) {
            return REGISTER_READ;
        }
        if (!frame->reads && frame->instruction == part.write_register && !(frame->timing & N6_XSPI_TCR_DCYC)) {
            return REGISTER_WRITE;
        }
    }
    if (wrong_controller() || wrong_access("", lines, frame->timing, frame->instruction, !frame->reads)) {
        return NOTHING;
    }
    return frame->reads ? MEMORY_READ : MEMORY_WRITE;
}

static void begin(const N6VirtFrame *frame)
{
    power_up();
    psram.transfer = understood(frame);
    psram.address = frame->address;
}

static uint8_t next_byte(void)
{
    uint32_t address = psram.address++;

    switch (psram.transfer) {
    case REGISTER_READ:
        return mode_register(address);
    case MEMORY_READ:
        return psram.ram.data[address % part.bytes];
    default:
        return 0xff; /* the lines are not driven */
    }
}

static void take_byte(uint8_t value)
{
    uint32_t address = psram.address++;

    if (psram.transfer == REGISTER_WRITE && address == reg(N6_XSPI_AR_OFFSET) && address < REGISTERS &&
        address != part.vendor_address && address != part.density_address) {
        psram.registers[address] = value;
    } else if (psram.transfer == MEMORY_WRITE) {
        psram.ram.data[address % part.bytes] = value;
        n6virt_changed(&psram.ram, address % part.bytes, 1);
    }
}

static const N6VirtPart psram_part = {.begin = begin, .read = next_byte, .write = take_byte};

static void start(void)
{
    add_window();
    if (part.bytes) {
        n6virt_xspi_connect(N6_XSPI1_BASE, &psram_part);
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = update, .update = update};
N6VIRT_MODULE(module)
