/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Accesses of bus masters to memory, with what banks that are off, RIF and the CPU's data cache make of them.
 */
#include "n6virt.h"

/* Return whether a bank is off, and report it. As on the chip, reads then give zeros and writes do nothing, without notice to
 * the program. */
static bool is_off(const N6VirtPort *port, uint32_t pc, uint32_t address, const char *when)
{
    const N6VirtRam *ram = n6virt_ram_at(address);

    if (!ram || n6virt_ram_is_on(ram)) {
        return false;
    }
    n6virt_finding_at(pc, "ram-off", address, "%s uses %s at 0x%08x, which is off%s", port->name, ram->name, address, when);
    return true;
}

bool n6virt_port_reads_open(const N6VirtPort *port, uint32_t pc, uint32_t address, void *to, uint32_t bytes, const char *when)
{
    uint32_t stale = 0, first = 0;

    if (!n6virt_master_read(address, to, bytes, &stale, &first)) {
        return false;
    }
    if (stale) {
        n6virt_finding_at(pc, "stale-cache", first, "%s reads %u stale cache lines, the first at 0x%08x: not cleaned since the CPU wrote "
                          "them%s", port->name, stale, first, when);
    }
    n6virt_report_dropped(address, bytes, port->inside);
    return true;
}

bool n6virt_port_reads(const N6VirtPort *port, uint32_t pc, uint32_t address, void *to, uint32_t bytes, const char *when)
{
    const char *objection;

    if (is_off(port, pc, address, when)) {
        memset(to, 0, bytes);
        return true;
    }
    objection = n6virt_rif_objection(port->number, address, bytes, false);
    if (objection) {
        n6virt_finding_at(pc, "rif", address, "%s reads zeros from 0x%08x: RIF denies the access (%s)%s", port->name, address, objection,
                          when);
        memset(to, 0, bytes);
        return true;
    }
    return n6virt_port_reads_open(port, pc, address, to, bytes, when);
}

bool n6virt_port_writes_open(const N6VirtPort *port, uint32_t pc, uint32_t address, const void *from, uint32_t bytes, const char *when)
{
    uint32_t dirty = 0, first = 0;

    if (!n6virt_master_write(address, from, bytes, &dirty, &first)) {
        return false;
    }
    if (dirty) {
        n6virt_finding_at(pc, "dirty-cache", first, "%s writes %u cache lines that the CPU has changed, the first at 0x%08x: when they are "
                          "written back, %s's data is lost%s", port->name, dirty, first, port->inside, when);
    }
    return true;
}

bool n6virt_port_writes(const N6VirtPort *port, uint32_t pc, uint32_t address, const void *from, uint32_t bytes, const char *when)
{
    const char *objection;

    if (is_off(port, pc, address, when)) {
        return true;
    }
    objection = n6virt_rif_objection(port->number, address, bytes, true);
    if (objection) {
        n6virt_finding_at(pc, "rif", address, "%s cannot write to 0x%08x: RIF denies the access (%s)%s", port->name, address, objection,
                          when);
        return true;
    }
    return n6virt_port_writes_open(port, pc, address, from, bytes, when);
}
