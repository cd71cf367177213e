/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A Cortex-M55 at the addresses of the STM32N6, as far as bring-up code and networks on the CPU can see it: boot ROM, RAM
 * banks that have to be powered, a NOR that has to be mapped, RIF, two views of the NPU's RAM instead of a data cache, a
 * console. It counts instructions, not cycles, and a pass means "no modelled fault".
 *
 * Which chip it is, is compiled in (n6_soc.h, n6virt_chip.h); what the board has around it is told at the start:
 *
 *   -M stm32n6virt,nor=FILE,findings=FILE,appli-slot=0x70100000,nor-jedec-id=0xC2803A,...   (n6virt_xspi.c lists the rest)
 *   ,psram-bytes=0x2000000,...   where the board has one (n6virt_psram.c)
 *   -M stm32n6virt,findings=FILE -kernel x.elf     starts at the vector table N6_BOOT_PAYLOAD_ADDRESS, no boot ROM
 *
 * Guest time is one unit an instruction; under -icount shift=0,sleep=off it is QEMU's virtual time in ns, and how fast the host
 * executes plays no part. A processor that sleeps executes nothing: guest time then jumps to the next event that can wake it,
 * so that a sleep counts as the instructions that SysTick ticks for. Where nothing can, it jumps to a limit.
 *
 *   ,max-instructions=N   so much guest time ends the run, with status 124 and "ended": "limit" in the summary
 *   ,max-silence=N        as much of it in which the console neither says nor hears a byte does so, too: "ended": "silence"
 *   ,guest-time=FILE      guest time for who waits for this board: 8 bytes, little endian, every 2^20 instructions
 *
 * The test NPU (registers of our own, in the last 4 KiB of the NPU's, where the chip has no unit): SRC +0, LEN +4, START +8, RESULT +0xC. START sums LEN bytes at SRC
 * as the NPU would see them.
 */
#include "n6virt.h"

#include "n6_boot_header.h"

#include "chardev/char-fe.h"
#include "cpu.h"
#include "exec/address-spaces.h"
#include "hw/arm/armv7m.h"
#include "hw/arm/boot.h"
#include "hw/boards.h"
#include "hw/loader.h"
#include "hw/qdev-clock.h"
#include "hw/qdev-properties.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#include "qemu/bswap.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/sysemu.h"

#define TYPE_N6VIRT MACHINE_TYPE_NAME("stm32n6virt")
OBJECT_DECLARE_SIMPLE_TYPE(N6Virt, N6VIRT)

#define COUNT(...) +1
#define RAMS (0 N6VIRT_RAMS(COUNT))
#define BANKS (0 N6VIRT_BANKS(COUNT))
#define TEST_NPU_BASE (N6_NPU_BASE + N6VIRT_NPU_BYTES - 0x1000u)
#define NPU_RAM_BASE N6VIRT_BANKED_BASE
#define NPU_RAM_BYTES N6VIRT_BANKED_BYTES
#define LINES (NPU_RAM_BYTES / N6_CACHE_LINE)
#define NON_SECURE_PERIPHERALS 0x40000000u
#define SECURE_PERIPHERALS (NON_SECURE_PERIPHERALS | N6_SECURE_BIT)
#define PERIPHERAL_BYTES 0x10000000u
/* Of SysTick: a tick an instruction, which is what the cycle counter counts too. A second that a program makes of N6_CPU_HZ
 * ticks has N6_CPU_HZ instructions. */
#define CLOCK_HZ 1000000000
#define LIMIT_STATUS 124
#define PULSE (1 << 20)
#define HEADER_WORD(image, member) ldl_le_p((image) + offsetof(n6_boot_header_t, member))

struct N6Virt {
    MachineState parent;
    ARMv7MState armv7m;
    Clock *clock;

    char *nor_path;
    char *findings_path;
    char *guest_time_path;
    uint64_t max_instructions, max_silence;
    uint32_t appli_slot;

    MemoryRegion ram[RAMS];
    unsigned rams;
    MemoryRegion bank_off;
    MemoryRegion bank_on[BANKS];
    uint8_t *bank_data[BANKS]; /* what the CPU sees */
    uint8_t *npu_view;         /* what is in memory behind the CPU's cache */
    uint8_t cleaned[LINES];
    MemoryRegion ram_alias, nor, nor_closed, hole, peripherals, non_secure, cache_ops, dwt;
    uint8_t *nor_data;
    uint32_t nor_bytes;
    CharBackend console;
    uint8_t received;
    bool has_received;
    bool appli_checked;
    int64_t cycle_base;
    uint32_t npu[4];
    int guest_time_file;
    QEMUTimer *pulse, *limit, *silence;
    int64_t last_byte; /* guest time */
    const char *ended;
    Notifier exit;
};

static GHashTable *registers;
static N6Virt *board;

uint32_t n6virt_get(uint32_t address)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(registers, GUINT_TO_POINTER(address)));
}

void n6virt_set(uint32_t address, uint32_t value)
{
    g_hash_table_insert(registers, GUINT_TO_POINTER(address), GUINT_TO_POINTER(value));
}

#define PORT(letter, base, enable) {letter, base, enable},
const N6VirtPort n6virt_ports[] = {N6VIRT_PORTS(PORT)};
const unsigned n6virt_port_count = ARRAY_SIZE(n6virt_ports);

