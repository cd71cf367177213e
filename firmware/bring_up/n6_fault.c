/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_fault.h"

#include "n6_console.h"
#include "n6_console_lines.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"
#include "n6_try.h"
#include "n6_unprivileged.h"

#define FAULT_STACK_WORDS 256

/* The key for writes to AIRCR, which ignores writes without it. */
#define VECTKEY 0x05FAu

/* Words of an exception frame. */
#define FRAME_LR 5
#define FRAME_PC 6

/* CFSR: a stack overflow (STKOF), and all causes that prevent writing the frame. */
#define STACK_OVERFLOW (1u << 20)
#define FRAME_LOST (1u << 4 | 1u << 12 | STACK_OVERFLOW)

/* Not static: the naked handler names it in assembly. */
extern uint32_t n6_fault_stack[FAULT_STACK_WORDS];
__attribute__((section(".noinit"), aligned(8))) uint32_t n6_fault_stack[FAULT_STACK_WORDS];

_Noreturn void n6_report_fault(const uint32_t *frame);

_Noreturn void n6_sleep_for_ever(void)
{
    for (;;) {
        __asm volatile("wfi");
    }
}

_Noreturn void n6_reset_chip(void)
{
    N6_REG32(N6_SCB_AIRCR) = N6_FIELD(N6_SCB_AIRCR_VECTKEY, VECTKEY) | N6_SCB_AIRCR_SYSRESETREQ;
    n6_sleep_for_ever();
}

__attribute__((used)) _Noreturn void n6_report_fault(const uint32_t *frame)
{
    uint32_t cause = N6_REG32(N6_SCB_CFSR);
#if N6_CONFINE
    n6_unprivileged_fault(cause);
#endif
    const bool has_frame = (cause & FRAME_LOST) == 0u;
    N6_LINE(hard_fault, .is_trial = n6_try_is_active(), .cfsr = cause, .hfsr = N6_REG32(N6_SCB_HFSR),
            .mmfar = N6_REG32(N6_SCB_MMFAR), .bfar = N6_REG32(N6_SCB_BFAR), .has_pc = has_frame,
            .pc = has_frame ? frame[FRAME_PC] : 0u, .lr = has_frame ? frame[FRAME_LR] : 0u,
            .stack_overflow = (cause & STACK_OVERFLOW) != 0u, .stage = n6_program);
    if (n6_try_is_active()) {
        n6_try_give_up();
    }
    n6_sleep_for_ever();
}

__attribute__((naked)) void n6_hard_fault(void)
{
    __asm volatile("mrs r0, msp\n\t"
                   "tst lr, #4\n\t"
                   "it ne\n\t"
                   "mrsne r0, psp\n\t"
                   "movs r1, #0\n\t"
                   "msr msplim, r1\n\t"
                   "ldr r1, =n6_fault_stack + %c0\n\t"
                   "mov sp, r1\n\t"
                   "b n6_report_fault" ::"i"(FAULT_STACK_WORDS * 4));
}

void n6_unexpected_interrupt(void)
{
    uint32_t number;
    __asm volatile("mrs %0, ipsr" : "=r"(number));
    N6_LINE(exception, .is_trial = n6_try_is_active(), .number = number, .stage = n6_program);
    if (n6_try_is_active()) {
        n6_try_give_up();
    }
    n6_sleep_for_ever();
}
