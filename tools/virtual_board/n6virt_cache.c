/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The CPU's data cache, as bad as it can be for a program that forgets to maintain it. While the cache is on (CCR DC), it holds
 * every line of every cacheable RAM, and no line is written back by itself. The CPU works on the cache, and on memory while the
 * cache is off; bus masters always work on memory. When the cache is switched off, its lines stay in it, unseen, until they are
 * invalidated.
 *
 * A line that the program invalidates by address is outside the cache until the CPU reads or writes it: masters may write it
 * several times, and the CPU then reads their last data. For example, ST's compiler invalidates the output of an epoch before it
 * and not after it, and three epochs may write bytes of one line. INFERRED: the processor fetches no line that the program does
 * not touch; its prefetcher is not modelled. n6virt_outside.c sees the CPU's accesses. A line that is invalidated by set and way
 * counts as inside: such an operation covers the whole cache, and the program may have read any line since.
 *
 * A clean writes the whole line, over another master's data in other parts of it. INFERRED: also on this processor.
 *
 * Instructions come from memory. Of the instruction cache there is no more than CCR IC.
 *
 *   ,cache=off   no data cache: the speed of a program without this model
 */
#include "n6virt.h"

#include "cpu.h"
#include "exec/address-spaces.h"
#include "qapi/error.h"

#define OPERATIONS N6_SCB_ICIALLU
#define LINE N6_CACHE_LINE
#define CACHE_BITS (N6_SCB_CCR_IC | N6_SCB_CCR_DC)
/* Offset of the non-secure copies of banked registers, as secure code sees them (Armv8-M manual). */
#define NON_SECURE_ALIAS 0x20000u
/* CLIDR: an instruction and a data cache at level 1, no further level (Armv8-M manual). */
#define LEVEL_1 0x09000003u
/* CCSIDR: supports write-back, write-through, allocation on reads and on writes. */
#define POLICIES 0xf0000000u
#define CCSIDR(sets, ways)                                                                                        \
    (POLICIES | ((sets) - 1) << N6_SCB_CCSIDR_NUMSETS_POS | ((ways) - 1) << N6_SCB_CCSIDR_ASSOCIATIVITY_POS | \
     (ctz32(LINE) - 4) << N6_SCB_CCSIDR_LINESIZE_POS)

/* A hook in QEMU's translator: the place that instructions are read from (qemu.py). */
extern void *(*n6virt_fetch)(void *host);

static MemoryRegion operations, ccr, ccr_non_secure;
static bool is_modelled = true;
static bool is_on;
static uint32_t hidden;  /* dirty lines while the cache is off */
static uint32_t dropped_lines;
static uint32_t kept[2]; /* bits of CCR: non-secure, secure */
/* Ways of each set that were maintained. A line is in one of them; the program cannot know in which. */
enum { INVALIDATE, CLEAN, BOTH, KINDS };
static uint32_t ways_done[KINDS][N6VIRT_DCACHE_SETS];

/* Lines, by their offset in a cacheable RAM */

static void copy_from_memory(N6VirtRam *ram, uint32_t offset)
{
    memcpy(ram->cache + offset, ram->data + offset, LINE);
    memcpy(ram->filled + offset, ram->data + offset, LINE);
}

/* Translated code stays: instructions come from memory, whatever is in the cache. */
static void fill(N6VirtRam *ram, uint32_t offset)
{
    copy_from_memory(ram, offset);
    ram->valid[offset / LINE] = N6VIRT_INSIDE;
}

/* A dirty line was cleaned or invalidated. */
static void count_hidden(void)
{
    if (hidden && !--hidden) {
        n6virt_hide_nothing();
    }
}

/* Dropped lines: the program invalidated them by address while they were dirty. That is right before a master writes them, so it
 * is reported where a master reads memory that still has the data from before. */

static void forget_dropped(N6VirtRam *ram, uint32_t offset)
{
    if (ram->dropped && ram->dropped[offset / LINE]) {
        ram->dropped[offset / LINE] = 0;
        dropped_lines--;
    }
}

