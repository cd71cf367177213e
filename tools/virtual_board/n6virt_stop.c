/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * State of the processor where a program stops: at the end of the run, at the first instruction of a fault's handler, and at
 * that of each given function, such as abort. Each has the stack's content, so that a tool can unwind it.
 *
 * Code is translated immediately before it first runs, with the registers of that moment. A look at each block that is
 * translated therefore costs nothing where code runs again, unlike a breakpoint.
 *
 *   ,stops=ADDRESS/ADDRESS/...   addresses of functions, in hexadecimal digits
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "qemu/error-report.h"

/* Limit of the states before the end: a program may fault for ever. */
#define MOST 32
#define HARD_FAULT 3
#define SECURE_FAULT 7
/* Values of LR with which a handler returns (Armv8-M manual). */
#define IS_RETURN(link) (((link) & 0xffffff80) == 0xffffff80)
#define FROM_PROCESS_STACK 4u
#define STACK_BYTES 4096
#define CODE_BEFORE 64
#define CODE_BYTES 320
#define TEXT_BYTES 160
#define ARGUMENTS 4

static char *addresses;
static GHashTable *stops;
static unsigned written;

/* Read memory without an effect on the board. Return the number of bytes that can be read. */
static uint32_t peek(uint32_t address, uint8_t *to, uint32_t bytes)
{
    uint32_t nor_bytes, done = 0, offset = address - N6_XSPI2_WINDOW_BASE;
    const uint8_t *nor = n6virt_nor_content(&nor_bytes);

    if (nor && address >= N6_XSPI2_WINDOW_BASE && offset < nor_bytes) {
        bytes = MIN(bytes, nor_bytes - offset);
        memcpy(to, nor + offset, bytes);
        return bytes;
    }
    while (done < bytes && n6virt_ram_at(address + done) && n6virt_latest(address + done, to + done, 1)) {
        done++;
    }
    return done;
}

void n6virt_add_words(GString *text, const char *name, const uint32_t *words, unsigned count)
{
    g_string_append_printf(text, ", \"%s\": [", name);
    for (unsigned i = 0; i < count; i++) {
        g_string_append_printf(text, "%s\"0x%08x\"", i ? ", " : "", words[i]);
    }
    g_string_append(text, "]");
}

void n6virt_add_memory(GString *text, const char *name, uint32_t address, uint32_t bytes)
{
    g_autofree uint8_t *content = g_malloc0(bytes);

    bytes = peek(address, content, bytes);
    g_string_append_printf(text, ", \"%s_at\": \"0x%08x\", \"%s\": \"", name, address, name);
    for (uint32_t i = 0; i < bytes; i++) {
        g_string_append_printf(text, "%02x", content[i]);
    }
    g_string_append(text, "\"");
}

/* Append the texts that the first registers point to, empty where there is none. */
static void add_texts(GString *text, const CPUARMState *env)
{
    g_string_append(text, ", \"texts\": [");
    for (unsigned i = 0; i < ARGUMENTS; i++) {
        uint8_t content[TEXT_BYTES + 1] = {0};
        uint32_t length = 0, bytes = peek(env->regs[i], content, TEXT_BYTES);

        while (length < bytes && g_ascii_isprint(content[length])) {
            length++;
        }
        g_string_append_printf(text, "%s\"", i ? ", " : "");
        for (uint32_t at = 0; length < bytes && !content[length] && at < length; at++) {
            g_string_append_printf(text, strchr("\"\\", content[at]) ? "\\%c" : "%c", content[at]);
        }
        g_string_append(text, "\"");
    }
    g_string_append(text, "]");
}

/* Append the state as an object. */
static void add_state(GString *text)
{
    const CPUARMState *env = &ARM_CPU(first_cpu)->env;
    uint32_t link = env->regs[14], frame = IS_RETURN(link) && link & FROM_PROCESS_STACK ? env->v7m.other_sp : env->regs[13];
    const uint32_t faults[] = {
        env->v7m.cfsr[M_REG_S] | env->v7m.cfsr[M_REG_NS], env->v7m.hfsr, env->v7m.mmfar[M_REG_S] | env->v7m.mmfar[M_REG_NS],
        env->v7m.bfar, env->v7m.sfsr, env->v7m.sfar,
    };
    const uint32_t limits[] = {env->v7m.msplim[M_REG_S], env->v7m.psplim[M_REG_S], env->v7m.control[M_REG_S]};

    g_string_append_printf(text, "{\"exception\": %u, \"xpsr\": \"0x%08x\"", (unsigned)env->v7m.exception, xpsr_read((CPUARMState *)env));
    n6virt_add_words(text, "registers", env->regs, ARRAY_SIZE(env->regs));
    n6virt_add_words(text, "faults", faults, ARRAY_SIZE(faults));
    n6virt_add_words(text, "limits", limits, ARRAY_SIZE(limits));
    add_texts(text, env);
    n6virt_add_memory(text, "code", env->regs[15] - CODE_BEFORE, CODE_BYTES);
    n6virt_add_memory(text, "stack", frame & ~3u, STACK_BYTES);
    g_string_append(text, "}");
}

void n6virt_write_state(uint32_t pc)
{
    GString *text;

    if (written++ >= MOST) {
        return;
    }
    text = g_string_new(NULL);
    add_state(text);
    n6virt_findings_add("{\"kind\": \"stop\", \"pc\": \"0x%08x\", \"state\": %s}", pc, text->str);
    g_string_free(text, true);
}

static void fetched(uint32_t pc, uint32_t bytes)
{
    const CPUARMState *env = &ARM_CPU(first_cpu)->env;
    unsigned exception = env->v7m.exception;
    bool faults = exception >= HARD_FAULT && exception <= SECURE_FAULT && IS_RETURN(env->regs[14]) && env->regs[15] == pc;

    if (faults || (stops && g_hash_table_contains(stops, GUINT_TO_POINTER(pc)))) {
        n6virt_write_state(pc);
    }
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "stops", &addresses);
}

static void start(void)
{
    g_auto(GStrv) parts = addresses && *addresses ? g_strsplit(addresses, "/", -1) : NULL;

    for (char **part = parts; part && *part; part++) {
        char *end;
        uint64_t address = g_ascii_strtoull(*part, &end, 16);

        if (end == *part || *end || address > UINT32_MAX) {
            error_report("Stops is not a list of addresses in hexadecimal digits");
            exit(1);
        }
        stops = stops ? stops : g_hash_table_new(NULL, NULL);
        g_hash_table_add(stops, GUINT_TO_POINTER((uint32_t)address & ~1u));
    }
}

static void summarise(GString *summary)
{
    const char *before = "";

    g_string_append_printf(summary, ", \"asleep\": %s, \"interrupts\": [", first_cpu->halted ? "true" : "false");
    for (unsigned i = 0; i < N6_IRQ_COUNT; i++) {
        if (n6virt_interrupt_is_enabled(i)) {
            g_string_append_printf(summary, "%s%u", before, i);
            before = ", ";
        }
    }
    g_string_append(summary, "], \"state\": ");
    add_state(summary);
}

static const N6VirtModule module = {
    .add_properties = add_properties, .start = start, .fetched = fetched, .summarise = summarise,
};
N6VIRT_MODULE(module)
