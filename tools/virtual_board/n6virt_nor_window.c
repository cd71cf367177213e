/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The memory-mapped window of the NOR: the result of a read, by the state of XSPI2 and of the part.
 */
#include "n6virt_nor.h"

#include "exec/address-spaces.h"

typedef enum {
    CLOSED,  /* reads fault */
    WRONG,   /* mapped, but not with the settings of the part: reads give ones */
    SWAPPED, /* mapped, but the two bytes of each half-word change places */
    OPEN,
} State;

static MemoryRegion window, closed;
static bool was_read; /* since it was opened */

static State state_of(const char **why)
{
    *why = n6virt_xspi_unmapped(N6_XSPI2_BASE);
    if (*why) {
        return CLOSED;
    }
    *why = n6virt_nor_mismatch();
    if (*why) {
        return WRONG;
    }
    if (n6virt_nor_is_swapped()) {
        *why = "the memory type is not that of the part (DCR1 MTYP)";
        return SWAPPED;
    }
    return OPEN;
}

/* Close the window when it is no longer open. The first read of an open window is handled in closed_read, since the controller
 * is busy from then on; later reads go to the array. */
static void update(void)
{
    const char *why;

    if (was_read && state_of(&why) != OPEN) {
        was_read = false;
        memory_region_set_enabled(&window, false);
    }
}

static void open_window(void)
{
    was_read = true;
    memory_region_set_size(&window, MIN(n6virt_nor_array.bytes, n6virt_xspi_part_bytes(N6_XSPI2_BASE)));
    memory_region_set_enabled(&window, true);
}

static MemTxResult closed_read(void *opaque, hwaddr offset, uint64_t *value, unsigned size, MemTxAttrs attributes)
{
    N6VirtNorArray *array = &n6virt_nor_array;
    const char *why = "the board has no NOR";
    State state = array->data ? state_of(&why) : CLOSED;
    uint32_t address = N6_XSPI2_WINDOW_BASE + offset;

    *value = UINT64_MAX;
    if (state == CLOSED) {
        n6virt_finding("nor-not-mapped", address, "Read of the NOR at 0x%08x faults: %s", address, why);
        return MEMTX_ERROR;
    }
    if (offset + size > n6virt_xspi_part_bytes(N6_XSPI2_BASE)) {
        n6virt_finding("nor-size", address, "Read of the NOR at 0x%08x faults: the controller knows a part of 0x%" PRIx64 " bytes (DCR1 DEVSIZE)",
                       address, n6virt_xspi_part_bytes(N6_XSPI2_BASE));
        return MEMTX_ERROR;
    }
    n6virt_xspi_window_read(N6_XSPI2_BASE);
    if (state == WRONG) {
        n6virt_finding("nor-mode", address, "Read of the NOR at 0x%08x gives ones: %s", address, why);
        return MEMTX_OK;
    }
    if (state == SWAPPED) {
        n6virt_finding("nor-mode", address, "Read of the NOR at 0x%08x gives swapped bytes: %s", address, why);
    }
    n6virt_nor_check_range();
    *value = 0;
    for (unsigned i = 0; i < size; i++) {
        hwaddr from = (offset + i) ^ (state == SWAPPED);
        *value |= (uint64_t)(from < array->bytes ? array->data[from] : 0xff) << 8 * i;
    }
    if (offset >= array->bytes) {
        n6virt_finding("nor-size", address, "Read of the NOR at 0x%08x, which is beyond its %u bytes", address, array->bytes);
    }
    if (state == OPEN && !was_read) {
        open_window();
    }
    return MEMTX_OK;
}

static MemTxResult closed_write(void *opaque, hwaddr offset, uint64_t value, unsigned size, MemTxAttrs attributes)
{
    uint32_t address = N6_XSPI2_WINDOW_BASE + offset;

    n6virt_finding("nor-write", address, "Write to the NOR at 0x%08x faults: its window is only for reads", address);
    return MEMTX_ERROR;
}

static const MemoryRegionOps closed_ops = {
    .read_with_attrs = closed_read, .write_with_attrs = closed_write, .valid.unaligned = true, .impl.unaligned = true,
    .valid.max_access_size = 8, .impl.max_access_size = 8, .endianness = DEVICE_LITTLE_ENDIAN,
};

static void start(void)
{
    n6virt_nor_load();
    n6virt_add_io(&closed, get_system_memory(), &closed_ops, "n6.nor-closed", N6_XSPI2_WINDOW_BASE, N6_XSPI2_WINDOW_SIZE, 0);
    if (n6virt_nor_array.data) {
        memory_region_init_alias(&window, NULL, "n6.nor", &n6virt_nor_array.region, 0, n6virt_nor_array.bytes);
        memory_region_set_enabled(&window, false);
        memory_region_add_subregion_overlap(get_system_memory(), N6_XSPI2_WINDOW_BASE, &window, 1);
    }
}

static const N6VirtModule module = {.start = start, .reset = update, .update = update};
N6VIRT_MODULE(module)