/* Note a line that is about to be invalidated by address. */
static void drop(N6VirtRam *ram, uint32_t offset)
{
    if (!n6virt_is_newer_in_cache(ram, offset, LINE)) {
        return;
    }
    if (!ram->dropped) {
        ram->dropped = g_new0(uint32_t, ram->bytes / LINE);
        ram->lost = g_malloc0(ram->bytes);
    }
    dropped_lines += !ram->dropped[offset / LINE];
    ram->dropped[offset / LINE] = MAX(n6virt_pc(), 1);
    memcpy(ram->lost + offset, ram->cache + offset, LINE);
}

void n6virt_report_dropped(uint32_t address, uint32_t bytes, const char *reader)
{
    for (uint32_t here; dropped_lines && bytes; address += here, bytes -= here) {
        const N6VirtRam *ram = n6virt_ram_at(address);
        uint32_t offset = ram ? (address - ram->base) & (N6_SECURE_BIT - 1) : 0, line = offset / LINE;

        here = MIN(bytes, LINE - address % LINE);
        if (ram && ram->dropped && ram->dropped[line] && memcmp(ram->lost + offset, ram->data + offset, here)) {
            n6virt_finding_at(ram->dropped[line], "cache-dropped", address,
                              "What the CPU wrote at 0x%08x is lost: the line was invalidated by address and never cleaned, and %s reads "
                              "what memory had before",
                              ram->base + line * LINE, reader);
            return;
        }
    }
}

/* A master has written a part of a RAM, whose dropped data is of no interest any more. */
static void replace_dropped(N6VirtRam *ram, uint32_t offset, uint32_t bytes)
{
    if (dropped_lines && ram->dropped) {
        memcpy(ram->lost + offset, ram->data + offset, bytes);
    }
}

static void clean(N6VirtRam *ram, uint32_t offset)
{
    if (n6virt_is_dirty(ram, offset)) {
        memcpy(ram->data + offset, ram->cache + offset, LINE);
        memcpy(ram->filled + offset, ram->cache + offset, LINE);
        ram->valid[offset / LINE] = N6VIRT_INSIDE;
        n6virt_changed(ram, offset, LINE);
        count_hidden();
    }
    /* A line that the CPU has not used since it was dropped is as old as before. */
    if (ram->valid[offset / LINE] != N6VIRT_OUTSIDE) {
        forget_dropped(ram, offset);
    }
}

static void invalidate(N6VirtRam *ram, uint32_t offset)
{
    if (n6virt_is_dirty(ram, offset)) {
        count_hidden();
    }
    ram->valid[offset / LINE] = 0;
    if (is_on) {
        fill(ram, offset);
    }
}

/* Lines outside the cache. Their copy in `cache` follows memory, for accesses that n6virt_outside.c does not see. */

/* Return whether the MPU keeps an offset out of the cache. */
static bool is_uncached(const N6VirtRam *ram, uint32_t offset)
{
    for (unsigned i = 0; i < N6VIRT_MPU_REGIONS; i++) {
        const MemoryRegion *around = &ram->around[i];

        if (around->enabled && offset - around->alias_offset < memory_region_size((MemoryRegion *)around)) {
            return true;
        }
    }
    return false;
}

static bool touch(N6VirtRam *ram, uint32_t offset, uint32_t bytes)
{
    bool came_in = false;

    for (uint32_t line = offset / LINE; is_on && line <= (offset + bytes - 1) / LINE; line++) {
        if (ram->valid[line] != N6VIRT_OUTSIDE || is_uncached(ram, line * LINE)) {
            continue;
        }
        /* A dirty line was written by an exception, which n6virt_outside.c does not see. */
        if (!n6virt_is_dirty(ram, line * LINE)) {
            copy_from_memory(ram, line * LINE);
        }
        ram->valid[line] = N6VIRT_INSIDE;
        came_in = true;
    }
    return came_in;
}

