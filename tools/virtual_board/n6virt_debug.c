/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Halting debug of the processor: stop, run, single steps, registers, breakpoints, watchpoints, caught vectors. QEMU stops the
 * machine with the processor; the rest of the chip goes on for the time that a probe's transfers take. While no probe is
 * attached, nothing of this has an effect.
 *
 * A processor that would only loop in the boot ROM until a probe comes is stopped, too, so that an idle board takes no time of
 * the host. A probe cannot tell the difference.
 */
#include "n6virt_debug.h"
#include "n6virt_qemu.h"

#include "cpu.h"
#include "exec/exec-all.h"
#include "internals.h"
#include "qemu/timer.h"

#define THUMB 1u
#define WFI 0xbf30u
#define WFE 0xbf20u
/* Bits VC_* of DEMCR. */
#define CATCH_RESET (1u << 0)
#define CATCH_MEMORY (1u << 4)
#define CATCH_NO_COPROCESSOR (1u << 5)
#define CATCH_CHECK (1u << 6)
#define CATCH_STATE (1u << 7)
#define CATCH_BUS (1u << 8)
#define CATCH_HARD (1u << 10)
#define CATCH_SECURE (1u << 11)
/* Bits of CFSR that belong to CATCH_NO_COPROCESSOR and CATCH_CHECK; all other bits of a UsageFault belong to CATCH_STATE. */
#define NO_COPROCESSOR (1u << 19)
#define CHECKS (3u << 24)
#define USAGE_FAULTS 0xffff0000u
/* Numbers in DCRSR. */
#define SP 13
#define PC 15
#define XPSR 16
#define MSP 17
#define PSP 18
#define SPECIAL 20
#define MSP_NS 0x18
#define PSP_NS 0x19
#define MSP_S 0x1a
#define PSP_S 0x1b
#define MSPLIM_S 0x1c
#define PSPLIM_S 0x1d
#define MSPLIM_NS 0x1e
#define PSPLIM_NS 0x1f
#define FLOAT_STATUS 0x21
#define SPECIAL_S 0x22
#define SPECIAL_NS 0x23
#define VECTOR_PREDICATION 0x24
#define FLOAT_0 0x40
#define FLOATS 32

static void (*on_stop)(void);
static const struct TCGCPUOps *original;
static struct TCGCPUOps own;
static N6VirtHalt state = N6VIRT_WAITS;
static N6VirtHalt reason; /* of a stop that is on its way; N6VIRT_RUNS: not known before */
static bool is_enabled, steps, was_asleep, is_resetting;
static uint32_t catches;
static unsigned resets;

static CPUARMState *registers(void)
{
    return &ARM_CPU(first_cpu)->env;
}

N6VirtHalt n6virt_debug_state(void)
{
    return state;
}

unsigned n6virt_debug_resets(void)
{
    return resets;
}

bool n6virt_debug_is_asleep(void)
{
    return state == N6VIRT_RUNS ? first_cpu->halted : was_asleep;
}

bool n6virt_debug_is_secure(void)
{
    return registers()->v7m.secure;
}

bool n6virt_debug_is_enabled(void)
{
    return is_enabled;
}

void n6virt_debug_enable(bool enabled, uint32_t caught)
{
    is_enabled = enabled;
    catches = caught;
    n6virt_findings_note_probe(enabled);
}

/* Stopping */

static bool is_in_rom_loop(void)
{
    return !n6virt_is_flash_boot() && registers()->regs[PC] == N6VIRT_DEVELOPMENT_LOOP;
}

static void stopped(N6VirtHalt why)
{
    state = why;
    was_asleep = first_cpu->halted;
    if (why >= N6VIRT_BY_PROBE) {
        /* WFI may end at any time; debug state ends it. */
        first_cpu->halted = 0;
    }
    on_stop();
}

/* Called by QEMU when the machine has stopped or goes on. */
static void on_change(void *opaque, bool is_running, RunState run_state)
{
    N6VirtHalt why = reason;

    if (is_running || state != N6VIRT_RUNS) {
        return;
    }
    if (why == N6VIRT_RUNS) {
        why = steps ? N6VIRT_BY_PROBE : first_cpu->watchpoint_hit ? N6VIRT_BY_WATCHPOINT : N6VIRT_BY_BKPT;
    }
    first_cpu->watchpoint_hit = NULL;
    reason = N6VIRT_RUNS;
    if (steps) {
        steps = false;
        cpu_single_step(first_cpu, 0);
    }
    stopped(why);
}