/* Which other peripheral needs which clock. */
static const struct {
    const char *name;
    uint32_t base, bytes, enable, bit;
} clocks[] = {
    {"RAMCFG", N6_RAMCFG_SRAM3_BASE & ~0xfffu, 0x1000, N6_RCC_AHB2ENR, N6_RCC_AHB2ENR_RAMCFGEN},
    {"RIFSC", N6_RIFSC_BASE, 0x1000, N6_RCC_AHB3ENR, N6_RCC_AHB3ENR_RIFSCEN},
    {"PWR", N6_PWR_BASE, 0x400, N6_RCC_AHB4ENR, N6_RCC_AHB4ENR_PWREN},
    {"USART1", N6_USART1_BASE, 0x400, N6_RCC_APB2ENR, N6_RCC_APB2ENR_USART1EN},
    {"XSPI1", N6_XSPI1_BASE, 0x400, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI1EN},
    {"XSPI2", N6_XSPI2_BASE, 0x400, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI2EN},
    {"XSPIM", N6_XSPIM_BASE, 0x400, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPIMEN},
    {"CACHEAXI", N6_CACHEAXI_BASE, 0x400, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_CACHEAXIEN},
    {"NPU", N6_NPU_BASE, N6VIRT_NPU_BYTES, N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_NPUEN},
};

static bool has_clock(uint32_t address)
{
    for (unsigned i = 0; i < n6virt_port_count; i++) {
        if (address - n6virt_ports[i].base < 0x400 && !n6virt_has(N6_RCC_AHB4ENR, n6virt_ports[i].enable)) {
            n6virt_finding("clock-off", address, "GPIO%c at 0x%08x has no clock: the access is lost, on the chip it may hang",
                           n6virt_ports[i].letter, address);
            return false;
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(clocks); i++) {
        if (address - clocks[i].base < clocks[i].bytes && !n6virt_has(clocks[i].enable, clocks[i].bit)) {
            n6virt_finding("clock-off", address, "%s at 0x%08x has no clock: the access is lost, on the chip it may hang",
                           clocks[i].name, address);
            return false;
        }
    }
    return true;
}

/* RAM banks */

#define BANK(name, base, bytes, enable, ramcfg) {name, base, bytes, enable, ramcfg},
static const struct {
    const char *name;
    uint32_t base, bytes, enable, ramcfg;
} banks[BANKS] = {N6VIRT_BANKS(BANK)};

/* By the offset in the RAM that is in banks; BANKS where there is none. */
static unsigned bank_at(uint32_t offset)
{
    unsigned bank = 0;

    while (bank < BANKS && NPU_RAM_BASE + offset - banks[bank].base >= banks[bank].bytes) {
        bank++;
    }
    return bank;
}

/* What the CPU sees. */
static uint8_t *bank_bytes(unsigned bank, uint32_t offset)
{
    return board->bank_data[bank] + (NPU_RAM_BASE + offset - banks[bank].base);
}

static bool bank_is_on(unsigned bank)
{
    return n6virt_has(N6_RCC_MEMENR, banks[bank].enable) && !n6virt_has(banks[bank].ramcfg, N6_RAMCFG_CR_SRAMSD);
}

static void update_banks(void)
{
    for (unsigned bank = 0; bank < BANKS; bank++) {
        memory_region_set_enabled(&board->bank_on[bank], bank_is_on(bank));
    }
}

static void bank_finding(const char *access, hwaddr offset)
{
    unsigned bank = bank_at(offset);
    uint32_t address = NPU_RAM_BASE + offset;

    if (bank == BANKS) {
        n6virt_finding("hole", address, "%s 0x%08x, where nothing is", access, address);
        return;
    }
    n6virt_finding("ram-off", address, "%s %s at 0x%08x, which is off (%s)", access, banks[bank].name, address,
                   n6virt_has(N6_RCC_MEMENR, banks[bank].enable) ? "RAMCFG CR SRAMSD is 1" : "its clock in RCC MEMENR is 0");
}

static uint64_t bank_off_read(void *opaque, hwaddr offset, unsigned size)
{
    bank_finding("read of", offset);
    return 0;
}

static void bank_off_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    bank_finding("lost write to", offset);
}

static const MemoryRegionOps bank_off_ops = {
    .read = bank_off_read, .write = bank_off_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Data cache: infinite and never written back by itself, the worst case for who forgets to clean it. */

static void cache_line(hwaddr operation, uint32_t address)
{
    uint32_t offset = ((address | N6_SECURE_BIT) & ~(N6_CACHE_LINE - 1)) - NPU_RAM_BASE;
    unsigned bank = bank_at(offset);
    uint8_t *line;

    n6virt_psram_clean(address);
    if (bank == BANKS || !bank_is_on(bank)) {
        return;
    }
    line = bank_bytes(bank, offset);
    if (operation == N6_SCB_DCIMVAC) {
        memcpy(line, board->npu_view + offset, N6_CACHE_LINE);
        memory_region_set_dirty(&board->bank_on[bank], line - board->bank_data[bank], N6_CACHE_LINE);
    } else {
        memcpy(board->npu_view + offset, line, N6_CACHE_LINE);
        board->cleaned[offset / N6_CACHE_LINE] = 1;
    }
}

#define CACHE_OPS_BASE N6_SCB_ICIALLU

static uint64_t cache_read(void *opaque, hwaddr offset, unsigned size)
{
    return 0;
}

static void cache_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    hwaddr operation = CACHE_OPS_BASE + offset;

    switch (operation) {
    case N6_SCB_DCIMVAC:
    case N6_SCB_DCCMVAU:
    case N6_SCB_DCCMVAC:
    case N6_SCB_DCCIMVAC:
        cache_line(operation, value);
        break;
    case N6_SCB_DCCISW:
    case N6_SCB_DCCSW:
        /* Only a loop over all sets and ways means something here; each has set 0 of way 0. */
        for (uint32_t offset_of_line = 0; value == 0 && offset_of_line < NPU_RAM_BYTES; offset_of_line += N6_CACHE_LINE) {
            cache_line(N6_SCB_DCCMVAC, NPU_RAM_BASE + offset_of_line);
        }
        break;
    }
}