/* A master has written a part of a RAM. */
static void follow(N6VirtRam *ram, uint32_t offset, uint32_t bytes)
{
    for (uint32_t line = offset / LINE; line <= (offset + bytes - 1) / LINE; line++) {
        if (ram->valid[line] == N6VIRT_OUTSIDE && !n6virt_is_dirty(ram, line * LINE)) {
            copy_from_memory(ram, line * LINE);
        }
    }
}

static void maintain_line(unsigned kind, uint32_t address)
{
    N6VirtRam *ram = n6virt_ram_at(address);
    uint32_t offset;

    if (!ram || !n6virt_ram_is_on(ram)) {
        return;
    }
    offset = (address - ram->base) & (N6_SECURE_BIT - 1) & ~(LINE - 1);
    ram->cleaned[offset / LINE] |= kind != INVALIDATE;
    if (!ram->cacheable || !is_modelled) {
        return;
    }
    if (kind != INVALIDATE) {
        clean(ram, offset);
    }
    if (kind != CLEAN) {
        if (kind == INVALIDATE) {
            drop(ram, offset);
        }
        invalidate(ram, offset);
        if (is_on) {
            ram->valid[offset / LINE] = N6VIRT_OUTSIDE;
            n6virt_watch(ram, offset, touch);
        }
    }
}

static void maintain_set(unsigned kind, uint32_t set)
{
    N6VirtRam *ram;

    for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
        uint32_t first = (set - ram->base / LINE) % N6VIRT_DCACHE_SETS * LINE;

        if (!ram->cacheable || !n6virt_ram_is_on(ram)) {
            continue;
        }
        for (uint32_t offset = first; offset < ram->bytes; offset += N6VIRT_DCACHE_SETS * LINE) {
            if (kind == INVALIDATE && n6virt_is_newer_in_cache(ram, offset, LINE)) {
                n6virt_finding("cache-lost", ram->base + offset,
                               "Data that the CPU wrote at 0x%08x is lost: the data cache is invalidated by set and way, and the line "
                               "was never cleaned",
                               ram->base + offset);
            }
            if (kind != INVALIDATE) {
                clean(ram, offset);
            }
            if (kind != CLEAN) {
                invalidate(ram, offset);
            }
        }
    }
}

static void maintain_way(unsigned kind, uint32_t value)
{
    uint32_t set = value / LINE % N6VIRT_DCACHE_SETS;
    uint32_t way = N6VIRT_DCACHE_WAYS > 1 ? value >> (32 - ctz32(pow2ceil(N6VIRT_DCACHE_WAYS))) : 0;

    if (!is_modelled) {
        return;
    }
    ways_done[kind][set] |= 1u << way;
    if (ways_done[kind][set] == MAKE_64BIT_MASK(0, N6VIRT_DCACHE_WAYS)) {
        ways_done[kind][set] = 0;
        maintain_set(kind, set);
    }
}

static uint64_t operation_read(void *opaque, hwaddr offset, unsigned size)
{
    return 0;
}

static void operation_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    switch (OPERATIONS + offset) {
    case N6_SCB_DCIMVAC:
        maintain_line(INVALIDATE, value);
        break;
    case N6_SCB_DCCMVAU:
    case N6_SCB_DCCMVAC:
        maintain_line(CLEAN, value);
        break;
    case N6_SCB_DCCIMVAC:
        maintain_line(BOTH, value);
        break;
    case N6_SCB_DCISW:
        maintain_way(INVALIDATE, value);
        break;
    case N6_SCB_DCCSW:
        maintain_way(CLEAN, value);
        break;
    case N6_SCB_DCCISW:
        maintain_way(BOTH, value);
        break;
    }
}

static const MemoryRegionOps operation_ops = {
    .read = operation_read, .write = operation_write, .endianness = DEVICE_LITTLE_ENDIAN,
};

/* Switching on and off: CCR, whose other bits QEMU models */