void n6virt_debug_halt(void)
{
    if (state == N6VIRT_RUNS) {
        reason = N6VIRT_BY_PROBE;
        vm_stop(RUN_STATE_PAUSED);
    } else if (state < N6VIRT_BY_PROBE) {
        stopped(N6VIRT_BY_PROBE);
    }
}

void n6virt_debug_run(void)
{
    if (state == N6VIRT_RUNS) {
        return;
    }
    if (is_in_rom_loop()) {
        state = N6VIRT_WAITS;
        return;
    }
    state = N6VIRT_RUNS;
    vm_start();
}

/* A sleep would last until an interrupt: a step over it goes on at once. */
static bool is_sleep_instruction(uint32_t pc)
{
    uint8_t code[2];

    return cpu_memory_rw_debug(first_cpu, pc, code, sizeof(code), false) == 0 &&
           (lduw_le_p(code) == WFI || lduw_le_p(code) == WFE);
}

void n6virt_debug_step(bool masks_interrupts)
{
    CPUARMState *env = registers();

    if (is_in_rom_loop()) {
        stopped(N6VIRT_BY_PROBE);
        return;
    }
    if (is_sleep_instruction(env->regs[PC])) {
        env->regs[PC] += 2;
        stopped(N6VIRT_BY_PROBE);
        return;
    }
    steps = true;
    cpu_single_step(first_cpu, SSTEP_ENABLE | (masks_interrupts ? SSTEP_NOIRQ : 0));
    state = N6VIRT_RUNS;
    vm_start();
}

/* Stop in the processor's thread, in place of the exception that it takes, or before the next instruction. */
static void G_NORETURN stop_now(CPUState *cpu, N6VirtHalt why)
{
    reason = why;
    cpu->exception_index = EXCP_DEBUG;
    cpu_loop_exit(cpu);
}

static bool is_fault(int exception)
{
    switch (exception) {
    case EXCP_UDEF: case EXCP_NOCP: case EXCP_INVSTATE: case EXCP_STKOF: case EXCP_LSERR: case EXCP_UNALIGNED: case EXCP_DIVBYZERO:
    case EXCP_SWI: case EXCP_PREFETCH_ABORT: case EXCP_DATA_ABORT: case EXCP_BKPT:
        return true;
    default:
        return false;
    }
}

/* Return whether the vector of the fault that was just taken is caught. */
static bool is_caught(const CPUARMState *env)
{
    uint32_t usage = (env->v7m.cfsr[M_REG_S] | env->v7m.cfsr[M_REG_NS]) & USAGE_FAULTS;
    uint32_t kinds = (usage & NO_COPROCESSOR ? CATCH_NO_COPROCESSOR : 0) | (usage & CHECKS ? CATCH_CHECK : 0) |
                     (usage & ~(NO_COPROCESSOR | CHECKS) ? CATCH_STATE : 0);

    switch (env->v7m.exception) {
    case ARMV7M_EXCP_HARD:
        return catches & CATCH_HARD;
    case ARMV7M_EXCP_MEM:
        return catches & CATCH_MEMORY;
    case ARMV7M_EXCP_BUS:
        return catches & CATCH_BUS;
    case ARMV7M_EXCP_USAGE:
        return catches & kinds;
    case ARMV7M_EXCP_SECURE:
        return catches & CATCH_SECURE;
    default:
        return false;
    }
}

static void on_exception(CPUState *cpu)
{
    int exception = cpu->exception_index;

    if (exception == EXCP_BKPT && is_enabled) {
        stop_now(cpu, N6VIRT_BY_BKPT);
    }
    /* A locked up processor fetches for ever. QEMU has no model of it. */
    if (is_fault(exception) && n6virt_is_locked_up()) {
        uint32_t pc = registers()->regs[PC];

        n6virt_finding_at(pc, "lockup", pc, "The processor locks up: the fault has no handler, or its handler faults");
        stop_now(cpu, N6VIRT_LOCKED_UP);
    }
    original->do_interrupt(cpu);
    if (is_enabled && is_fault(exception) && is_caught(registers())) {
        stop_now(cpu, N6VIRT_BY_CATCH);
    }
}

/* Reset */

/* Called in the processor's thread, when the boot ROM is done. */
static void stop_after_reset(CPUState *cpu, run_on_cpu_data why)
{
    if (state == N6VIRT_RUNS) {
        reason = why.host_int;
        cpu_interrupt(cpu, CPU_INTERRUPT_DEBUG);
    } else {
        state = why.host_int;
    }
}

