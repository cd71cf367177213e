/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The CPU's accesses to lines that are outside its data cache: an access brings the line in. Pages with such lines are under
 * watchpoints of QEMU that never stop the program. An access there costs some ten nanoseconds of the host; other pages keep their
 * speed. The lists of memory regions do not change, and code in a watched page runs as fast as elsewhere.
 *
 * Accesses that do not go through QEMU's TLB are not seen: the frames of exceptions.
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "exec/cputlb.h"
#include "exec/exec-all.h"
#include "exec/target_page.h"

/* Each slow access walks the list of watchpoints. From this number of ranges on, a new page joins the nearest range of its RAM:
 * the pages between them become slow, and nothing is lost. */
#define MANY 64
/* For more pages than these, the whole TLB is flushed. */
#define PAGES_FLUSHED 16

/* A RAM has two addresses: secure and non-secure. */
enum { SECURE, NON_SECURE, VIEWS };

/* Pages of a RAM that are watched, by their offsets: all those that had lines outside, until all their lines are inside. */
typedef struct {
    N6VirtRam *ram;
    uint32_t first, end;
    CPUWatchpoint *points[VIEWS];
} Watched;

static GArray *ranges;
static unsigned latest; /* index of the range that was used last */
static uint32_t page_bytes;
static N6VirtTouch *touch_lines; /* NULL until a first page is watched: until then, only a debugger has watchpoints */
static const struct TCGCPUOps *original;
/* A page whose lines are all inside. The TLB is not flushed during the access that it serves. */
static struct {
    N6VirtRam *ram;
    uint32_t page;
    bool is_planned;
} emptied;

static Watched *range(unsigned i)
{
    return &g_array_index(ranges, Watched, i);
}

static bool contains(const Watched *range, const N6VirtRam *ram, uint32_t offset)
{
    return range->ram == ram && offset >= range->first && offset < range->end;
}

/* Return the index of the range with an offset, or the number of ranges. */
static unsigned find(const N6VirtRam *ram, uint32_t offset)
{
    if (latest < ranges->len && contains(range(latest), ram, offset)) {
        return latest;
    }
    for (unsigned i = 0; i < ranges->len; i++) {
        if (contains(range(i), ram, offset)) {
            return latest = i;
        }
    }
    return ranges->len;
}

static bool has_outside(const N6VirtRam *ram, uint32_t page)
{
    return memchr(ram->valid + page / N6_CACHE_LINE, N6VIRT_OUTSIDE, page_bytes / N6_CACHE_LINE);
}

static uint32_t address_of(const N6VirtRam *ram, uint32_t offset, unsigned view)
{
    return (ram->base + offset) & ~(view == NON_SECURE ? N6_SECURE_BIT : 0);
}

/* Let the CPU's TLB look up pages again: an entry says whether its page is watched. */
static void flush(const N6VirtRam *ram, uint32_t first, uint32_t end)
{
    if (end > first && (end - first) / page_bytes > PAGES_FLUSHED) {
        tlb_flush(first_cpu);
        return;
    }
    for (uint32_t page = first; page < end; page += page_bytes) {
        tlb_flush_page(first_cpu, address_of(ram, page, SECURE));
        tlb_flush_page(first_cpu, address_of(ram, page, NON_SECURE));
    }
}

static void remove_points(Watched *range)
{
    for (unsigned view = 0; view < VIEWS; view++) {
        if (range->points[view]) {
            cpu_watchpoint_remove_by_ref(first_cpu, range->points[view]);
            range->points[view] = NULL;
        }
    }
}

/* Set the watchpoints of a range. The caller flushes the pages that change. */
static void set_points(Watched *range)
{
    for (unsigned view = 0; view < VIEWS; view++) {
        uint32_t address = address_of(range->ram, range->first, view);
        CPUWatchpoint *point = range->points[view];

        if (point) {
            point->vaddr = address;
            point->len = range->end - range->first;
        } else {
            cpu_watchpoint_insert(first_cpu, address, range->end - range->first, BP_CPU | BP_MEM_ACCESS, &range->points[view]);
        }
    }
}

/* Widen a new range to the nearest one of its RAM. */
static void widen(Watched *wide)
{
    const Watched *nearest = NULL;
    uint32_t distance = UINT32_MAX;

    for (unsigned i = 0; i < ranges->len; i++) {
        const Watched *each = range(i);
        uint32_t here = each->end < wide->first ? wide->first - each->end : each->first > wide->end ? each->first - wide->end : 0;

        if (each->ram == wide->ram && here < distance) {
            nearest = each;
            distance = here;
        }
    }
    if (nearest) {
        wide->first = MIN(wide->first, nearest->end);
        wide->end = MAX(wide->end, nearest->first);
    }
}

