/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Accesses of bus masters beside the NPU to memory, with what RIF, banks that are off and the CPU's data cache make of them.
 */
#include "n6virt.h"

/* Return whether a bank is off, and report it. As on the chip, reads then give zeros and writes do nothing. */
static bool is_off(const N6VirtPort *port, uint32_t pc, uint32_t address)
{
    const N6VirtRam *ram = n6virt_ram_at(address);

    if (!ram || n6virt_ram_is_on(ram)) {
        return false;
    }
    n6virt_finding_at(pc, "ram-off", address, "%s uses %s at 0x%08x, which is off", port->name, ram->name, address);
    return true;
}

bool n6virt_port_reads(const N6VirtPort *port, uint32_t pc, uint32_t address, void *to, uint32_t bytes)
{
    const char *objection = n6virt_rif_objection(port->number, address, bytes, false);
    uint32_t stale = 0, first = 0;

    if (objection) {
        n6virt_finding_at(pc, "rif", address, "%s reads zeros from 0x%08x: RIF denies the access (%s)", port->name, address, objection);
        memset(to, 0, bytes);
        return true;
    }
    if (is_off(port, pc, address)) {
        memset(to, 0, bytes);
        return true;
    }
    if (!n6virt_master_read(address, to, bytes, &stale, &first)) {
        return false;
    }
    if (stale) {
        n6virt_finding_at(pc, "stale-cache", first, "%s reads %u stale cache lines, the first at 0x%08x: not cleaned since the CPU wrote "
                          "them", port->name, stale, first);
    }
    n6virt_report_dropped(address, bytes, port->name);
    return true;
}

bool n6virt_port_writes(const N6VirtPort *port, uint32_t pc, uint32_t address, const void *from, uint32_t bytes)
{
    const char *objection = n6virt_rif_objection(port->number, address, bytes, true);
    uint32_t dirty = 0, first = 0;

    if (objection) {
        n6virt_finding_at(pc, "rif", address, "%s cannot write to 0x%08x: RIF denies the access (%s)", port->name, address, objection);
        return true;
    }
    if (is_off(port, pc, address)) {
        return true;
    }
    if (!n6virt_master_write(address, from, bytes, &dirty, &first)) {
        return false;
    }
    if (dirty) {
        n6virt_finding_at(pc, "dirty-cache", first, "%s writes %u cache lines that the CPU has changed, the first at 0x%08x: when they are "
                          "written back, its data is lost", port->name, dirty, first);
    }
    return true;
}
