/* Start-up from reset to main(): the stack, the FPU with Helium, the variables. */
#include <stdint.h>

#define VTOR (*(volatile uint32_t *)0xE000ED08u)
#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define CPACR_FPU (0xFu << 20)

extern uint32_t bss_start[], bss_end[], stack_top[];
extern void (*const vectors[])(void);

int main(void);

static void stop(void)
{
    for (;;) {
        __asm volatile("wfi");
    }
}

__attribute__((used)) static void begin(void)
{
    VTOR = (uint32_t)(uintptr_t)vectors;
    CPACR |= CPACR_FPU;
    __asm volatile("dsb\n\tisb");
    for (uint32_t *word = bss_start; word < bss_end; word++) {
        *word = 0u;
    }
    (void)main();
    stop();
}

__attribute__((naked)) void reset(void)
{
    __asm volatile("movs r0, #0\n\t"
                   "msr msplim, r0\n\t"
                   "ldr r0, =stack_top\n\t"
                   "msr msp, r0\n\t"
                   "b %c0" ::"i"(begin));
}

__attribute__((section(".vectors"), used)) void (*const vectors[])(void) = {
    (void (*)(void))(uintptr_t)stack_top,
    reset,
    [2 ... 15] = stop,
};
