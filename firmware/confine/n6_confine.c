/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_confine.h"

#include <stddef.h>

#include "n6_cache.h"
#include "n6_confine_gate.h"
#include "n6_console_lines.h"
#include "n6_fault.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"
#include "n6_try.h"
#include "n6_unprivileged.h"

#define STACK_BYTES 16384u
#define LINE N6_CACHE_LINE
#define MOST_BUFFERS 64u

/* CFSR: faults of an instruction fetch or a data access, also while the frame was written or read. */
#define MEMORY_FAULT 0x1Bu
/* CFSR: the bus fault of unprivileged code that accesses the processor's own registers. */
#define BUS_FAULT 0x8200u

/* Words of an exception frame. */
#define FRAME_PC 6

/* MPU: rights of unprivileged code. */
#define READ_WRITE 1u
#define READ_ONLY 3u
/* MAIR: write-back, allocated on reads and writes, as these memories are without the MPU. */
#define WRITE_BACK 0xFFu

#define REGIONS 16u

/* The stack pointer to return to, and the model's stack. Not static: assembly names them. */
extern uint32_t n6_confine_saved_stack;
uint32_t n6_confine_saved_stack;
extern uint8_t n6_confine_stack[STACK_BYTES];
__attribute__((section(".noinit"), aligned(32))) uint8_t n6_confine_stack[STACK_BYTES];

/* The model whose code runs, or NULL. */
static const n6_confine_t *running;
static bool broke_out;

bool n6_confine_add(n6_confine_t *confine, n6_confine_span_t span)
{
    if (span.start == span.end) {
        return true;
    }
    span.start &= ~(LINE - 1u);
    span.end = (span.end + LINE - 1u) & ~(LINE - 1u);
    for (uint32_t i = 0; i < confine->count;) {
        const n6_confine_span_t other = confine->spans[i];
        bool same = other.is_writable == span.is_writable && other.is_executable == span.is_executable;
        if (span.start < other.end && other.start < span.end && !same) {
            return false;
        }
        if (same && span.start <= other.end && other.start <= span.end) {
            /* Regions of the MPU must not overlap: this one becomes part of the new one. */
            span.start = other.start < span.start ? other.start : span.start;
            span.end = other.end > span.end ? other.end : span.end;
            confine->spans[i] = confine->spans[--confine->count];
            i = 0;
        } else {
            i++;
        }
    }
    if (confine->count == N6_CONFINE_SPANS) {
        return false;
    }
    confine->spans[confine->count++] = span;
    return true;
}

bool n6_confine_reaches(const n6_confine_t *confine, uint32_t address, uint32_t bytes, bool writes)
{
    for (uint32_t i = 0; i < confine->count; i++) {
        const n6_confine_span_t *span = &confine->spans[i];
        if (address >= span->start && address <= span->end && bytes <= span->end - address && (span->is_writable || !writes)) {
            return true;
        }
    }
    return false;
}

static void set_region(uint32_t number, const n6_confine_span_t *span)
{
    N6_REG32(N6_MPU_RNR) = number;
    if (span == NULL) {
        N6_REG32(N6_MPU_RLAR) = 0u;
        return;
    }
    N6_REG32(N6_MPU_RBAR) = span->start | N6_FIELD(N6_MPU_RBAR_AP, span->is_writable ? READ_WRITE : READ_ONLY) |
                            (span->is_executable ? 0u : N6_MPU_RBAR_XN);
    N6_REG32(N6_MPU_RLAR) = (span->end - 1u) & ~(LINE - 1u);
    n6_modify(N6_MPU_RLAR, 0u, N6_MPU_RLAR_EN);
}

/* Set the MPU for a model. Privileged code keeps all its access rights. */
static void set_mpu(const n6_confine_t *confine)
{
    const uint32_t stack = (uint32_t)(uintptr_t)n6_confine_stack;
    const n6_confine_span_t fixed[] = {
        {stack, stack + STACK_BYTES, true, false},
        {(uint32_t)(uintptr_t)n6_gate_start, (uint32_t)(uintptr_t)n6_gate_end, false, true},
    };
    N6_REG32(N6_MPU_CTRL) = 0u;
    N6_REG32(N6_MPU_MAIR0) = WRITE_BACK;
    for (uint32_t i = 0; i < REGIONS; i++) {
        set_region(i, i < 2u ? &fixed[i] : i - 2u < confine->count ? &confine->spans[i - 2u] : NULL);
    }
    N6_REG32(N6_MPU_CTRL) = N6_MPU_CTRL_ENABLE | N6_MPU_CTRL_PRIVDEFENA;
    n6_barrier();
}

/* Enter a function of the model. r0 to r2: arguments. r3: the function. On the stack: its static base. The callee-saved registers
 * are saved here, since untrusted code may not preserve them. */
__attribute__((naked, noinline)) static uint32_t enter(uint32_t a __attribute__((unused)), uint32_t b __attribute__((unused)),
                                                       uint32_t c __attribute__((unused)),
                                                       uintptr_t function __attribute__((unused)),
                                                       uintptr_t base __attribute__((unused)))
{
    __asm volatile("push {r4-r11, lr}\n\t"
                   "sub sp, #4\n\t"
                   "vpush {d8-d15}\n\t"
                   "ldr r9, [sp, #104]\n\t"
                   "ldr r4, =n6_confine_saved_stack\n\t"
                   "mov r5, sp\n\t"
                   "str r5, [r4]\n\t"
                   "ldr r4, =n6_confine_stack\n\t"
                   "msr psplim, r4\n\t"
                   "add r4, r4, %0\n\t"
                   "msr psp, r4\n\t"
                   "mrs r4, control\n\t"
                   "orr r4, r4, #3\n\t" /* its own stack, unprivileged */
                   "b n6_gate_enter\n\t"
                   ".thumb_func\n"
                   "n6_confine_left:\n\t"
                   "vpop {d8-d15}\n\t"
                   "add sp, #4\n\t"
                   "pop {r4-r11, pc}\n\t"
                   ".ltorg" ::"i"(STACK_BYTES));
}

