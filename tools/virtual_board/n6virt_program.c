/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Checks with harshness that use addresses of the program's ELF file:
 *
 *   ,zeroed=PC:FIRST:END/...    data that is zero when the instruction at PC runs for the first time, such as .bss at main
 *   ,stacks=LIMIT:TOP/...       stacks of the main stack pointer
 */
#include "n6virt.h"

#include "cpu.h"
#include "qemu/error-report.h"

#define MOST 16
#define WORD 4u
/* CONTROL SPSEL (Armv8-M manual): the process stack is used. */
#define PROCESS_STACK 2u

typedef struct {
    uint32_t pc, first, end;
} Zeroed;

typedef struct {
    uint32_t limit, top;
} Stack;

static char *zeroed_text, *stacks_text;
static Zeroed zeroed[MOST];
static Stack stacks[MOST];
static unsigned zeroed_count, stack_count;
static const Stack *used;

static void check_zeroed(const Zeroed *each)
{
    uint32_t untouched = 0, first = 0, word, fresh;

    for (uint32_t at = each->first; at + WORD <= each->end; at += WORD) {
        n6virt_fill_fresh(&fresh, at, WORD);
        if (n6virt_latest(at, &word, WORD) && word == fresh) {
            first = untouched++ ? first : at;
        }
    }
    if (untouched) {
        n6virt_finding_at(each->pc, "not-zeroed", first, "%u words of .bss from 0x%08x on still hold what RAM held at power-on: the "
                          "start-up code has to clear .bss", untouched, first);
    }
}

static void fetched(uint32_t pc, uint32_t bytes)
{
    for (unsigned i = 0; i < zeroed_count; i++) {
        if (zeroed[i].pc == pc && n6virt_is_harsh()) {
            check_zeroed(&zeroed[i]);
        }
    }
}

/* Report a main stack that has grown over its limit. The processor itself faults only if the program sets MSPLIM. */
static void check_stack(void)
{
    const CPUARMState *env = &ARM_CPU(first_cpu)->env;
    uint32_t pointer = env->regs[13];

    if (env->v7m.exception || env->v7m.control[M_REG_S] & PROCESS_STACK) {
        return;
    }
    for (unsigned i = 0; i < stack_count; i++) {
        if (pointer >= stacks[i].limit && pointer <= stacks[i].top) {
            used = &stacks[i];
            return;
        }
    }
    if (used && pointer < used->limit) {
        n6virt_finding("stack-overflow", pointer, "The main stack has grown %u bytes over its limit, 0x%08x, into other data",
                       used->limit - pointer, used->limit);
        used = NULL;
    }
}

/* Read groups of numbers in hexadecimal digits: A:B/A:B. */
static unsigned read_groups(const char *text, const char *name, unsigned width, uint32_t *to)
{
    g_auto(GStrv) groups = g_strsplit(text && *text ? text : "", "/", -1);
    unsigned count = 0;

    for (char **group = groups; *group && count < MOST; group++, count++) {
        g_auto(GStrv) parts = g_strsplit(*group, ":", -1);

        if (g_strv_length(parts) != width) {
            error_report("Property %s has a group without %u numbers", name, width);
            exit(1);
        }
        for (unsigned i = 0; i < width; i++) {
            to[count * width + i] = g_ascii_strtoull(parts[i], NULL, 16);
        }
    }
    return count;
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "zeroed", &zeroed_text);
    n6virt_text_property(machine, "stacks", &stacks_text);
}

static void start(void)
{
    zeroed_count = read_groups(zeroed_text, "zeroed", 3, &zeroed[0].pc);
    stack_count = read_groups(stacks_text, "stacks", 2, &stacks[0].limit);
    if (stack_count && n6virt_is_harsh()) {
        n6virt_on_access(check_stack);
    }
}

static void reset(void)
{
    used = NULL;
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = reset, .fetched = fetched};
N6VIRT_MODULE(module)
