/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The octal NOR behind XSPI2: its modes, commands and busy times, and whether it understands the commands of the window. Bytes
 * count as on the lines: an address sent as data is an address. Not modelled: protection of sectors, secured areas, wrapped
 * bursts.
 */
#include "n6virt_nor.h"

#include "qemu/host-utils.h"

#define CYCLES_OF(timing) ((timing) & N6_XSPI_TCR_DCYC)
#define MAX_SETTINGS 32
#define US_PER_S 1000000u
/* A rate above a limit by up to so much is reported, and works. Limits are in whole MHz: 133 stands for 133.33. INFERRED that
 * all parts keep so much in reserve: published programs run theirs so. */
#define RESERVE_PERCENT 2u

/* JEDEC's commands, which every serial NOR has. With addresses of 24 bits, until the part is switched to 32: */
enum { READ = 0x03, FAST_READ = 0x0b, PROGRAM = 0x02, ERASE_4K = 0x20, ERASE_64K = 0xd8, READ_SFDP = 0x5a };
/* With addresses of 32 bits: */
enum { FAST_READ_4B = 0x0c };
/* Without an address: */
enum {
    WRITE_STATUS = 0x01,
    WRITE_DISABLE = 0x04,
    READ_STATUS = 0x05,
    WRITE_ENABLE = 0x06,
    READ_CONFIGURATION = 0x15,
    READ_SECURITY = 0x2b,
    RESUME = 0x30,
    ERASE_CHIP = 0x60,
    RESET_ENABLE = 0x66,
    RESET = 0x99,
    READ_IDENTIFICATION = 0x9f,
    WAKE = 0xab,
    SUSPEND = 0xb0,
    USE_4_BYTES = 0xb7,
    SLEEP = 0xb9,
    ERASE_CHIP_TOO = 0xc7,
    USE_3_BYTES = 0xe9,
    NOTHING = -1,
};
#define FAST_READ_CYCLES 8u
#define STATUS_BUSY 0x01u
#define STATUS_WRITE_ENABLED 0x02u

typedef enum { NOR_SPI, NOR_OCTAL_STR, NOR_OCTAL_DTR } NorMode;

static struct {
    NorMode mode, former_mode;
    int64_t former_until;    /* guest time */
    bool reset_enabled, write_enabled, four_bytes, asleep;
    uint8_t dummy_code;
    int64_t busy_until;      /* guest time */
    int64_t suspended;       /* remaining time of the suspended work; 0: none */
    const char *busy_with;

    /* The command in progress */
    int code;
    unsigned address_bytes, position;
    uint32_t address;
    bool in_time, swapped, one_edge;
    uint8_t page[N6VIRT_NOR_MAX_PAGE];  /* ones where nothing is programmed */
    uint8_t value;           /* the first byte of data */
    bool told_range, told_rate, told_select;
    uint32_t writes;         /* of the array; counted with nor-cut only */
} nor;

static char reason[192];

/* Settings by the value of the dummy register. */
static struct {
    unsigned cycles, max_hz;
} settings[MAX_SETTINGS];

static uint32_t reg(uint32_t offset)
{
    return n6virt_get(N6_XSPI2_BASE + offset);
}

/* Return whether the program has not touched the chip select, and report that. The boot ROM has used the pin to read the program.
 * How it leaves it is unknown; here it works. */
static bool is_left_by_rom(uint32_t pins)
{
    unsigned pin = ctz32(pins);

    if (!pins || !n6virt_is_flash_boot() || n6virt_get(n6virt_nor.port + N6_GPIO_MODER_OFFSET) >> 2 * pin & 3) {
        return false;
    }
    if (!nor.told_select) {
        nor.told_select = true;
        n6virt_finding("nor-pin", n6virt_nor.port, "Pin P%c%u, the chip select of the NOR, is not set by the program: it depends on the "
                       "state in which the boot ROM leaves it, which is unknown", n6virt_port_letter(n6virt_nor.port), pin);
    }
    return true;
}