static const MemoryRegionOps cache_ops = {
    .read = cache_read, .write = cache_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Cycle counter: one cycle an instruction under -icount shift=0, without what was slept. */

static int64_t instructions(void)
{
    return icount_enabled() ? icount_get_raw() : qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static uint64_t dwt_read(void *opaque, hwaddr offset, unsigned size)
{
    if (N6_DWT_BASE + offset == N6_DWT_CYCCNT) {
        return (uint32_t)(instructions() - board->cycle_base);
    }
    return n6virt_get(N6_DWT_BASE + offset);
}

static void dwt_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    if (N6_DWT_BASE + offset == N6_DWT_CYCCNT) {
        board->cycle_base = instructions() - (uint32_t)value;
    }
    n6virt_set(N6_DWT_BASE + offset, value);
}

static const MemoryRegionOps dwt_ops = {
    .read = dwt_read, .write = dwt_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Guest time */

static int64_t guest_time(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* In the thread of the CPU or in the main loop, in both cases between two instructions. */
void n6virt_end(const char *why)
{
    board->ended = why;
    exit(LIMIT_STATUS);
}

static void on_limit(void *opaque)
{
    n6virt_end("limit");
}

static void on_silence(void *opaque)
{
    int64_t end = board->last_byte + board->max_silence;

    if (guest_time() < end) {
        timer_mod(board->silence, end);
        return;
    }
    n6virt_end("silence");
}

static void on_pulse(void *opaque)
{
    int64_t now = guest_time();
    uint64_t shown = cpu_to_le64(now);

    if (pwrite(board->guest_time_file, &shown, sizeof(shown), 0) != sizeof(shown)) {
        error_report("cannot write guest time to %s: %s", board->guest_time_path, strerror(errno));
        exit(1);
    }
    timer_mod(board->pulse, now + PULSE);
}

static void start_guest_time(N6Virt *s)
{
    if ((s->max_instructions || s->max_silence || s->guest_time_path) && (!icount_enabled() || icount_to_ns(1) != 1)) {
        error_report("max-instructions, max-silence and guest-time need -icount shift=0,sleep=off");
        exit(1);
    }
    if (MAX(s->max_instructions, s->max_silence) > INT64_MAX / 2) {
        error_report("max-instructions or max-silence is out of range");
        exit(1);
    }
    if (s->max_instructions) {
        s->limit = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_limit, s);
        timer_mod(s->limit, s->max_instructions);
    }
    if (s->max_silence) {
        s->silence = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_silence, s);
        timer_mod(s->silence, s->max_silence);
    }
    if (s->guest_time_path) {
        s->guest_time_file = open(s->guest_time_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (s->guest_time_file < 0) {
            error_report("cannot write guest time to %s: %s", s->guest_time_path, strerror(errno));
            exit(1);
        }
        /* External: a processor that sleeps is not woken to tell the time. */
        s->pulse = timer_new_full(NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, QEMU_TIMER_ATTR_EXTERNAL, on_pulse, s);
        on_pulse(NULL);
    }
}

/* Test NPU */

static bool npu_may_read(void)
{
    uint32_t wanted = N6_RIFSC_RIMC_ATTR1_MSEC | N6_RIFSC_RIMC_ATTR1_MPRIV | 1u << N6_RIFSC_RIMC_ATTR1_MCID_POS;

    return n6virt_get(N6_RIFSC_RIMC_ATTR1) == wanted && n6virt_has(N6_RIFSC_SECCFGR3, N6_RIFSC_SECCFGR3_NPU) &&
           n6virt_has(N6_RIFSC_PRIVCFGR3, N6_RIFSC_PRIVCFGR3_NPU);
}

static uint32_t npu_sum(uint32_t source, uint32_t bytes)
{
    uint32_t start = source - NPU_RAM_BASE, sum = 0, stale = 0, first = 0;

    if (!npu_may_read()) {
        n6virt_finding("rif", source, "the NPU reads zeros from 0x%08x: RIF does not let it (RIFSC RIMC_ATTR1, SECCFGR3, PRIVCFGR3)",
                       source);
        return 0;
    }
    if (start >= NPU_RAM_BYTES || bytes > NPU_RAM_BYTES - start) {
        return 0;
    }
    for (uint32_t line = start / N6_CACHE_LINE; line <= (start + bytes - 1) / N6_CACHE_LINE && bytes; line++) {
        uint32_t offset = line * N6_CACHE_LINE;
        unsigned bank = bank_at(offset);
        if (bank < BANKS && memcmp(board->npu_view + offset, bank_bytes(bank, offset), N6_CACHE_LINE)) {
            first = stale++ ? first : NPU_RAM_BASE + offset;
        }
    }
    if (stale) {
        n6virt_finding("stale-cache", first, "the NPU reads %u stale cache lines, the first at 0x%08x: not cleaned since the CPU wrote them",
                       stale, first);
    }
    for (uint32_t i = 0; i < bytes; i++) {
        sum += board->npu_view[start + i];
    }
    return sum;
}

/* NOR window */

static void update_window(void)
{
    const char *reason;

    memory_region_set_enabled(&board->nor, n6virt_xspi_window(&reason) == N6VIRT_WINDOW_OPEN);
}

static MemTxResult closed_read(void *opaque, hwaddr offset, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    const char *reason;
    N6VirtWindow window = n6virt_xspi_window(&reason);
    uint32_t address = N6_XSPI2_WINDOW_BASE + offset;

    *value = UINT64_MAX;
    if (window == N6VIRT_WINDOW_WRONG) {
        n6virt_finding("nor-mode", address, "read of the NOR at 0x%08x gives ones: %s", address, reason);
        return MEMTX_OK;
    }
    if (window == N6VIRT_WINDOW_SWAPPED) {
        n6virt_finding("nor-mode", address, "read of the NOR at 0x%08x gives swapped bytes: %s", address, reason);
        *value = 0;
        for (unsigned i = 0; i < size; i++) {
            hwaddr from = (offset + i) ^ 1;
            *value |= (uint64_t)(from < board->nor_bytes ? board->nor_data[from] : 0xff) << 8 * i;
        }
        return MEMTX_OK;
    }
    n6virt_finding("nor-not-mapped", address, "read of the NOR at 0x%08x faults: %s", address, reason);
    return MEMTX_ERROR;
}

static MemTxResult closed_write(void *opaque, hwaddr offset, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    uint32_t address = N6_XSPI2_WINDOW_BASE + offset;

    n6virt_finding("nor-write", address, "write to the NOR at 0x%08x", address);
    return MEMTX_ERROR;
}

static const MemoryRegionOps closed_ops = {
    .read_with_attrs = closed_read, .write_with_attrs = closed_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Load-and-run: once the vector table is the Appli's, its whole image has to be in RAM. Bytes that the Appli may have
 * changed since prove nothing, so only an end that was never written counts: zeros where the NOR has something else. */
static void check_appli_copy(void)
{
    CPUARMState *env = &board->armv7m.cpu->env;
    uint32_t slot = board->appli_slot - N6_XSPI2_WINDOW_BASE, length, end, missing = 0;
    uint8_t *image, *ram;

    if (board->appli_checked || env->v7m.vecbase[M_REG_S] != N6_APPLI_PAYLOAD_ADDRESS) {
        return;
    }
    board->appli_checked = true;
    if (!board->nor_data || slot > board->nor_bytes - N6_BOOT_HEADER_BYTES ||
        ldl_le_p(board->nor_data + slot) != N6_BOOT_HEADER_MAGIC) {
        return;
    }
    image = board->nor_data + slot;
    length = HEADER_WORD(image, image_bytes);
    if (length > board->nor_bytes - slot - N6_BOOT_HEADER_BYTES || length > N6_APPLI_LOAD_BYTES - N6_BOOT_HEADER_BYTES) {
        return;
    }
    end = length + N6_BOOT_HEADER_BYTES;
    ram = g_malloc(end);
    address_space_read(&address_space_memory, N6_APPLI_LOAD_ADDRESS, MEMTXATTRS_UNSPECIFIED, ram, end);
    for (uint32_t i = end; i > 0 && ram[i - 1] == 0; i--) {
        missing = image[i - 1] ? end - i + 1 : missing;
    }
    g_free(ram);
    if (missing) {
        n6virt_finding_at(current_cpu ? n6virt_pc() : env->regs[15], "short-copy", N6_APPLI_LOAD_ADDRESS + end - missing,
                       "the Appli runs, but the last %u of its %u bytes were never copied to RAM", missing, end);
    }
}

/* Where the CPU came from, when it is lost: the instruction that faulted if it is in a handler, else behind the last call. */
static uint32_t caller(void)
{
    CPUARMState *env = &board->armv7m.cpu->env;
    uint32_t link = env->regs[14], frame = env->regs[13], pc = 0;

    if ((link & 0xffffff80) != 0xffffff80) {
        return link & ~1u;
    }
    if (link & 4) { /* SPSEL */
        frame = env->v7m.other_sp;
    }
    cpu_physical_memory_read(frame + 0x18, &pc, sizeof(pc));
    return le32_to_cpu(pc);
}

static MemTxResult hole_read(void *opaque, hwaddr address, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    *value = 0;
    check_appli_copy();
    if (n6virt_pc() == address) {
        n6virt_finding_at(caller(), "hole", address, "jump to 0x%08x, where nothing is", (uint32_t)address);
    } else {
        n6virt_finding("hole", address, "read of 0x%08x, where nothing is", (uint32_t)address);
    }
    return MEMTX_DECODE_ERROR;
}

static MemTxResult hole_write(void *opaque, hwaddr address, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    check_appli_copy();
    n6virt_finding("hole", address, "write to 0x%08x, where nothing is", (uint32_t)address);
    return MEMTX_DECODE_ERROR;
}

static const MemoryRegionOps hole_ops = {
    .read_with_attrs = hole_read, .write_with_attrs = hole_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Peripherals */

static uint32_t rcc_read(uint32_t address)
{
    uint32_t value = n6virt_get(address);

    switch (address) {
    case N6_RCC_SR: /* what is switched on is ready */
        return n6virt_get(N6_RCC_CR);
    case N6_RCC_CFGR1: /* what is selected is in use */
        return (value & ~(N6_RCC_CFGR1_CPUSWS | N6_RCC_CFGR1_SYSSWS)) | (value & (N6_RCC_CFGR1_CPUSW | N6_RCC_CFGR1_SYSSW)) << 4;
    default:
        return value;
    }
}

static bool divider_runs(uint32_t register_, uint32_t enable)
{
    uint32_t pll = (n6virt_get(register_) & N6_RCC_IC1CFGR_SEL) >> N6_RCC_IC1CFGR_SEL_POS;

    return n6virt_has(N6_RCC_DIVENR, enable) && n6virt_has(N6_RCC_CR, N6_RCC_CR_PLL1ON << pll);
}

/* Real clocks would stop, and the chip with them. */
static void check_clock_switch(uint32_t value)
{
    if ((value & N6_RCC_CFGR1_CPUSW) == N6_RCC_CFGR1_CPUSW && !divider_runs(N6_RCC_IC1CFGR, N6_RCC_DIVENR_IC1EN)) {
        n6virt_finding("clock", N6_RCC_CFGR1, "the CPU is switched to IC1, which does not run (RCC CR, DIVENR)");
    }
    if ((value & N6_RCC_CFGR1_SYSSW) == N6_RCC_CFGR1_SYSSW &&
        !(divider_runs(N6_RCC_IC2CFGR, N6_RCC_DIVENR_IC2EN) && divider_runs(N6_RCC_IC6CFGR, N6_RCC_DIVENR_IC6EN) &&
          divider_runs(N6_RCC_IC11CFGR, N6_RCC_DIVENR_IC11EN))) {
        n6virt_finding("clock", N6_RCC_CFGR1, "the buses are switched to IC2, IC6 and IC11, which do not all run (RCC CR, DIVENR)");
    }
}

static void rcc_write(uint32_t address, uint32_t value)
{
    uint32_t offset = address - N6_RCC_BASE;

    if (offset >= 0x1000 && offset < 0x1800) {
        address -= 0x1000;
        value = n6virt_get(address) & ~value;
    } else if (offset >= 0x800 && offset < 0x1000) {
        address -= 0x800;
        value |= n6virt_get(address);
    }
    n6virt_set(address, value);
    if (address == N6_RCC_MEMENR) {
        update_banks();
    } else if (address == N6_RCC_CFGR1) {
        check_clock_switch(value);
    } else if (address == N6_RCC_AHB5RSTR) {
        if (value & N6_RCC_AHB5RSTR_XSPI2RST) {
            n6virt_xspi_reset();
        }
        if (value & N6_RCC_AHB5RSTR_XSPI1RST) {
            n6virt_psram_reset_controller();
        }
        if (value & N6_RCC_AHB5RSTR_XSPIMRST) {
            n6virt_set(N6_XSPIM_CR, 0);
        }
    }
}

static uint32_t usart_read(uint32_t address)
{
    switch (address) {
    case N6_USART1_ISR:
        return N6_USART1_ISR_TXE | N6_USART1_ISR_TC | (board->has_received ? N6_USART1_ISR_RXNE : 0);
    case N6_USART1_RDR:
        board->has_received = false;
        qemu_chr_fe_accept_input(&board->console);
        return board->received;
    default:
        return n6virt_get(address);
    }
}

/* Which pin is the board's affair, but there has to be one in alternate mode at another port than the NOR's and the PSRAM's. */
static bool has_console_pin(void)
{
    for (unsigned i = 0; i < n6virt_port_count; i++) {
        uint32_t mode = n6virt_get(n6virt_ports[i].base + N6_GPIO_MODER_OFFSET);

        if (n6virt_ports[i].base != n6virt_nor.port && !n6virt_psram_uses_port(n6virt_ports[i].base) && mode >> 1 & ~mode & 0x55555555) {
            return true;
        }
    }
    return false;
}

static void usart_write(uint32_t address, uint32_t value)
{
    uint8_t character = value;

    n6virt_set(address, value);
    if (address == N6_USART1_TDR) {
        if (!n6virt_has(N6_USART1_CR1, N6_USART1_CR1_UE | N6_USART1_CR1_TE) || !n6virt_get(N6_USART1_BRR)) {
            n6virt_finding("console", address, "USART1 is written before it is enabled (CR1 UE and TE, BRR)");
            return;
        }
        if (!has_console_pin()) {
            n6virt_finding("console", address, "USART1 is written while no pin is set to it (GPIO MODER, AFRL or AFRH)");
            return;
        }
        qemu_chr_fe_write_all(&board->console, &character, 1);
        board->last_byte = guest_time();
    }
}

/* The NPU's cache: a command ends at once. */
static void cache_command(uint32_t address, uint32_t value)
{
    if (address == N6_CACHEAXI_CR2 && value & N6_CACHEAXI_CR2_STARTCMD) {
        n6virt_set(N6_CACHEAXI_CR2, value & ~N6_CACHEAXI_CR2_STARTCMD);
        n6virt_set(N6_CACHEAXI_SR, n6virt_get(N6_CACHEAXI_SR) | N6_CACHEAXI_SR_CMDENDF);
    } else if (address == N6_CACHEAXI_FCR) {
        n6virt_set(N6_CACHEAXI_SR, n6virt_get(N6_CACHEAXI_SR) & ~value);
    }
}

static uint64_t peripheral_read(void *opaque, hwaddr offset, unsigned size)
{
    uint32_t address = SECURE_PERIPHERALS + offset;

    check_appli_copy();
    if (!has_clock(address)) {
        return 0;
    }
    if (address - N6_RCC_BASE < 0x1800) {
        return rcc_read(address);
    }
    if (address - N6_USART1_BASE < 0x400) {
        return usart_read(address);
    }
    if (address - N6_XSPI2_BASE < 0x400) {
        return n6virt_xspi_read(address - N6_XSPI2_BASE, size);
    }
    if (address - N6_XSPI1_BASE < 0x400) {
        return n6virt_psram_read(address - N6_XSPI1_BASE, size);
    }
    if (address - TEST_NPU_BASE < sizeof(board->npu)) {
        return board->npu[(address - TEST_NPU_BASE) / 4];
    }
    if (n6virt_is_npu(address)) {
        return n6virt_npu_read(address);
    }
    return n6virt_get(address);
}

static void peripheral_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    uint32_t address = SECURE_PERIPHERALS + offset;

    check_appli_copy();
    if (!has_clock(address)) {
        return;
    }
    if (address - N6_RCC_BASE < 0x1800) {
        rcc_write(address, value);
    } else if (address - N6_USART1_BASE < 0x400) {
        usart_write(address, value);
    } else if (address - N6_XSPI2_BASE < 0x400) {
        n6virt_xspi_write(address - N6_XSPI2_BASE, value, size);
    } else if (address - N6_XSPI1_BASE < 0x400) {
        n6virt_psram_write(address - N6_XSPI1_BASE, value, size);
    } else if (address == N6_XSPIM_CR && (n6virt_has(N6_XSPI1_CR, N6_XSPI_CR_EN) || n6virt_has(N6_XSPI2_CR, N6_XSPI_CR_EN))) {
        n6virt_finding("nor-mode", address, "XSPIM CR is written while an XSPI is enabled: the write is lost");
    } else if (address - TEST_NPU_BASE < sizeof(board->npu)) {
        board->npu[(address - TEST_NPU_BASE) / 4] = value;
        if (address - TEST_NPU_BASE == 8) {
            board->npu[3] = npu_sum(board->npu[0], board->npu[1]);
        }
    } else if (n6virt_is_npu(address)) {
        n6virt_npu_write(address, value);
    } else if (address - N6_CACHEAXI_BASE >= 0x400 || address != N6_CACHEAXI_SR) {
        n6virt_set(address, value);
        cache_command(address, value);
    }
    if (address - (N6_RAMCFG_SRAM3_BASE & ~0xfffu) < 0x1000) {
        update_banks();
    }
    update_window();
    n6virt_psram_update();
}

static const MemoryRegionOps peripheral_ops = {
    .read = peripheral_read, .write = peripheral_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Secure code that uses a non-secure alias: RIF takes the access away without a word. */
static uint64_t non_secure_read(void *opaque, hwaddr offset, unsigned size)
{
    uint32_t address = NON_SECURE_PERIPHERALS + offset;

    n6virt_finding("alias", address, "read of 0x%08x gives zero: non-secure alias in secure code, use 0x%08x", address,
                   address + (SECURE_PERIPHERALS - NON_SECURE_PERIPHERALS));
    return 0;
}

static void non_secure_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    uint32_t address = NON_SECURE_PERIPHERALS + offset;

    n6virt_finding("alias", address, "write to 0x%08x is lost: non-secure alias in secure code, use 0x%08x", address,
                   address + (SECURE_PERIPHERALS - NON_SECURE_PERIPHERALS));
}

static const MemoryRegionOps non_secure_ops = {
    .read = non_secure_read, .write = non_secure_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

static int console_can_receive(void *opaque)
{
    return !board->has_received;
}

static void console_receive(void *opaque, const uint8_t *data, int size)
{
    board->received = data[0];
    board->has_received = true;
    board->last_byte = guest_time();
}

/* Boot ROM */

static void refuse(const char *format, uint32_t found, uint32_t wanted)
{
    char *text = g_strdup_printf(format, found, wanted);

    n6virt_finding("boot-rom", N6_XSPI2_WINDOW_BASE, "the boot ROM finds no FSBL: %s", text);
    n6virt_findings_close("\"instructions\": 0");
    error_report("the boot ROM finds no FSBL: %s", text);
    exit(1);
}

/* Checks as the ROM does, copies header and payload, leaves the controllers as the ROM leaves them. */
static void boot_from_nor(N6Virt *s)
{
    const uint8_t *header = s->nor_data;
    const uint8_t *reset_vector = header + N6_BOOT_PAYLOAD_OFFSET + 4;
    uint32_t length = HEADER_WORD(header, image_bytes), version = HEADER_WORD(header, version), sum = 0;

    if (HEADER_WORD(header, magic) != N6_BOOT_HEADER_MAGIC) {
        refuse("it begins with 0x%08x, not with 0x%08x", HEADER_WORD(header, magic), N6_BOOT_HEADER_MAGIC);
    }
    if (version != N6_BOOT_HEADER_VERSION) {
        refuse("header version 0x%08x, expected 0x%08x", version, N6_BOOT_HEADER_VERSION);
    }
    if (length > N6_BOOT_MAX_IMAGE - N6_BOOT_HEADER_BYTES ||
        length < N6_BOOT_PAYLOAD_OFFSET - N6_BOOT_HEADER_BYTES + N6_VECTOR_BYTES) {
        refuse("%u bytes behind the header, at most %u", length, N6_BOOT_MAX_IMAGE - N6_BOOT_HEADER_BYTES);
    }
    for (uint32_t i = 0; i < length; i++) {
        sum += header[N6_BOOT_HEADER_BYTES + i];
    }
    if (sum != HEADER_WORD(header, checksum)) {
        refuse("its bytes sum up to 0x%08x, the header says 0x%08x", sum, HEADER_WORD(header, checksum));
    }
    if (HEADER_WORD(header, entry) != ldl_le_p(reset_vector)) {
        refuse("entry 0x%08x, the vector table says 0x%08x", HEADER_WORD(header, entry), ldl_le_p(reset_vector));
    }
    rom_add_blob_fixed("n6.fsbl", header, N6_BOOT_HEADER_BYTES + length, N6_BOOT_HEADER_ADDRESS);
    n6virt_set(N6_RCC_AHB5ENR, N6_RCC_AHB5ENR_XSPI1EN | N6_RCC_AHB5ENR_XSPIMEN);
    n6virt_set(N6_XSPI1_CR, N6_XSPI_CR_EN);
    n6virt_set(N6_XSPIM_CR, N6_XSPIM_CR_MODE);
}

static void load_nor(N6Virt *s)
{
    g_autoptr(GError) error = NULL;
    gsize bytes;
    gchar *content;

    if (!g_file_get_contents(s->nor_path, &content, &bytes, &error)) {
        error_report("cannot read the NOR: %s", error->message);
        exit(1);
    }
    if (bytes < N6_BOOT_MAX_IMAGE || bytes > N6_XSPI2_WINDOW_SIZE || bytes & (bytes - 1)) {
        error_report("the NOR's file has %zu bytes, which is not a size of a NOR", (size_t)bytes);
        exit(1);
    }
    memory_region_init_ram(&s->nor, OBJECT(s), "n6.nor", bytes, &error_fatal);
    memory_region_set_readonly(&s->nor, true);
    s->nor_data = memory_region_get_ram_ptr(&s->nor);
    s->nor_bytes = bytes;
    memcpy(s->nor_data, content, bytes);
    g_free(content);
}

/* The end */

static void append_cleaned(GString *text, uint32_t base, const uint8_t *cleaned, uint32_t lines)
{
    for (uint32_t line = 0; line < lines; line++) {
        uint32_t end = line;
        while (end < lines && cleaned[end]) {
            end++;
        }
        if (end > line) {
            g_string_append_printf(text, "%s[\"0x%08x\", \"0x%08x\"]", text->str[text->len - 1] == '[' ? "" : ", ",
                                   base + line * N6_CACHE_LINE, base + end * N6_CACHE_LINE);
            line = end;
        }
    }
}

static void on_exit_notify(Notifier *notifier, void *data)
{
    GString *text = g_string_new(NULL);
    const uint8_t *cleaned;
    uint32_t lines;
    bool first = true;

    check_appli_copy();
    g_string_append_printf(text, "\"instructions\": %" PRId64 ", \"ended\": \"%s\", \"banks_on\": [", instructions(),
                           board->ended ? board->ended : "");
    for (unsigned bank = 0; bank < BANKS; bank++) {
        if (bank_is_on(bank)) {
            g_string_append_printf(text, "%s\"%s\"", first ? "" : ", ", banks[bank].name);
            first = false;
        }
    }
    g_string_append(text, "], \"cleaned\": [");
    append_cleaned(text, NPU_RAM_BASE, board->cleaned, LINES);
    cleaned = n6virt_psram_cleaned(&lines);
    append_cleaned(text, N6_XSPI1_WINDOW_BASE, cleaned, lines);
    g_string_append(text, "]");
    n6virt_findings_close(text->str);
    g_string_free(text, true);
}

/* Of lockup QEMU has no model: it aborts, in the thread of the CPU. */
static void on_abort(int number)
{
    uint32_t pc;

    if (!current_cpu) {
        return;
    }
    pc = caller();
    n6virt_finding_at(pc, "lockup", pc, "the processor locks up: there is no handler for the fault, or it faults itself");
    on_exit_notify(NULL, NULL);
    _exit(EXIT_FAILURE);
}

static void add_ram(N6Virt *s, const char *name, uint32_t base, uint32_t bytes)
{
    MemoryRegion *ram = &s->ram[s->rams++];

    memory_region_init_ram(ram, OBJECT(s), name, bytes, &error_fatal);
    memory_region_add_subregion(get_system_memory(), base, ram);
}

static void add_io(N6Virt *s, MemoryRegion *region, MemoryRegion *parent, const MemoryRegionOps *ops, const char *name,
                   uint64_t base, uint64_t bytes, int priority)
{
    memory_region_init_io(region, OBJECT(s), ops, s, name, bytes);
    memory_region_add_subregion_overlap(parent, base, region, priority);
}

static void add_memories(N6Virt *s)
{
    MemoryRegion *system = get_system_memory();

    add_io(s, &s->hole, system, &hole_ops, "n6.hole", 0, 1ull << 32, -2);
#define RAM(name, base, bytes) add_ram(s, name, base, bytes);
    N6VIRT_RAMS(RAM)
    add_io(s, &s->bank_off, system, &bank_off_ops, "n6.bank-off", NPU_RAM_BASE, NPU_RAM_BYTES, 0);
    for (unsigned bank = 0; bank < BANKS; bank++) {
        memory_region_init_ram(&s->bank_on[bank], OBJECT(s), banks[bank].name, banks[bank].bytes, &error_fatal);
        memory_region_add_subregion_overlap(system, banks[bank].base, &s->bank_on[bank], 1);
        memory_region_set_enabled(&s->bank_on[bank], false);
        s->bank_data[bank] = memory_region_get_ram_ptr(&s->bank_on[bank]);
        n6virt_set(banks[bank].ramcfg, N6_RAMCFG_CR_SRAMSD);
    }
    /* Unlike a peripheral's, the non-secure alias of a RAM is open to secure code. */
    memory_region_init_alias(&s->ram_alias, OBJECT(s), "n6.ram-non-secure", system, N6_FLEXRAM_BASE,
                             NPU_RAM_BASE + NPU_RAM_BYTES - N6_FLEXRAM_BASE);
    memory_region_add_subregion(system, N6_FLEXRAM_BASE & ~N6_SECURE_BIT, &s->ram_alias);
    s->npu_view = g_malloc0(NPU_RAM_BYTES);
    add_io(s, &s->nor_closed, system, &closed_ops, "n6.nor-closed", N6_XSPI2_WINDOW_BASE, N6_XSPI2_WINDOW_SIZE, 0);
    if (s->nor_data) {
        memory_region_add_subregion_overlap(system, N6_XSPI2_WINDOW_BASE, &s->nor, 1);
        memory_region_set_enabled(&s->nor, false);
    }
    n6virt_psram_add(OBJECT(s));
    add_io(s, &s->peripherals, system, &peripheral_ops, "n6.peripherals", SECURE_PERIPHERALS, PERIPHERAL_BYTES, 0);
    add_io(s, &s->non_secure, system, &non_secure_ops, "n6.non-secure", NON_SECURE_PERIPHERALS, PERIPHERAL_BYTES, 0);
}

static void add_processor(N6Virt *s)
{
    DeviceState *armv7m;

    s->clock = clock_new(OBJECT(s), "n6.clock");
    clock_set_hz(s->clock, CLOCK_HZ);
    object_initialize_child(OBJECT(s), "armv7m", &s->armv7m, TYPE_ARMV7M);
    armv7m = DEVICE(&s->armv7m);
    qdev_prop_set_uint32(armv7m, "num-irq", N6_IRQ_COUNT);
    qdev_prop_set_string(armv7m, "cpu-type", ARM_CPU_TYPE_NAME(N6_CPU));
    qdev_prop_set_uint32(armv7m, "init-svtor", N6_BOOT_PAYLOAD_ADDRESS);
    qdev_connect_clock_in(armv7m, "cpuclk", s->clock);
    object_property_set_link(OBJECT(armv7m), "memory", OBJECT(get_system_memory()), &error_abort);
    sysbus_realize(SYS_BUS_DEVICE(armv7m), &error_fatal);
    add_io(s, &s->cache_ops, &s->armv7m.container, &cache_ops, "n6.cache-maintenance", CACHE_OPS_BASE,
           N6_SCB_BPIALL + 4 - CACHE_OPS_BASE, 10);
    add_io(s, &s->dwt, &s->armv7m.container, &dwt_ops, "n6.dwt", N6_DWT_BASE, 0x1000, 10);
}

static void n6virt_init(MachineState *machine)
{
    N6Virt *s = N6VIRT(machine);

    board = s;
    registers = g_hash_table_new(NULL, NULL);
    n6virt_findings_open(s->findings_path);
    n6virt_set(N6_RCC_CR, N6_RCC_CR_HSION);
    if (s->nor_path && *s->nor_path) {
        load_nor(s);
    }
    add_memories(s);
    add_processor(s);
    if (qemu_chr_fe_init(&s->console, serial_hd(0), &error_fatal)) {
        qemu_chr_fe_set_handlers(&s->console, console_can_receive, console_receive, NULL, NULL, s, NULL, true);
    }
    if (!machine->kernel_filename) {
        if (!s->nor_data) {
            error_report("give a NOR (-M stm32n6virt,nor=FILE) or a program (-kernel FILE)");
            exit(1);
        }
        boot_from_nor(s);
    }
    s->exit.notify = on_exit_notify;
    qemu_add_exit_notifier(&s->exit);
    signal(SIGABRT, on_abort);
    start_guest_time(s);
    armv7m_load_kernel(s->armv7m.cpu, machine->kernel_filename, N6_BOOT_PAYLOAD_ADDRESS, N6_BOOT_MAX_IMAGE);
}

static char *get_nor(Object *object, Error **errp)
{
    return g_strdup(N6VIRT(object)->nor_path);
}

static void set_nor(Object *object, const char *value, Error **errp)
{
    N6VIRT(object)->nor_path = g_strdup(value);
}

static char *get_findings(Object *object, Error **errp)
{
    return g_strdup(N6VIRT(object)->findings_path);
}

static void set_findings(Object *object, const char *value, Error **errp)
{
    N6VIRT(object)->findings_path = g_strdup(value);
}

static char *get_guest_time(Object *object, Error **errp)
{
    return g_strdup(N6VIRT(object)->guest_time_path);
}

static void set_guest_time(Object *object, const char *value, Error **errp)
{
    N6VIRT(object)->guest_time_path = g_strdup(value);
}

static void n6virt_instance_init(Object *object)
{
    N6Virt *s = N6VIRT(object);

    n6virt_nor_add_properties(object);
    n6virt_psram_add_properties(object);
    object_property_add_uint32_ptr(object, "appli-slot", &s->appli_slot, OBJ_PROP_FLAG_READWRITE);
    object_property_add_uint64_ptr(object, "max-instructions", &s->max_instructions, OBJ_PROP_FLAG_READWRITE);
    object_property_add_uint64_ptr(object, "max-silence", &s->max_silence, OBJ_PROP_FLAG_READWRITE);
}

static void n6virt_class_init(ObjectClass *class, void *data)
{
    MachineClass *machine = MACHINE_CLASS(class);

    machine->desc = "STM32N6 as far as bring-up code and networks on the CPU can see it";
    machine->init = n6virt_init;
    machine->max_cpus = 1;
    object_class_property_add_str(class, "nor", get_nor, set_nor);
    object_class_property_add_str(class, "findings", get_findings, set_findings);
    object_class_property_add_str(class, "guest-time", get_guest_time, set_guest_time);
}

static const TypeInfo n6virt_type = {
    .name = TYPE_N6VIRT,
    .parent = TYPE_MACHINE,
    .instance_size = sizeof(N6Virt),
    .instance_init = n6virt_instance_init,
    .class_init = n6virt_class_init,
};

static void n6virt_register(void)
{
    type_register_static(&n6virt_type);
}

type_init(n6virt_register)
