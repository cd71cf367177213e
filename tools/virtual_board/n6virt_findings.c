/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "exec/exec-all.h"
#include "qemu/error-report.h"

/* Limit of the findings: a program that runs wild causes very many, and the first ones show the cause. */
#define MOST 200
/* A program that polls may do the same wrong thing millions of times, from a few instructions. A text for each of them would be
 * most of the run's time. */
#define RECENT 8

/* Kinds of findings with which an access of a probe fails. Others change a program's data, or warn. */
static const char *const failures[] = {"hole", "clock-off", "ram-off", "nor-not-mapped", "nor-size", "nor-write"};

static FILE *findings;
static bool is_probe_access;
static char *failure; /* of the access of a probe */
static GHashTable *seen;
static struct {
    const char *kind; /* the caller's constant, compared as an address */
    uint32_t pc;
} recent[RECENT];
static unsigned next;

void n6virt_findings_open(const char *path)
{
    seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (path && *path) {
        findings = fopen(path, "w");
        if (!findings) {
            error_report("Cannot write findings to %s: %s", path, strerror(errno));
            exit(1);
        }
    }
}

uint32_t n6virt_pc(void)
{
    uint64_t data[TARGET_INSN_START_WORDS];
    CPUARMState *env;

    if (!current_cpu) {
        return 0;
    }
    env = n6virt_env(current_cpu);
    /* env->regs[15] is only valid at the borders of translation blocks; the block's own table gives the instruction. */
    if (current_cpu->mem_io_pc && cpu_unwind_state_data(current_cpu, current_cpu->mem_io_pc, data)) {
        return (env->regs[15] & TARGET_PAGE_MASK) | (data[0] & ~TARGET_PAGE_MASK);
    }
    return env->regs[15];
}

void n6virt_begin_probe_access(void)
{
    is_probe_access = true;
    g_free(failure);
    failure = NULL;
}

const char *n6virt_end_probe_access(void)
{
    is_probe_access = false;
    return failure;
}

/* A probe may halt the processor, while other masters go on. */
static bool probe_debugs;

void n6virt_findings_note_probe(bool debugs)
{
    probe_debugs = debugs;
}

bool n6virt_is_probe_access(void)
{
    /* GDB at the emulator's own server reads while the machine stands still, for example where it looks for a caller. While a
     * probe has halted the processor, other masters go on. */
    return is_probe_access || (!current_cpu && !probe_debugs &&
                               (runstate_check(RUN_STATE_DEBUG) || runstate_check(RUN_STATE_PAUSED)));
}

static G_GNUC_PRINTF(2, 0) void note_failure(const char *kind, const char *format, va_list arguments)
{
    for (unsigned i = 0; i < ARRAY_SIZE(failures) && !failure; i++) {
        if (!strcmp(kind, failures[i])) {
            g_autofree char *text = g_strdup_vprintf(format, arguments);

            failure = g_strdup_printf("%s: %s", kind, text);
        }
    }
}

/* Return whether this was one of the last findings, and remember it as one. */
static bool is_recent(uint32_t pc, const char *kind)
{
    for (unsigned i = 0; i < RECENT; i++) {
        if (recent[i].pc == pc && recent[i].kind == kind) {
            return true;
        }
    }
    recent[next].pc = pc;
    recent[next].kind = kind;
    next = (next + 1) % RECENT;
    return false;
}

static G_GNUC_PRINTF(4, 0) void write_finding(uint32_t pc, const char *kind, uint64_t address, const char *format,
                                              va_list arguments)
{
    char *text;

    if (n6virt_is_probe_access()) {
        note_failure(kind, format, arguments);
        return;
    }
    if (!seen || g_hash_table_size(seen) >= MOST || is_recent(pc, kind)) {
        return;
    }
    if (!g_hash_table_add(seen, g_strdup_printf("%s %08x", kind, pc))) {
        return;
    }
    text = g_strdup_vprintf(format, arguments);
    if (findings) {
        fprintf(findings, "{\"kind\": \"%s\", \"address\": \"0x%08" PRIx64 "\", \"pc\": \"0x%08x\", \"text\": \"%s\"}\n", kind, address,
                pc, text);
        fflush(findings);
    }
    g_free(text);
}

void n6virt_finding(const char *kind, uint64_t address, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_finding(n6virt_pc(), kind, address, format, arguments);
    va_end(arguments);
}

void n6virt_finding_at(uint32_t pc, const char *kind, uint64_t address, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_finding(pc, kind, address, format, arguments);
    va_end(arguments);
}

void n6virt_findings_add(const char *format, ...)
{
    va_list arguments;

    if (findings) {
        va_start(arguments, format);
        vfprintf(findings, format, arguments);
        va_end(arguments);
        fputc('\n', findings);
        fflush(findings);
    }
}

void n6virt_findings_close(const char *summary_fields)
{
    if (findings) {
        fprintf(findings, "{\"kind\": \"summary\", %s}\n", summary_fields);
        fclose(findings);
        findings = NULL;
    }
}