/* Check supply, pins and route. Return the reason why the part receives nothing, or NULL. */
static const char *deaf(void)
{
    const char *wrong;

    if (!n6virt_has(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3SV)) {
        return "the pads have no supply (PWR SVMCR3 VDDIO3SV)";
    }
    wrong = n6virt_wrong_pin(n6virt_nor.port, n6virt_nor.pins & ~n6virt_nor.chip_select, n6virt_nor.alternate, "the NOR");
    if (!wrong && !is_left_by_rom(n6virt_nor.chip_select)) {
        wrong = n6virt_wrong_pin(n6virt_nor.port, n6virt_nor.chip_select, n6virt_nor.alternate, "the NOR");
    }
    if (wrong) {
        return wrong;
    }
    wrong = n6virt_slow_pin(n6virt_nor.port, n6virt_nor.pins & ~n6virt_nor.chip_select, n6virt_xspi_hz(N6_XSPI2_BASE));
    if (wrong) {
        return wrong;
    }
    if (n6virt_has(N6_XSPIM_CR, N6_XSPIM_CR_MODE)) {
        return "XSPIM still swaps the controllers, as the boot ROM left it (XSPIM CR MODE)";
    }
    return reg(N6_XSPI_CR_OFFSET) & N6_XSPI_CR_CSSEL ? "nothing is at the second chip select (CR CSSEL)" : NULL;
}

/* Report the wrong voltage range once, without other effect. Programs that real boards run leave it so: slow pads are enough
 * for their clock. */
void n6virt_nor_check_range(void)
{
    if (!nor.told_range && !n6virt_has(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3VRSEL)) {
        nor.told_range = true;
        n6virt_finding("nor-range", N6_PWR_SVMCR3,
                       "The pads of the NOR are set for 3.3 V, but the board supplies 1.8 V (PWR SVMCR3 VDDIO3VRSEL)");
    }
}

static const char *too_fast(uint64_t limit, const char *what)
{
    uint64_t hz = n6virt_xspi_hz(N6_XSPI2_BASE);

    if (hz <= limit) {
        return NULL;
    }
    if (hz * 100 <= limit * (100 + RESERVE_PERCENT)) {
        if (!nor.told_rate) {
            nor.told_rate = true;
            n6virt_finding("nor-rate", N6_XSPI2_BASE, "%" PRIu64 " Hz are slightly above the limit of the part: %s takes %" PRIu64
                           " (RCC CCIPR6, DCR2 PRESCALER)", hz, what, limit);
        }
        return NULL;
    }
    snprintf(reason, sizeof(reason), "%" PRIu64 " Hz are too fast for the part: %s takes %" PRIu64 " (RCC CCIPR6, DCR2 PRESCALER)", hz, what,
             limit);
    return reason;
}

static bool is_busy(void)
{
    return n6virt_now() < nor.busy_until;
}

static void begin_work(const char *what, uint32_t us)
{
    nor.write_enabled = false;
    nor.busy_with = what;
    nor.busy_until = n6virt_after_us(us);
}

static void reset_part(void)
{
    nor.mode = NOR_SPI;
    nor.write_enabled = nor.four_bytes = nor.asleep = false;
    nor.dummy_code = 0;
    nor.busy_until = nor.suspended = nor.former_until = 0;
    nor.code = NOTHING;
}

/* Return the two bytes of a command on eight lines. */
static uint32_t octal(uint32_t opcode)
{
    return opcode << 8 | (opcode ^ n6virt_nor.second_byte);
}

static unsigned lines_in(NorMode mode)
{
    return mode == NOR_SPI ? 1 : 4;
}

/* Return whether instruction and address have the lines and edges of the mode. */
static bool fits_command(uint32_t lines, NorMode mode)
{
    unsigned wanted = lines_in(mode), dtr = mode == NOR_OCTAL_DTR;

    return N6VIRT_LINES_OF(lines, IMODE) == wanted && N6VIRT_LINES_OF(lines, IDTR) == dtr && N6VIRT_LINES_OF(lines, ISIZE) == (wanted == 4) &&
           (!N6VIRT_LINES_OF(lines, ADMODE) || (N6VIRT_LINES_OF(lines, ADMODE) == wanted && N6VIRT_LINES_OF(lines, ADDTR) == dtr));
}