static void switch_on(void)
{
    N6VirtRam *ram;

    for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
        for (uint32_t line = 0; ram->cacheable && line < ram->bytes / LINE; line++) {
            if (!ram->valid[line]) {
                fill(ram, line * LINE);
            } else if (ram->valid[line] == N6VIRT_OUTSIDE && !n6virt_is_dirty(ram, line * LINE)) {
                copy_from_memory(ram, line * LINE);
            }
        }
        if (ram->cacheable) {
            /* Memory may have other instructions since. */
            n6virt_changed(ram, 0, ram->bytes);
        }
    }
}

/* Count the dirty lines from this one on. */
static uint32_t dirty_lines(const N6VirtRam *ram, uint32_t line)
{
    uint32_t count = 0;

    while ((line + count) * LINE < ram->bytes && n6virt_is_dirty(ram, (line + count) * LINE)) {
        count++;
    }
    return count;
}

/* INFERRED: published FSBLs that are compiled without optimisation switch the cache off while the variables of their loop over
 * sets and ways are in dirty lines, and they work. The chip's behaviour is not known, so the model cleans for third-party
 * programs. */
static void clean_everything(void)
{
    N6VirtRam *ram;

    for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
        for (uint32_t offset = 0; ram->cacheable && offset < ram->bytes; offset += LINE) {
            clean(ram, offset);
        }
    }
}

static void switch_off(void)
{
    N6VirtRam *ram;

    if (!n6virt_is_strict()) {
        clean_everything();
        return;
    }
    for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
        for (uint32_t line = 0; ram->cacheable && line < ram->bytes / LINE; line++) {
            uint32_t count = dirty_lines(ram, line);

            if (count) {
                n6virt_hide(ram, line * LINE, count * LINE);
                hidden += count;
                line += count;
            }
        }
    }
}

static void switch_to(bool on)
{
    if (!is_modelled || on == is_on) {
        return;
    }
    is_on = on;
    memory_region_transaction_begin();
    if (on) {
        hidden = 0;
        n6virt_hide_nothing();
        switch_on();
    } else {
        switch_off();
    }
    n6virt_ram_show_cache(is_on);
    memory_region_transaction_commit();
}

static MemTxResult ccr_read(void *opaque, hwaddr offset, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    MemTxResult result;

    attributes.secure = attributes.secure && !opaque;
    result = n6virt_processor_read(N6_SCB_CCR, value, size, attributes);
    *value |= kept[attributes.secure];
    return result;
}

static MemTxResult ccr_write(void *opaque, hwaddr offset, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    attributes.secure = attributes.secure && !opaque;
    kept[attributes.secure] = value & CACHE_BITS;
    if (attributes.secure) {
        switch_to(value & N6_SCB_CCR_DC);
    }
    return n6virt_processor_write(N6_SCB_CCR, value, size, attributes);
}

static const MemoryRegionOps ccr_ops = {
    .read_with_attrs = ccr_read, .write_with_attrs = ccr_write, .endianness = DEVICE_LITTLE_ENDIAN,
    .valid.min_access_size = 4, .valid.max_access_size = 4,
};

/* Instructions */

static void *fetch(void *host)
{
    N6VirtRam *ram;

    for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
        size_t offset = (uint8_t *)host - ram->cache;

        if (ram->cacheable && offset < ram->bytes) {
            return ram->data + offset;
        }
    }
    return host;
}

/* Return whether a BL, or a BLX with a register, ends at an address (Armv8-M manual). The address may be any number, so it is not
 * accessed as by the CPU. */
static bool is_call(uint32_t end)
{
    uint16_t code[2];
    const N6VirtRam *ram = n6virt_ram_at(end - sizeof(code));
    uint32_t offset = ram ? (end - sizeof(code) - ram->base) & (N6_SECURE_BIT - 1) : 0;

    if (!ram || !n6virt_ram_is_on(ram) || offset > ram->bytes - sizeof(code)) {
        return false;
    }
    memcpy(code, ram->data + offset, sizeof(code));
    return (le16_to_cpu(code[1]) & 0xff87) == 0x4780 ||
           ((le16_to_cpu(code[0]) & 0xf800) == 0xf000 && (le16_to_cpu(code[1]) & 0xd000) == 0xd000);
}

