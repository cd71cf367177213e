/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A glitch of the processor at one execution of an instruction, before the instruction is executed. The state of the processor
 * at that moment is written as a stop (n6virt_stop.c).
 *
 *   ,glitch=ADDRESS/N/BYTES          the Nth execution, from 1, of the instruction there is skipped; it has so many bytes
 *   ,glitch=ADDRESS/N/REGISTER/BIT   a bit of a register flips: 0 to 14, or 16 for the flags, which are bits 28 to 31
 *
 * All numbers are decimal. The address has a breakpoint of QEMU's, as those of the debug architecture, which calls the check below
 * before the instruction and goes on.
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "qemu/error-report.h"

#define THUMB 1u
#define LINK 14
#define FLAGS 16
#define FIRST_FLAG 28
/* The last bits of ITSTATE, which say how many instructions of an IT block follow (Armv8-M manual). */
#define IT_FOLLOWS 7u
#define IT_SHIFTED 0x1fu

static char *text;
static uint32_t address, nth, bytes, reg, bit;
static bool is_skip;
static unsigned executions;
/* The number of executed instructions at the last look. */
static int64_t last = -1;
static const struct TCGCPUOps *original;
static struct TCGCPUOps own;

static void skip(CPUState *cpu)
{
    CPUARMState *env = &ARM_CPU(cpu)->env;

    env->regs[15] += bytes;
    env->condexec_bits = env->condexec_bits & IT_FOLLOWS
                             ? (env->condexec_bits & ~IT_SHIFTED) | (env->condexec_bits << 1 & IT_SHIFTED) : 0;
    /* The block of this instruction has been chosen, so the processor's loop must begin again. */
    cpu_loop_exit_noexc(cpu);
}

static void flip(CPUState *cpu)
{
    CPUARMState *env = &ARM_CPU(cpu)->env;

    if (reg == FLAGS) {
        xpsr_write(env, xpsr_read(env) ^ 1u << bit, XPSR_NZCV);
    } else {
        env->regs[reg] ^= 1u << bit;
    }
}

static bool check(CPUState *cpu)
{
    int64_t now;

    if (ARM_CPU(cpu)->env.regs[15] != address) {
        return original->debug_check_breakpoint(cpu);
    }
    n6virt_allow_count(cpu);
    now = n6virt_instructions();
    /* QEMU looks twice if it has no code for the block yet. */
    if (now != last) {
        last = now;
        if (++executions == nth) {
            n6virt_write_state(address);
            (is_skip ? skip : flip)(cpu);
        }
    }
    return false;
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "glitch", &text);
}

static void start(void)
{
    int numbers;

    if (!text || !*text) {
        return;
    }
    numbers = sscanf(text, "%u/%u/%u/%u", &address, &nth, &reg, &bit);
    is_skip = numbers == 3;
    bytes = reg;
    if (numbers < 3 || !nth || (is_skip && bytes != 2 && bytes != 4) ||
        (!is_skip && (bit > 31 || (reg > LINK && (reg != FLAGS || bit < FIRST_FLAG))))) {
        error_report("Property glitch is ADDRESS/N/BYTES or ADDRESS/N/REGISTER/BIT, not %s", text);
        exit(1);
    }
    original = CPU_GET_CLASS(first_cpu)->tcg_ops;
    own = *original;
    own.debug_check_breakpoint = check;
    CPU_GET_CLASS(first_cpu)->tcg_ops = &own;
}

static void add_breakpoints(CPUState *cpu, run_on_cpu_data data)
{
    cpu_breakpoint_insert(cpu, address, BP_CPU, NULL);
    /* No instruction has this address. Because of it, QEMU also looks for breakpoints behind the instruction at the other one, which
     * may branch back to it. */
    cpu_breakpoint_insert(cpu, address | THUMB, BP_CPU, NULL);
}

/* The reset of the processor, which follows, removes the breakpoints of its debug architecture. */
static void reset(void)
{
    if (original) {
        async_run_on_cpu(first_cpu, add_breakpoints, RUN_ON_CPU_NULL);
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = reset};
N6VIRT_MODULE(module)