/* Return whether the data, if there is any, has the lines of the mode, at one edge although the part moves it at both. */
static bool is_at_one_edge(uint32_t lines, NorMode mode)
{
    return N6VIRT_LINES_OF(lines, DMODE) == lines_in(mode) && mode == NOR_OCTAL_DTR && !N6VIRT_LINES_OF(lines, DDTR);
}

/* Return whether each phase that is present has the lines and edges of the mode. */
static bool fits_mode(uint32_t lines, NorMode mode)
{
    return fits_command(lines, mode) && (!N6VIRT_LINES_OF(lines, DMODE) || (N6VIRT_LINES_OF(lines, DMODE) == lines_in(mode) &&
                                                                             N6VIRT_LINES_OF(lines, DDTR) == (mode == NOR_OCTAL_DTR)));
}

/* Return whether a command answers with bytes that stay on the lines for both edges, so that one edge suffices: ST's FSBL 1.4
 * reads the status so in octal DTR. */
static bool repeats(int code)
{
    return code == READ_STATUS || code == READ_CONFIGURATION || code == READ_SECURITY || code == READ_IDENTIFICATION ||
           code == (int)n6virt_nor.read_register;
}

/* Return whether the dummy cycles are right. With the strobe the controller waits for the data itself, so fewer cycles suffice:
 * ST's programs send 10 where the part has 20. */
static bool is_in_time(const N6VirtFrame *frame, unsigned cycles)
{
    return N6VIRT_LINES_OF(frame->lines, DQSE) && cycles != UINT_MAX ? CYCLES_OF(frame->timing) <= cycles
                                                                     : CYCLES_OF(frame->timing) == cycles;
}

/* Return the dummy cycles of data on eight lines, as set in the part; UINT_MAX for an unknown value of its register. */
static unsigned dummy_cycles(void)
{
    return settings[nor.dummy_code % MAX_SETTINGS].cycles;
}

static bool reads_array(int code)
{
    switch (nor.mode) {
    case NOR_SPI:
        return code == READ || code == FAST_READ || code == FAST_READ_4B || code == (int)n6virt_nor.read;
    case NOR_OCTAL_STR:
        return code == (int)n6virt_nor.read_str;
    default:
        return code == (int)n6virt_nor.read_dtr;
    }
}

/* Return the dummy cycles of a command that reads the array or the parameters. */
static unsigned cycles_of(int code)
{
    if (nor.mode != NOR_SPI) {
        return dummy_cycles();
    }
    return code == READ || code == (int)n6virt_nor.read ? 0 : FAST_READ_CYCLES;
}

static unsigned address_bytes_of(int code)
{
    switch (code) {
    case READ_SFDP:
        return nor.mode == NOR_SPI ? 3 : 4;
    case READ:
    case FAST_READ:
    case PROGRAM:
    case ERASE_4K:
    case ERASE_64K:
        return nor.four_bytes || nor.mode != NOR_SPI ? 4 : 3;
    default:
        return code == FAST_READ_4B || reads_array(code) || code == (int)n6virt_nor.program || code == (int)n6virt_nor.erase_4k ||
                       code == (int)n6virt_nor.erase_64k || code == (int)n6virt_nor.write_register || code == (int)n6virt_nor.read_register
                   ? 4
                   : 0;
    }
}

static uint64_t max_hz(int code)
{
    if (nor.mode != NOR_SPI) {
        return settings[reads_array(code) ? nor.dummy_code % MAX_SETTINGS : 0].max_hz;
    }
    return cycles_of(code) || !reads_array(code) ? n6virt_nor.spi_max_hz : n6virt_nor.read_max_hz;
}

/* Return whether a frame reads the status in the former mode. INFERRED: a part that has just changed its mode still gives its
 * status on one line. ST's FSBL 1.2 reads it so after each command that leads to octal DTR, and continues if the answer is "not
 * busy". */
static bool is_late_status(const N6VirtFrame *frame)
{
    return n6virt_now() < nor.former_until && nor.former_mode == NOR_SPI && fits_mode(frame->lines, NOR_SPI) &&
           frame->instruction == READ_STATUS;
}