/* Return the address of the jump to code that is translated for the first time: the last call, or else the end of the code that
 * was translated before. */
static uint32_t jumper(uint32_t end_of_last)
{
    uint32_t link = ARM_CPU(first_cpu)->env.regs[14] & ~1u;

    return (is_call(link) ? link : end_of_last) - 2;
}

static void fetched(uint32_t pc, uint32_t bytes)
{
    static uint32_t end_of_last;
    uint32_t before = end_of_last, offset, end;
    N6VirtRam *ram = n6virt_ram_at(pc);

    end_of_last = pc + bytes;
    if (!is_modelled || !ram || !ram->cacheable || !bytes) {
        return;
    }
    offset = (pc - ram->base) & (N6_SECURE_BIT - 1);
    end = MIN(offset + bytes, ram->bytes);
    for (uint32_t line = offset & ~(LINE - 1); line < end; line += LINE) {
        if (n6virt_is_newer_in_cache(ram, line, LINE)) {
            n6virt_finding_at(jumper(before), "stale-code", pc,
                              "Old code runs at 0x%08x: the data cache has newer code that the CPU wrote, and was never cleaned",
                              MAX(pc, ram->base + line));
            return;
        }
    }
}

/* Bus masters */

/* Return `before` plus the lines of a part of a RAM that are newer in the cache (any: that are dirty). *first: address of the
 * first one of all. */
static uint32_t count_lines(const N6VirtRam *ram, uint32_t offset, uint32_t bytes, bool any, uint32_t before, uint32_t *first)
{
    uint32_t count = before;

    for (uint32_t end = offset + bytes, here; ram->cacheable && offset < end; offset += here) {
        here = MIN(end - offset, LINE - offset % LINE);
        if (any ? n6virt_is_dirty(ram, offset & ~(LINE - 1)) : n6virt_is_newer_in_cache(ram, offset, here)) {
            *first = count++ ? *first : ram->base + (offset & ~(LINE - 1));
        }
    }
    return count;
}

bool n6virt_master_read(uint32_t address, void *data, uint32_t bytes, uint32_t *stale, uint32_t *first)
{
    uint8_t *to = data;

    *stale = 0;
    while (bytes) {
        N6VirtRam *ram = n6virt_ram_at(address);
        uint32_t offset, here;

        if (!ram) {
            /* The windows of external memories report their own faults. */
            return address_space_read(&address_space_memory, address, MEMTXATTRS_UNSPECIFIED, to, bytes) == MEMTX_OK;
        }
        if (!n6virt_ram_is_on(ram)) {
            return false;
        }
        offset = (address - ram->base) & (N6_SECURE_BIT - 1);
        here = MIN(bytes, ram->bytes - offset);
        *stale = count_lines(ram, offset, here, false, *stale, first);
        memcpy(to, ram->data + offset, here);
        to += here;
        address += here;
        bytes -= here;
    }
    return true;
}

bool n6virt_master_write(uint32_t address, const void *data, uint32_t bytes, uint32_t *dirty, uint32_t *first)
{
    const uint8_t *from = data;

    *dirty = 0;
    while (bytes) {
        N6VirtRam *ram = n6virt_ram_at(address);
        uint32_t offset, here;

        if (!ram || !n6virt_ram_is_on(ram)) {
            return false;
        }
        offset = (address - ram->base) & (N6_SECURE_BIT - 1);
        here = MIN(bytes, ram->bytes - offset);
        *dirty = count_lines(ram, offset, here, true, *dirty, first);
        memcpy(ram->data + offset, from, here);
        n6virt_changed(ram, offset, here);
        if (ram->cacheable) {
            follow(ram, offset, here);
            replace_dropped(ram, offset, here);
        }
        from += here;
        address += here;
        bytes -= here;
    }
    return true;
}

