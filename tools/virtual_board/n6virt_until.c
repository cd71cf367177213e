/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A run that ends where a program arrives at an address:
 *
 *   ,until=ADDRESS   before the instruction there is executed, with status 124 and "ended": "until" in the summary
 *
 * It is a breakpoint of QEMU's, which costs the program nothing and lets it see nothing; a debugger and this exclude each other.
 */
#include "n6virt.h"

#include "hw/core/cpu.h"
#include "qapi/visitor.h"
#include "qemu/error-report.h"
#include "sysemu/runstate.h"

#define THUMB 1u

static uint32_t until;
static bool has_until;

/* In the main loop, with the processor stopped. */
static void on_state(void *opaque, bool running, RunState state)
{
    if (state == RUN_STATE_DEBUG) {
        n6virt_end("until");
    }
}

static void start(void)
{
    if (!has_until) {
        return;
    }
    if (cpu_breakpoint_insert(first_cpu, until & ~THUMB, BP_GDB, NULL)) {
        error_report("cannot stop at 0x%08x", until);
        exit(1);
    }
    qemu_add_vm_change_state_handler(on_state, NULL);
}

static void get_until(Object *object, Visitor *visitor, const char *name, void *opaque, Error **errp)
{
    visit_type_uint32(visitor, name, &until, errp);
}

static void set_until(Object *object, Visitor *visitor, const char *name, void *opaque, Error **errp)
{
    has_until = visit_type_uint32(visitor, name, &until, errp);
}

static void add_properties(Object *machine)
{
    object_property_add(machine, "until", "uint32", get_until, set_until, NULL, NULL);
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start};
N6VIRT_MODULE(module)