/* Return whether the data phase fits the part's mode. Report one that fits except for its edges. */
static bool fits_data(const N6VirtFrame *frame, int code)
{
    if (fits_mode(frame->lines, nor.mode)) {
        return true;
    }
    if (!is_at_one_edge(frame->lines, nor.mode)) {
        return false;
    }
    if (frame->reads && repeats(code)) {
        return true;
    }
    n6virt_finding("nor-mode", N6_XSPI2_BASE, "The NOR moves the data of the command 0x%02X at both edges, the controller at one (CCR DDTR)",
                   code);
    return false;
}

/* Return the command that the part understands; NOTHING if it does not receive or understand it. */
static int understood(const N6VirtFrame *frame)
{
    bool one_line = nor.mode == NOR_SPI;
    int code = one_line ? frame->instruction & 0xff : frame->instruction >> 8 & 0xff;

    if (!deaf() && is_late_status(frame)) {
        return READ_STATUS;
    }
    if (deaf()) {
        if (frame->reads) {
            n6virt_finding("nor-mode", N6_XSPI2_BASE, "The NOR does not receive a command whose answer is read: %s", deaf());
        }
        return NOTHING;
    }
    if (!fits_command(frame->lines, nor.mode) || (!one_line && (frame->instruction & 0xffff) != octal(code)) ||
        !fits_data(frame, code)) {
        return NOTHING;
    }
    if (too_fast(max_hz(code), "the command")) {
        n6virt_finding("nor-clock", N6_XSPI2_BASE, "The NOR does not understand the command 0x%02X: %s", code, reason);
        return NOTHING;
    }
    n6virt_nor_check_range();
    if (nor.asleep) {
        nor.asleep = code != WAKE;
        return NOTHING;
    }
    if (is_busy() && code != READ_STATUS && code != READ_CONFIGURATION && code != READ_SECURITY && code != RESET_ENABLE &&
        code != RESET && code != SUSPEND) {
        n6virt_finding("nor-busy", N6_XSPI2_BASE, "The NOR ignores the command 0x%02X: it is busy with %s", code, nor.busy_with);
        return NOTHING;
    }
    return code;
}

static bool writes_array(int code)
{
    return code == PROGRAM || code == ERASE_4K || code == ERASE_64K || code == ERASE_CHIP || code == ERASE_CHIP_TOO ||
           code == (int)n6virt_nor.program || code == (int)n6virt_nor.erase_4k || code == (int)n6virt_nor.erase_64k;
}

static bool programs(int code)
{
    return code == PROGRAM || code == (int)n6virt_nor.program;
}

/* Return whether the power fails in the middle of this write, counted from power-on. */
static bool is_cut(void)
{
    return n6virt_nor.cut && ++nor.writes == n6virt_nor.cut;
}

static void cut_power(void)
{
    n6virt_end("cut");
}

static void erase(uint32_t address, uint32_t bytes, const char *what, uint64_t us)
{
    g_autofree uint8_t *erased = g_malloc(bytes);
    bool cut = is_cut();

    memset(erased, 0xff, bytes);
    n6virt_nor_store(address % n6virt_nor_array.bytes & ~(bytes - 1), erased, cut ? bytes / 2 : bytes);
    if (cut) {
        cut_power();
    }
    begin_work(what, us);
}

/* Keep the bytes of the page that are programmed when the power fails: the first half. */
static void forget_second_half(void)
{
    unsigned programmed = 0, kept = 0;

    for (uint32_t i = 0; i < n6virt_nor.page; i++) {
        programmed += nor.page[i] != 0xff;
    }
    for (uint32_t i = 0; i < n6virt_nor.page; i++) {
        if (nor.page[i] != 0xff && kept++ >= programmed / 2) {
            nor.page[i] = 0xff;
        }
    }
}

