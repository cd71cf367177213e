/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#define SCB_VTOR (*(volatile uint32_t *)0xE000ED08u)
#define SCB_CCR (*(volatile uint32_t *)0xE000ED14u)
#define SCB_CCR_LOB (1u << 19)

extern uint32_t _sbss[], _ebss[], _estack[];
int main(void);
void Reset_Handler(void);

static void halt(void)
{
    for (;;) {
        __asm volatile("wfi");
    }
}

typedef void (*vector_t)(void);
__attribute__((section(".isr_vector"), used)) static const vector_t vectors[16 + 195] = {
    [0] = (vector_t)_estack,
    [1] = Reset_Handler,
    [2 ... 15 + 195] = halt,
};

__attribute__((noreturn, used)) static void run(void)
{
    /* The networks' kernels use low-overhead loops. */
    SCB_CCR |= SCB_CCR_LOB;
    SCB_VTOR = (uint32_t)vectors;
    __asm volatile("dsb\n\tisb");
    for (uint32_t *word = _sbss; word < _ebss; word++) {
        *word = 0u;
    }
    (void)main();
    for (;;) {
        __asm volatile("wfi");
    }
}

/* Enable the FPU, and with it Helium, before any code that may use them. */
__attribute__((naked)) void Reset_Handler(void)
{
    __asm volatile("movs r0, #0\n\t"
                   "msr msplim, r0\n\t"
                   "ldr r0, =_estack\n\t"
                   "msr msp, r0\n\t"
                   "ldr r0, =0xE000ED88\n\t"
                   "ldr r1, [r0]\n\t"
                   "orr r1, r1, #0xF00000\n\t"
                   "str r1, [r0]\n\t"
                   "dsb\n\t"
                   "isb\n\t"
                   "b %c0" ::"i"(run));
}
