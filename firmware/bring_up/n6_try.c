/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_try.h"

#include <stddef.h>

#include "n6_board_clock.h"
#include "n6_console.h"
#include "n6_console_lines.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"
#include "n6_unprivileged.h"

#define TICKS_A_SECOND 100u
#define TICKS_OF(milliseconds) ((milliseconds) / (1000u / TICKS_A_SECOND) + 1u)

/* An exception frame without floating-point registers: its size, and the offsets of return address and xPSR, in bytes. */
#define FRAME_BYTES "32"
#define FRAME_PC "24"
#define FRAME_XPSR "28"

/* The stack pointer to return to; 0: no trial is active. Not static: assembly names it. */
extern volatile uint32_t n6_try_stack;
volatile uint32_t n6_try_stack;
static volatile uint32_t ticks_left;

/* Call the function. Return 1, or 0 if n6_try_give_up() ended it: it then did not restore the callee-saved registers (AAPCS),
 * so they are saved here. */
__attribute__((naked, noinline)) static uint32_t call(void (*function)(void *) __attribute__((unused)),
                                                      void *argument __attribute__((unused)))
{
    __asm volatile("push {r4-r11, lr}\n\t"
                   "sub sp, #4\n\t"
                   "vpush {d8-d15}\n\t"
                   "ldr r2, =n6_try_stack\n\t"
                   "mov r3, sp\n\t"
                   "str r3, [r2]\n\t"
                   "mov r3, r0\n\t"
                   "mov r0, r1\n\t"
                   "blx r3\n\t"
                   "movs r0, #1\n\t"
                   "b n6_try_end\n\t"
                   ".thumb_func\n"
                   "n6_try_failed:\n\t"
                   "ldr r2, =n6_try_stack\n\t"
                   "ldr r3, [r2]\n\t"
                   "mov sp, r3\n\t"
                   "movs r0, #0\n"
                   "n6_try_end:\n\t"
                   "ldr r2, =n6_try_stack\n\t"
                   "movs r3, #0\n\t"
                   "str r3, [r2]\n\t"
                   "vpop {d8-d15}\n\t"
                   "add sp, #4\n\t"
                   "pop {r4-r11, pc}\n\t"
                   ".ltorg");
}

/* Return from the exception into n6_try_failed, with the stack as before the call of the function. */
__attribute__((naked, noreturn)) static void return_to_caller(void)
{
    __asm volatile("ldr r0, =n6_try_stack\n\t"
                   "ldr r0, [r0]\n\t"
                   "sub r0, #" FRAME_BYTES "\n\t"
                   "ldr r1, =n6_try_failed\n\t"
                   "bic r1, r1, #1\n\t"
                   "str r1, [r0, #" FRAME_PC "]\n\t"
                   "mov r1, #0x01000000\n\t" /* xPSR: Thumb */
                   "str r1, [r0, #" FRAME_XPSR "]\n\t"
                   "movs r1, #0\n\t"
                   "msr msplim, r1\n\t"
                   "msr msp, r0\n\t"
                   "ldr r1, =n6_stack_limit\n\t"
                   "msr msplim, r1\n\t"
                   /* EXC_RETURN: secure thread on the main stack, a frame without floating-point registers. */
                   "ldr r0, =0xFFFFFFF9\n\t"
                   "bx r0\n\t"
                   ".ltorg");
}

bool n6_try_is_active(void)
{
    return n6_try_stack != 0u;
}

_Noreturn void n6_try_give_up(void)
{
    N6_REG32(N6_SYSTICK_CSR) = 0u;
    N6_REG32(N6_SCB_ICSR) = N6_SCB_ICSR_PENDSTCLR;
    N6_REG32(N6_SCB_CFSR) = N6_REG32(N6_SCB_CFSR);
    N6_REG32(N6_SCB_HFSR) = N6_REG32(N6_SCB_HFSR);
    /* Cancel lazy stacking: the registers would later be written over new data on the stack. */
    n6_modify(N6_FPU_FPCCR, N6_FPU_FPCCR_LSPACT, 0u);
    /* The tried function may have masked interrupts; the return from the exception would keep them masked. */
    __asm volatile("cpsie i\n\t"
                   "cpsie f\n\t"
                   "msr basepri, %0" ::"r"(0u));
    n6_barrier();
#if N6_CONFINE
    n6_end_unprivileged();
#endif
    return_to_caller();
}

void n6_try_tick(void)
{
    if (!n6_try_is_active() || --ticks_left != 0u) {
        return;
    }
    n6_line_trial_too_long();
    n6_try_give_up();
}

bool n6_try(void (*function)(void *argument), void *argument, uint32_t milliseconds)
{
    ticks_left = TICKS_OF(milliseconds);
    N6_REG32(N6_SYSTICK_RVR) = N6_CPU_HZ / TICKS_A_SECOND - 1u;
    N6_REG32(N6_SYSTICK_CVR) = 0u;
    N6_REG32(N6_SYSTICK_CSR) = N6_SYSTICK_CSR_ENABLE | N6_SYSTICK_CSR_TICKINT | N6_SYSTICK_CSR_CLKSOURCE;
    uint32_t ended = call(function, argument);
    N6_REG32(N6_SYSTICK_CSR) = 0u;
    return ended != 0u;
}