/* Program the page: ones become zeros, never the reverse. */
static void program(void)
{
    uint32_t start = nor.address % n6virt_nor_array.bytes & ~(n6virt_nor.page - 1), wrong = n6virt_nor.page;
    bool cut = is_cut();

    if (cut) {
        forget_second_half();
    }
    for (uint32_t i = n6virt_nor.page; i-- > 0;) {
        uint8_t wanted = nor.page[i];

        nor.page[i] &= n6virt_nor_array.data[start + i];
        wrong = wanted != 0xff && nor.page[i] != wanted ? i : wrong;
    }
    if (wrong < n6virt_nor.page) {
        n6virt_finding("nor-write", N6_XSPI2_WINDOW_BASE + start + wrong,
                       "0x%08x in the NOR is programmed without an erase, and holds 0x%02x now: erase it first", N6_XSPI2_WINDOW_BASE + start + wrong, nor.page[wrong]);
    }
    n6virt_nor_store(start, nor.page, n6virt_nor.page);
    if (cut) {
        cut_power();
    }
    begin_work("programming", n6virt_nor.program_us);
}

static void write_array(int code)
{
    if (!nor.write_enabled) {
        n6virt_finding("nor-write", N6_XSPI2_BASE, "The NOR ignores the command 0x%02X: it is not enabled to write", code);
        return;
    }
    if (code == ERASE_CHIP || code == ERASE_CHIP_TOO) {
        erase(0, n6virt_nor_array.bytes, "erasing all", (uint64_t)n6virt_nor.erase_mib_us * (n6virt_nor_array.bytes >> 20));
    } else if (nor.position < nor.address_bytes) {
        return;
    } else if (!programs(code)) {
        bool small = code == ERASE_4K || code == (int)n6virt_nor.erase_4k;

        erase(nor.address, small ? 4096 : 65536, "erasing", small ? n6virt_nor.erase_4k_us : n6virt_nor.erase_64k_us);
    } else if (nor.position > nor.address_bytes) {
        program();
    }
}

static void set_register(void)
{
    if (!nor.write_enabled || nor.position <= nor.address_bytes) {
        return;
    }
    nor.write_enabled = false;
    if (nor.address == n6virt_nor.mode_address) {
        nor.former_mode = nor.mode;
        nor.former_until = n6virt_now() + (uint64_t)n6virt_nor.former_mode_us * n6virt_cpu_hz() / US_PER_S;
        nor.mode = nor.value == n6virt_nor.mode_dtr ? NOR_OCTAL_DTR : nor.value == n6virt_nor.mode_str ? NOR_OCTAL_STR : NOR_SPI;
    } else if (nor.address == n6virt_nor.dummy_address) {
        nor.dummy_code = nor.value;
    }
}

static uint8_t get_register(uint32_t address)
{
    if (address == n6virt_nor.mode_address) {
        return nor.mode == NOR_OCTAL_DTR ? n6virt_nor.mode_dtr : nor.mode == NOR_OCTAL_STR ? n6virt_nor.mode_str : n6virt_nor.mode_spi;
    }
    return address == n6virt_nor.dummy_address ? nor.dummy_code : 0;
}

/* Take a byte that the part receives: of the address, in whatever phase it comes, or of the data. */
static void take(uint8_t value)
{
    unsigned position = nor.position++;

    if (position < nor.address_bytes) {
        nor.address = nor.address << 8 | value;
        return;
    }
    position -= nor.address_bytes;
    nor.value = position ? nor.value : value;
    if (programs(nor.code)) {
        /* Addresses wrap at the end of the page; at both edges, they are even. */
        uint32_t address = nor.mode == NOR_OCTAL_DTR ? nor.address & ~1u : nor.address;

        nor.page[((address + position) ^ nor.swapped) % n6virt_nor.page] = value;
    }
}

