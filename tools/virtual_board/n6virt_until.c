/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * End of a run at a point of the program, with status 124 and "ended": "until" in the summary:
 *
 *   ,until=ADDRESS        before the instruction there is executed. It is a breakpoint of QEMU's, invisible to the program;
 *                         a debugger cannot be used with it
 *   ,until-text=68656C6C  with the last byte of a text on the console, given in hexadecimal digits
 */
#include "n6virt.h"

#include "cpu.h"
#include "hw/core/cpu.h"
#include "n6virt_qemu.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"

#define THUMB 1u

/* Address of the end; 0: none. */
static uint32_t until;
static const struct TCGCPUOps *original;
static struct TCGCPUOps own;
static char *text;
static GByteArray *awaited;
/* The last bytes that the console has sent, as many as the awaited text has. */
static GByteArray *said;

/* End the run, in the processor's thread, before the instruction. QEMU would go on to its debugger's server, which need not
 * exist. */
static void on_breakpoint(CPUState *cpu)
{
    if (ARM_CPU(cpu)->env.regs[15] != (until & ~THUMB)) {
        original->debug_excp_handler(cpu);
        return;
    }
    n6virt_lock();
    n6virt_end("until");
}

void n6virt_said(uint8_t byte)
{
    if (!awaited) {
        return;
    }
    if (said->len == awaited->len) {
        g_byte_array_remove_index(said, 0);
    }
    g_byte_array_append(said, &byte, 1);
    if (said->len == awaited->len && !memcmp(said->data, awaited->data, awaited->len)) {
        n6virt_end("until");
    }
}

static void await_text(void)
{
    awaited = g_byte_array_new();
    said = g_byte_array_new();
    for (const char *digits = text; *digits; digits += 2) {
        uint8_t byte;

        if (!g_ascii_isxdigit(digits[0]) || !g_ascii_isxdigit(digits[1])) {
            error_report("Property until-text needs two hexadecimal digits for each byte");
            exit(1);
        }
        byte = g_ascii_xdigit_value(digits[0]) << 4 | g_ascii_xdigit_value(digits[1]);
        g_byte_array_append(awaited, &byte, 1);
    }
}

static void start(void)
{
    if (text && *text) {
        await_text();
    }
    if (!until) {
        return;
    }
    if (cpu_breakpoint_insert(first_cpu, until & ~THUMB, BP_GDB, NULL)) {
        error_report("Property until: cannot stop at 0x%08x", until);
        exit(1);
    }
    original = CPU_GET_CLASS(first_cpu)->tcg_ops;
    own = *original;
    own.debug_excp_handler = on_breakpoint;
    CPU_GET_CLASS(first_cpu)->tcg_ops = &own;
}

static void add_properties(Object *machine)
{
    object_property_add_uint32_ptr(machine, "until", &until, OBJ_PROP_FLAG_READWRITE);
    n6virt_text_property(machine, "until-text", &text);
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start};
N6VIRT_MODULE(module)