static void reset(void)
{
    resets++;
    if (!on_stop || is_resetting) {
        return;
    }
    if (is_enabled && catches & CATCH_RESET) {
        async_run_on_cpu(first_cpu, stop_after_reset, RUN_ON_CPU_HOST_INT(N6VIRT_BY_CATCH));
    } else if (!n6virt_is_flash_boot()) {
        async_run_on_cpu(first_cpu, stop_after_reset, RUN_ON_CPU_HOST_INT(N6VIRT_WAITS));
    }
}

static void nothing(CPUState *cpu, run_on_cpu_data data)
{
}

void n6virt_debug_reset(uint32_t why)
{
    if (state == N6VIRT_RUNS) {
        reason = N6VIRT_BY_PROBE;
        vm_stop(RUN_STATE_PAUSED);
    }
    is_resetting = true;
    n6virt_system_reset(why);
    /* The processor's thread has a queue: behind this, the reset is over. */
    run_on_cpu(first_cpu, nothing, RUN_ON_CPU_NULL);
    is_resetting = false;
    if (is_enabled && catches & CATCH_RESET) {
        stopped(N6VIRT_BY_CATCH);
    } else {
        state = N6VIRT_WAITS;
        n6virt_debug_run();
    }
}

/* Registers */

static bool uses_process_stack(const CPUARMState *env, bool secure)
{
    return !env->v7m.exception && env->v7m.control[secure] & R_V7M_CONTROL_SPSEL_MASK;
}

static uint32_t *stack_pointer(CPUARMState *env, bool secure, bool is_process)
{
    if (secure == env->v7m.secure) {
        return is_process == uses_process_stack(env, secure) ? &env->regs[SP] : &env->v7m.other_sp;
    }
    return is_process ? &env->v7m.other_ss_psp : &env->v7m.other_ss_msp;
}

/* Return the place of a register that is a word by itself, or NULL. */
static uint32_t *word(CPUARMState *env, unsigned number)
{
    switch (number) {
    case 0 ... PC:
        return &env->regs[number];
    case MSP: case PSP:
        return stack_pointer(env, env->v7m.secure, number == PSP);
    case MSP_NS: case PSP_NS:
        return stack_pointer(env, false, number == PSP_NS);
    case MSP_S: case PSP_S:
        return stack_pointer(env, true, number == PSP_S);
    case MSPLIM_S:
        return &env->v7m.msplim[M_REG_S];
    case PSPLIM_S:
        return &env->v7m.psplim[M_REG_S];
    case MSPLIM_NS:
        return &env->v7m.msplim[M_REG_NS];
    case PSPLIM_NS:
        return &env->v7m.psplim[M_REG_NS];
    case VECTOR_PREDICATION:
        return &env->v7m.vpr;
    case FLOAT_0 ... FLOAT_0 + FLOATS - 1:
        /* Two single registers share a double one, whose lower half is first on little-endian hosts. */
        return (uint32_t *)aa32_vfp_dreg(env, (number - FLOAT_0) / 2) + ((number - FLOAT_0) % 2 ^ HOST_BIG_ENDIAN);
    default:
        return NULL;
    }
}

static uint32_t special(const CPUARMState *env, bool secure)
{
    return env->v7m.control[secure] << 24 | (env->v7m.faultmask[secure] & 1) << 16 | (env->v7m.basepri[secure] & 0xff) << 8 |
           (env->v7m.primask[secure] & 1);
}

static void set_special(CPUARMState *env, bool secure, uint32_t value)
{
    uint32_t control = value >> 24;

    if (secure == env->v7m.secure && !env->v7m.exception && (control ^ env->v7m.control[secure]) & R_V7M_CONTROL_SPSEL_MASK) {
        uint32_t other = env->v7m.other_sp;

        env->v7m.other_sp = env->regs[SP];
        env->regs[SP] = other;
    }
    env->v7m.control[secure] = control & 0xf;
    env->v7m.faultmask[secure] = value >> 16 & 1;
    env->v7m.basepri[secure] = value >> 8 & 0xff;
    env->v7m.primask[secure] = value & 1;
}