static void begin(const N6VirtFrame *frame)
{
    unsigned bytes = N6VIRT_LINES_OF(frame->lines, ADMODE) ? N6VIRT_LINES_OF(frame->lines, ADSIZE) + 1 : 0;

    nor.code = n6virt_nor_array.data ? understood(frame) : NOTHING;
    nor.address_bytes = address_bytes_of(nor.code);
    nor.position = nor.address = 0;
    nor.swapped = n6virt_nor_is_swapped();
    nor.in_time = is_in_time(frame, cycles_of(nor.code));
    nor.one_edge = is_at_one_edge(frame->lines, nor.mode);
    memset(nor.page, 0xff, sizeof(nor.page));
    for (unsigned i = bytes; i-- > 0;) {
        take(frame->address >> 8 * i);
    }
    /* On eight lines registers are read at an address, which has no effect. */
    if (frame->reads && !nor.address_bytes) {
        nor.position = 0;
    }
}

static uint8_t read_byte(void)
{
    unsigned index = nor.position - nor.address_bytes, twice = nor.mode == NOR_OCTAL_DTR && !nor.one_edge ? index / 2 : index;
    bool has_address = nor.position >= nor.address_bytes;

    nor.position++;
    switch (nor.code) {
    case READ_STATUS:
        return (is_busy() ? STATUS_BUSY : 0) | (nor.write_enabled ? STATUS_WRITE_ENABLED : 0);
    case READ_CONFIGURATION:
        return n6virt_nor.configuration;
    case READ_SECURITY: /* nothing has failed, nothing is suspended or locked */
        return 0;
    case READ_IDENTIFICATION: /* at both edges, each byte twice */
        return n6virt_nor.jedec_id >> 8 * (2 - MIN(twice, 2u));
    case READ_SFDP:
        return has_address && nor.in_time && nor.address + index < n6virt_nor_array.sfdp_bytes ? n6virt_nor_array.sfdp[nor.address + index] : 0xff;
    default:
        if (nor.code == (int)n6virt_nor.read_register && has_address) {
            return get_register(nor.address);
        }
        if (reads_array(nor.code) && has_address && nor.in_time) {
            uint32_t address = nor.mode == NOR_OCTAL_DTR ? nor.address & ~1u : nor.address;

            return n6virt_nor_array.data[((address + index) ^ nor.swapped) % n6virt_nor_array.bytes];
        }
        return 0xff; /* the lines are not driven */
    }
}

static void end_command(void)
{
    int code = nor.code;

    nor.code = NOTHING;
    if (code == RESET && nor.reset_enabled) {
        reset_part();
        if (n6virt_is_harsh()) {
            begin_work("its reset", n6virt_nor.reset_us);
        }
    }
    nor.reset_enabled = code == RESET_ENABLE;
    switch (code) {
    case WRITE_ENABLE:
    case WRITE_DISABLE:
        nor.write_enabled = code == WRITE_ENABLE;
        break;
    case WRITE_STATUS: /* protection and drive strength, not modelled */
        nor.write_enabled = false;
        break;
    case USE_4_BYTES:
    case USE_3_BYTES:
        nor.four_bytes = code == USE_4_BYTES;
        break;
    case SLEEP:
        nor.asleep = true;
        break;
    case SUSPEND:
        if (is_busy()) {
            nor.suspended = nor.busy_until - n6virt_now();
            nor.busy_until = 0;
        }
        break;
    case RESUME:
        nor.busy_until = nor.suspended ? n6virt_now() + nor.suspended : nor.busy_until;
        nor.suspended = 0;
        break;
    default:
        if (code == (int)n6virt_nor.write_register) {
            set_register();
        } else if (writes_array(code)) {
            write_array(code);
        }
    }
}

static int64_t ready_at(void)
{
    return nor.busy_until;
}

static const N6VirtPart nor_part = {.begin = begin, .read = read_byte, .write = take, .end = end_command, .ready_at = ready_at};

bool n6virt_nor_is_swapped(void)
{
    return nor.mode == NOR_OCTAL_DTR && (reg(N6_XSPI_DCR1_OFFSET) & N6_XSPI_DCR1_MTYP) >> N6_XSPI_DCR1_MTYP_POS != n6virt_nor.memory_type;
}