static void add_page(N6VirtRam *ram, uint32_t page)
{
    Watched joined = {.ram = ram, .first = page, .end = page + page_bytes};
    uint32_t first, end;

    if (ranges->len >= MANY) {
        widen(&joined);
    }
    first = joined.first;
    end = joined.end;
    for (unsigned i = ranges->len; i-- > 0;) {
        Watched *each = range(i);

        if (each->ram != ram || each->first > joined.end || each->end < joined.first) {
            continue;
        }
        joined.first = MIN(joined.first, each->first);
        joined.end = MAX(joined.end, each->end);
        if (joined.points[SECURE]) {
            remove_points(each);
        } else {
            memcpy(joined.points, each->points, sizeof(joined.points));
        }
        g_array_remove_index_fast(ranges, i);
    }
    set_points(&joined);
    flush(ram, first, end);
    g_array_append_val(ranges, joined);
    latest = ranges->len - 1;
}

void n6virt_watch(N6VirtRam *ram, uint32_t offset, N6VirtTouch *touch)
{
    touch_lines = touch;
    if (find(ram, offset) == ranges->len) {
        add_page(ram, offset & ~(page_bytes - 1));
    }
}

/* Remove pages without lines outside from both ends of a range. */
static void shrink(Watched *range)
{
    while (range->first < range->end && !has_outside(range->ram, range->first)) {
        range->first += page_bytes;
    }
    while (range->first < range->end && !has_outside(range->ram, range->end - page_bytes)) {
        range->end -= page_bytes;
    }
}

/* Stop watching the emptied page, and the pages around it that are empty, too. */
static void cut(CPUState *cpu, run_on_cpu_data data)
{
    unsigned i = find(emptied.ram, emptied.page);
    Watched before, left, right;

    emptied.is_planned = false;
    if (i == ranges->len || has_outside(emptied.ram, emptied.page)) {
        return;
    }
    before = left = *range(i);
    right = (Watched){.ram = before.ram, .first = before.end, .end = before.end};
    if (ranges->len < MANY) {
        left.end = emptied.page;
        right.first = emptied.page + page_bytes;
    }
    shrink(&left);
    shrink(&right);
    if (left.first == left.end) {
        memcpy(right.points, left.points, sizeof(right.points));
        left = right;
        right.first = right.end;
    }
    if (left.first == left.end) {
        remove_points(&before);
        g_array_remove_index_fast(ranges, i);
        flush(before.ram, before.first, before.end);
        return;
    }
    set_points(&left);
    *range(i) = left;
    flush(before.ram, before.first, left.first);
    if (right.first == right.end) {
        flush(before.ram, left.end, before.end);
        return;
    }
    set_points(&right);
    g_array_append_val(ranges, right);
    flush(before.ram, left.end, right.first);
    flush(before.ram, right.end, before.end);
}

static void plan_cut(N6VirtRam *ram, uint32_t page)
{
    if (!emptied.is_planned && find(ram, page) < ranges->len) {
        emptied.ram = ram;
        emptied.page = page;
        emptied.is_planned = true;
        async_run_on_cpu(first_cpu, cut, RUN_ON_CPU_NULL);
    }
}

/* QEMU calls this for each access to a page with a watchpoint, and before it: a debugger's watchpoints are among them. */
static vaddr on_access(CPUState *cpu, vaddr address, int bytes)
{
    N6VirtRam *ram = n6virt_ram_at(address);

    if (touch_lines && ram && ram->cacheable) {
        uint32_t offset = (address - ram->base) & (N6_SECURE_BIT - 1), page = offset & ~(page_bytes - 1);
        bool came_in = touch_lines(ram, offset, bytes);

        /* With many ranges, an empty page between others stays watched. */
        if ((came_in || ranges->len < MANY) && !has_outside(ram, page)) {
            plan_cut(ram, page);
        }
    }
    return original->adjust_watchpoint_address ? original->adjust_watchpoint_address(cpu, address, bytes) : address;
}

/* The program goes on: a Cortex-M's own watchpoints are in its DWT, which does not use those of QEMU. */
static bool never_stops(CPUState *cpu, CPUWatchpoint *point)
{
    return false;
}

static void start(void)
{
    static struct TCGCPUOps ops;
    CPUClass *cpu = CPU_GET_CLASS(first_cpu);

    ranges = g_array_new(false, false, sizeof(Watched));
    page_bytes = qemu_target_page_size();
    original = cpu->tcg_ops;
    ops = *original;
    ops.adjust_watchpoint_address = on_access;
    ops.debug_check_watchpoint = never_stops;
    cpu->tcg_ops = &ops;
}

/* The processor's reset removes the watchpoints, too, before this or after it. */
static void reset(void)
{
    cpu_watchpoint_remove_all(first_cpu, BP_CPU);
    g_array_set_size(ranges, 0);
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