bool n6virt_debug_register(unsigned number, uint32_t *value)
{
    CPUARMState *env = registers();
    uint32_t *place = word(env, number);

    if (place) {
        *value = *place;
    } else if (number == XPSR) {
        *value = xpsr_read(env);
    } else if (number == SPECIAL || number == SPECIAL_S || number == SPECIAL_NS) {
        *value = special(env, number == SPECIAL ? env->v7m.secure : number == SPECIAL_S);
    } else if (number == FLOAT_STATUS) {
        *value = vfp_get_fpscr(env);
    } else {
        return false;
    }
    return true;
}

bool n6virt_debug_set_register(unsigned number, uint32_t value)
{
    CPUARMState *env = registers();
    uint32_t *place = word(env, number);

    if (number == PC) {
        *place = value & ~THUMB;
    } else if (place) {
        /* Stack pointers and their limits are words. */
        bool is_aligned = number == SP || (number >= MSP && number <= PSPLIM_NS);
        *place = is_aligned ? value & ~3u : value;
    } else if (number == XPSR) {
        xpsr_write(env, value, UINT32_MAX);
    } else if (number == SPECIAL || number == SPECIAL_S || number == SPECIAL_NS) {
        set_special(env, number == SPECIAL ? env->v7m.secure : number == SPECIAL_S, value);
    } else if (number == FLOAT_STATUS) {
        vfp_set_fpscr(env, value);
    } else {
        return false;
    }
    arm_rebuild_hflags(env);
    return true;
}

/* Breakpoints and watchpoints, changed in the processor's thread: it then looks up its code again. */

typedef struct {
    uint32_t address, bytes;
    int flags;
    bool is_set;
} Point;

static void change_breakpoint(CPUState *cpu, run_on_cpu_data data)
{
    const Point *point = data.host_ptr;

    cpu_breakpoint_remove(cpu, point->address, BP_GDB);
    if (point->is_set) {
        cpu_breakpoint_insert(cpu, point->address, BP_GDB, NULL);
    }
}

void n6virt_debug_break(uint32_t address, bool is_set)
{
    Point point = {.address = address & ~THUMB, .is_set = is_set};

    run_on_cpu(first_cpu, change_breakpoint, RUN_ON_CPU_HOST_PTR(&point));
}

static void change_watchpoint(CPUState *cpu, run_on_cpu_data data)
{
    const Point *point = data.host_ptr;

    cpu_watchpoint_remove(cpu, point->address, point->bytes, point->flags);
    if (point->is_set) {
        cpu_watchpoint_insert(cpu, point->address, point->bytes, point->flags, NULL);
    }
}

bool n6virt_debug_watch(uint32_t address, uint32_t bytes, bool reads, bool writes, bool is_set)
{
    Point point = {
        .address = address, .bytes = bytes, .is_set = is_set,
        .flags = BP_GDB | (reads ? BP_MEM_READ : 0) | (writes ? BP_MEM_WRITE : 0),
    };

    if (!bytes || address + bytes - 1 < address || !(reads || writes)) {
        return false;
    }
    run_on_cpu(first_cpu, change_watchpoint, RUN_ON_CPU_HOST_PTR(&point));
    return true;
}

/* Time */

static void (*on_halted_time)(int64_t ticks);

void n6virt_debug_on_halted_time(void (*observe)(int64_t ticks))
{
    on_halted_time = observe;
}

void n6virt_debug_pass_time(int64_t ticks)
{
    int64_t passed = ticks;
    bool is_halted = state >= N6VIRT_BY_PROBE;

    if (state == N6VIRT_RUNS || ticks <= 0) {
        return;
    }
    if (is_halted) {
        on_halted_time(0);
    }
    qemu_clock_enable(QEMU_CLOCK_VIRTUAL, true);
    while (ticks > 0) {
        int64_t deadline = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
        int64_t step = deadline < 0 ? ticks : MAX(MIN(ticks, deadline), 1);

        n6virt_skip(step);
        ticks -= step;
        qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
    }
    qemu_clock_enable(QEMU_CLOCK_VIRTUAL, false);
    if (is_halted) {
        on_halted_time(passed);
    }
}

void n6virt_debug_attach(void (*observer)(void))
{
    CPUClass *cpu = CPU_GET_CLASS(first_cpu);

    on_stop = observer;
    original = cpu->tcg_ops;
    own = *original;
    own.do_interrupt = on_exception;
    cpu->tcg_ops = &own;
    qemu_add_vm_change_state_handler(on_change, NULL);
}

static const N6VirtModule module = {.reset = reset};
N6VIRT_MODULE(module)
