/* SPDX-License-Identifier: Apache-2.0
 *
 * Start-up from reset to main. The image is already in RAM with its initialised data, so only .bss must be cleared.
 */
#include "n6_startup.h"

#include "n6_fault.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"
#include "n6_try.h"
#include "n6_unprivileged.h"

/* Symbols of the linker script. */
extern uint32_t n6_stack_limit[];
extern uint32_t n6_stack_top[];
extern uint32_t n6_bss_start[];
extern uint32_t n6_bss_end[];

int main(void);
_Noreturn void n6_start(void);

#if N6_FIELD_REPORT
__attribute__((section(".noinit"))) uint32_t n6_startup_stack[N6_STARTUP_STACK_WORDS];
#define KEEP_STACK               \
    "ldr r3, =n6_startup_stack\n\t" \
    "mrs r0, msp\n\t"            \
    "mrs r1, msplim\n\t"         \
    "mrs r2, control\n\t"        \
    "stm r3, {r0-r2}\n\t"
#else
#define KEEP_STACK ""
#endif

/* Set the stack registers, regardless of the values that the boot ROM or the FSBL left. Enable the FPU and Helium before any
 * code in which the compiler may use them. */
__attribute__((naked, noreturn)) static void reset(void)
{
    __asm volatile("cpsid i\n\t" KEEP_STACK
                   "movs r0, #0\n\t"
                   "msr msplim, r0\n\t"
                   "ldr r0, =n6_stack_top\n\t"
                   "msr msp, r0\n\t"
                   "ldr r0, =n6_stack_limit\n\t"
                   "msr msplim, r0\n\t"
                   "ldr r0, =%c0\n\t"
                   "ldr r1, [r0]\n\t"
                   "orr r1, r1, %1\n\t"
                   "str r1, [r0]\n\t"
                   "dsb\n\t"
                   "isb\n\t"
                   "b n6_start" ::"i"(N6_SCB_CPACR),
                   "i"(N6_SCB_CPACR_CP10 | N6_SCB_CPACR_CP11));
}

__attribute__((used)) _Noreturn void n6_start(void)
{
    N6_REG32(N6_SCB_VTOR) = (uint32_t)(uintptr_t)n6_vectors;
    /* Enable loops without branches (Armv8.1-M low overhead loops), which the kernels use. */
    n6_modify(N6_SCB_CCR, 0u, N6_SCB_CCR_LOB);
    n6_barrier();
    for (uint32_t *word = n6_bss_start; word < n6_bss_end; word++) {
        *word = 0u;
    }
    __asm volatile("cpsie i");
    (void)main();
    n6_sleep_for_ever();
}

/* ST's runtime defines its own handlers, with the names of the device's vector table. */
#define HANDLER(name)                  \
    void name(void);                   \
    __attribute__((weak)) void name(void) \
    {                                  \
        n6_unexpected_interrupt();     \
    }
HANDLER(NPU0_IRQHandler)
HANDLER(NPU1_IRQHandler)
HANDLER(NPU2_IRQHandler)
HANDLER(NPU3_IRQHandler)

#if N6_CONFINE
/* Defaults for programs without unprivileged code, which link this file too. */
N6_WEAK void n6_unprivileged_call(void)
{
    n6_unexpected_interrupt();
}

N6_WEAK void n6_unprivileged_fault(uint32_t cause)
{
    (void)cause;
}
#else
#define n6_unprivileged_call n6_unexpected_interrupt
#endif

__attribute__((section(".vectors"), used)) const n6_vector_t n6_vectors[N6_VECTORS] = {
    [0] = (n6_vector_t)(uintptr_t)n6_stack_top,
    [1] = reset,
    [2] = n6_unexpected_interrupt,
    [3] = n6_hard_fault,
    [4 ... 10] = n6_unexpected_interrupt,
    [11] = n6_unprivileged_call,
    [12 ... 14] = n6_unexpected_interrupt,
    [15] = n6_try_tick,
    [16 ... 16u + N6_IRQ_NPU0 - 1u] = n6_unexpected_interrupt,
    [16u + N6_IRQ_NPU0] = NPU0_IRQHandler,
    [16u + N6_IRQ_NPU1] = NPU1_IRQHandler,
    [16u + N6_IRQ_NPU2] = NPU2_IRQHandler,
    [16u + N6_IRQ_NPU3] = NPU3_IRQHandler,
    [16u + N6_IRQ_NPU3 + 1u ... N6_VECTORS - 1u] = n6_unexpected_interrupt,
};