bool n6virt_latest(uint32_t address, void *data, uint32_t bytes)
{
    uint32_t stale, first;

    if (!n6virt_master_read(address, data, bytes, &stale, &first)) {
        return false;
    }
    for (uint32_t done = 0, here; stale && done < bytes; done += here) {
        const N6VirtRam *ram = n6virt_ram_at(address + done);
        uint32_t offset = (address + done - ram->base) & (N6_SECURE_BIT - 1);

        here = MIN(bytes - done, LINE - offset % LINE);
        if (n6virt_is_newer_in_cache(ram, offset, here)) {
            memcpy((uint8_t *)data + done, ram->cache + offset, here);
        }
    }
    return true;
}

bool n6virt_put(uint32_t address, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;

    while (bytes) {
        N6VirtRam *ram = n6virt_ram_at(address);
        uint32_t offset, line, here;

        if (!ram || !n6virt_ram_is_on(ram)) {
            return false;
        }
        offset = (address - ram->base) & (N6_SECURE_BIT - 1);
        line = offset & ~(LINE - 1);
        here = MIN(bytes, LINE - offset % LINE);
        if (ram->cacheable) {
            clean(ram, line);
        }
        memcpy(ram->data + offset, from, here);
        n6virt_changed(ram, offset, here);
        if (ram->cacheable) {
            if (ram->valid[line / LINE]) {
                copy_from_memory(ram, line);
            }
            replace_dropped(ram, offset, here);
        }
        from += here;
        address += here;
        bytes -= here;
    }
    return true;
}

/* The module */

static void add_properties(Object *machine)
{
    n6virt_switch_property(machine, "cache", &is_modelled);
}

static void start(void)
{
    ARMCPU *cpu = ARM_CPU(first_cpu);
    MemoryRegion *processor = n6virt_processor_region();

    n6virt_add_io(&operations, processor, &operation_ops, "n6.cache-maintenance", OPERATIONS, N6_SCB_BPIALL + 4 - OPERATIONS, 10);
    /* The bits of the non-secure bank have the other opaque pointer. */
    memory_region_init_io(&ccr, NULL, &ccr_ops, NULL, "n6.ccr", 4);
    memory_region_add_subregion_overlap(processor, N6_SCB_CCR, &ccr, 10);
    memory_region_init_io(&ccr_non_secure, NULL, &ccr_ops, &ccr_non_secure, "n6.ccr-non-secure", 4);
    memory_region_add_subregion_overlap(processor, N6_SCB_CCR + NON_SECURE_ALIAS, &ccr_non_secure, 10);
    cpu->clidr = LEVEL_1;
    cpu->ccsidr[0] = CCSIDR(N6VIRT_DCACHE_SETS, N6VIRT_DCACHE_WAYS);
    cpu->ccsidr[1] = CCSIDR(N6VIRT_ICACHE_SETS, N6VIRT_ICACHE_WAYS);
    if (is_modelled) {
        n6virt_fetch = fetch;
    }
}

/* The processor invalidates its caches at reset: data that was not cleaned is lost. */
static void reset(void)
{
    N6VirtRam *ram;

    is_on = false;
    hidden = dropped_lines = 0;
    n6virt_hide_nothing();
    memset(kept, 0, sizeof(kept));
    memset(ways_done, 0, sizeof(ways_done));
    for (unsigned i = 0; (ram = n6virt_ram(i)); i++) {
        if (ram->cacheable) {
            memset(ram->valid, 0, ram->bytes / LINE);
            g_clear_pointer(&ram->dropped, g_free);
            g_clear_pointer(&ram->lost, g_free);
        }
    }
    n6virt_ram_show_cache(is_on);
}

static const N6VirtModule module = {
    .add_properties = add_properties, .start = start, .reset = reset, .fetched = fetched,
};
N6VIRT_MODULE(module)