/* Return the difference between the window's configuration and the part's settings, or NULL. */
static const char *window_mismatch(void)
{
    const N6VirtFrame frame = {.lines = reg(N6_XSPI_CCR_OFFSET), .timing = reg(N6_XSPI_TCR_OFFSET)};
    bool dtr = nor.mode == NOR_OCTAL_DTR;
    uint32_t instruction = reg(N6_XSPI_IR_OFFSET), wanted = octal(dtr ? n6virt_nor.read_dtr : n6virt_nor.read_str);
    int code = nor.mode == NOR_SPI ? instruction : wanted >> 8;

    if (N6VIRT_LINES_OF(frame.lines, IMODE) != (nor.mode == NOR_SPI ? 1 : 4) || N6VIRT_LINES_OF(frame.lines, IDTR) != dtr) {
        return "the controller uses other lines or edges than the NOR (CCR against the part's mode)";
    }
    if (N6VIRT_LINES_OF(frame.lines, ADSIZE) + 1 != address_bytes_of(code)) {
        return "the address has another width than the command: 24 bits for 0x03 and 0x0B, else 32 (CCR ADSIZE)";
    }
    if (nor.mode == NOR_SPI && (!reads_array(code) || !is_in_time(&frame, cycles_of(code)) || !fits_mode(frame.lines, nor.mode) ||
                                !N6VIRT_LINES_OF(frame.lines, ADMODE) || !N6VIRT_LINES_OF(frame.lines, DMODE))) {
        snprintf(reason, sizeof(reason), "no read with 32-bit address in 1-1-1 (IR 0x%02X without, 0x%02X with 8 dummy cycles)", n6virt_nor.read,
                 FAST_READ_4B);
        return reason;
    }
    if (instruction == wanted && fits_command(frame.lines, nor.mode) && is_at_one_edge(frame.lines, nor.mode)) {
        return "the part gives the data at both edges, the controller takes it at one (CCR DDTR)";
    }
    if (nor.mode != NOR_SPI && (instruction != wanted || !fits_mode(frame.lines, nor.mode) || !N6VIRT_LINES_OF(frame.lines, ADMODE) ||
                                !N6VIRT_LINES_OF(frame.lines, DMODE))) {
        snprintf(reason, sizeof(reason), "no octal %s read (IR 0x%04X with address and data on eight lines, %s)", dtr ? "DTR" : "STR",
                 wanted, dtr ? "both edges" : "one edge");
        return reason;
    }
    if (dtr && n6virt_is_harsh() && !N6VIRT_LINES_OF(frame.lines, DQSE)) {
        return "the strobe is off, which marks valid data at both edges (CCR DQSE)";
    }
    if (!is_in_time(&frame, cycles_of(code))) {
        snprintf(reason, sizeof(reason), "the dummy cycles differ from the part's (TCR DCYC against its register at 0x%x)",
                 n6virt_nor.dummy_address);
        return reason;
    }
    return too_fast(max_hz(code), nor.mode == NOR_SPI ? "this command" : "its number of dummy cycles");
}

const char *n6virt_nor_mismatch(void)
{
    const char *why = deaf();

    if (!why && is_busy()) {
        snprintf(reason, sizeof(reason), "it is busy with %s", nor.busy_with);
        return reason;
    }
    return why ? why : nor.asleep ? "it is in deep power-down" : window_mismatch();
}

static void start(void)
{
    g_auto(GStrv) cycles = g_strsplit(n6virt_nor.dummy_cycles ? n6virt_nor.dummy_cycles : "", "/", MAX_SETTINGS);
    g_auto(GStrv) max_hz = g_strsplit(n6virt_nor.max_hz ? n6virt_nor.max_hz : "", "/", MAX_SETTINGS);

    for (unsigned i = 0, known = MIN(g_strv_length(cycles), g_strv_length(max_hz)); i < MAX_SETTINGS; i++) {
        settings[i].cycles = i < known ? strtoul(cycles[i], NULL, 10) : UINT_MAX;
        settings[i].max_hz = i < known ? strtoul(max_hz[i], NULL, 10) : UINT_MAX;
    }
    n6virt_xspi_connect(N6_XSPI2_BASE, &nor_part);
}

/* Return to one line, however the program left the part: the boot ROM reads it so after a reset. */
static void reset(void)
{
    reset_part();
    nor.told_range = nor.told_rate = nor.told_select = false;
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
