/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_fault.h"

#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"
#include "n6_try.h"
#include "n6_unprivileged.h"

#define FAULT_STACK_WORDS 256

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

static void put_register(const char *name, uint32_t value)
{
    n6_put(name);
    n6_put_hex32(value);
}

__attribute__((used)) _Noreturn void n6_report_fault(const uint32_t *frame)
{
    uint32_t cause = N6_REG32(N6_SCB_CFSR);
#if N6_CONFINE
    n6_unprivileged_fault(cause);
#endif
    n6_put(n6_try_is_active() ? "\r\nn6 trial fault HardFault" : "\r\nn6 fault HardFault");
    put_register(" cfsr=", cause);
    put_register(" hfsr=", N6_REG32(N6_SCB_HFSR));
    put_register(" mmfar=", N6_REG32(N6_SCB_MMFAR));
    put_register(" bfar=", N6_REG32(N6_SCB_BFAR));
    if ((cause & FRAME_LOST) == 0u) {
        put_register(" pc=", frame[FRAME_PC]);
        put_register(" lr=", frame[FRAME_LR]);
    }
    if ((cause & STACK_OVERFLOW) != 0u) {
        n6_put(" stack=overflow");
    }
    n6_put(" stage=");
    n6_put(n6_program);
    n6_put_end();
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
    n6_put(n6_try_is_active() ? "\r\nn6 trial exception=" : "\r\nn6 fault exception=");
    n6_put_u32(number);
    n6_put(" stage=");
    n6_put(n6_program);
    n6_put_end();
    if (n6_try_is_active()) {
        n6_try_give_up();
    }
    n6_sleep_for_ever();
}