/* Return from the exception to the end of enter(), with the stack of that call. */
__attribute__((naked, noreturn, used)) static void leave(uint32_t result __attribute__((unused)))
{
    __asm volatile("ldr r1, =n6_confine_saved_stack\n\t"
                   "ldr r1, [r1]\n\t"
                   "sub r1, #32\n\t"
                   "str r0, [r1]\n\t"
                   "ldr r2, =n6_confine_left\n\t"
                   "bic r2, r2, #1\n\t"
                   "str r2, [r1, #24]\n\t"
                   "mov r2, #0x01000000\n\t" /* xPSR: Thumb */
                   "str r2, [r1, #28]\n\t"
                   "msr msp, r1\n\t"
                   /* EXC_RETURN: secure thread on the main stack, a frame without floating-point registers. */
                   "ldr r0, =0xFFFFFFF9\n\t"
                   "bx r0\n\t"
                   ".ltorg");
}

static void maintain(uint32_t call, uintptr_t address, uint32_t bytes)
{
    if (call == N6_GATE_CLEAN) {
        n6_dcache_clean(address, bytes);
    } else if (call == N6_GATE_INVALIDATE) {
        n6_dcache_invalidate(address, bytes);
    } else {
        n6_dcache_clean_invalidate(address, bytes);
    }
}

static _Noreturn void refuse(void)
{
    broke_out = true;
    running = NULL;
    n6_try_give_up();
}

/* Serve an SVC of a model. frame: on the model's own stack. Not static: the naked handler names it. */
void n6_confine_serve(const uint32_t *frame);
__attribute__((used)) void n6_confine_serve(const uint32_t *frame)
{
    uint32_t call = N6_REG8(frame[FRAME_PC] - 2u);
    if (running == NULL) {
        n6_unexpected_interrupt();
    }
    if (call == N6_GATE_RETURN) {
        uint32_t result = frame[0];
        running = NULL;
        n6_end_unprivileged();
        /* Cancel lazy stacking: the registers would later be written over new data on the stack. */
        n6_modify(N6_FPU_FPCCR, N6_FPU_FPCCR_LSPACT, 0u);
        leave(result);
    }
    if (call > N6_GATE_CLEAN_INVALIDATE || !n6_confine_reaches(running, frame[0], frame[1], true)) {
        refuse();
    }
    maintain(call, frame[0], frame[1]);
}

__attribute__((naked)) void n6_unprivileged_call(void)
{
    __asm volatile("tst lr, #4\n\t" /* the stack of the caller */
                   "beq n6_unexpected_interrupt\n\t"
                   "mrs r0, psp\n\t"
                   "b n6_confine_serve");
}

void n6_unprivileged_fault(uint32_t cause)
{
    if (running == NULL) {
        return;
    }
    running = NULL;
    broke_out = (cause & (MEMORY_FAULT | BUS_FAULT)) != 0u;
}

bool n6_confine_broke_out(void)
{
    bool did = broke_out;
    broke_out = false;
    return did;
}

/* Reset the chip: the data in memory is no longer usable. */
static _Noreturn void start_again(void)
{
    N6_LINE(error, .program = N6_LINE_ERROR_APPLI,
            .reason = broke_out ? "N6-FW-083 a model accesses memory that is not its own"
                                : "N6-FW-086 a model faults or does not end");
    n6_reset_chip();
}

void n6_confine_run(void (*function)(void *argument), void *argument)
{
    if (n6_try_is_active()) {
        function(argument);
    } else if (!n6_try(function, argument, N6_CONFINE_MS)) {
        start_again();
    }
}

typedef struct {
    const n6_confine_t *confine;
    const uint32_t *arguments;
    uintptr_t function;
    uintptr_t base;
    uint32_t result;
} call_t;

static void call(void *argument)
{
    call_t *called = argument;
    set_mpu(called->confine);
    running = called->confine;
    called->result = enter(called->arguments[0], called->arguments[1], called->arguments[2], called->function, called->base);
}

uint32_t n6_confine_call(const n6_confine_t *confine, const uint32_t arguments[3], uintptr_t function, uintptr_t base)
{
    call_t called = {confine, arguments, function, base, 0u};
    n6_confine_run(call, &called);
    return called.result;
}

static bool is_own(const n6_confine_t *confine, const LL_Buffer_InfoTypeDef *buffer)
{
    if (buffer->is_param) {
        return true; /* not used */
    }
    if (buffer->is_user_allocated && !n6_confine_reaches(confine, (uint32_t)(uintptr_t)buffer->addr_base.p, sizeof(uint32_t), false)) {
        return false;
    }
    return n6_confine_reaches(confine, (uint32_t)(uintptr_t)LL_Buffer_addr_start(buffer), LL_Buffer_len(buffer), true);
}

const LL_Buffer_InfoTypeDef *n6_confine_check_buffers(const n6_confine_t *confine, const LL_Buffer_InfoTypeDef *list)
{
    for (uint32_t i = 0; i < MOST_BUFFERS; i++) {
        if (!n6_confine_reaches(confine, (uint32_t)(uintptr_t)&list[i], sizeof list[i], false)) {
            break;
        }
        if (list[i].name == NULL) {
            return list;
        }
        if (!is_own(confine, &list[i])) {
            break;
        }
    }
    broke_out = true;
    if (n6_try_is_active()) {
        __builtin_trap();
    }
    start_again();
}
