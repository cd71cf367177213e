/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of a program on a bare, emulated Cortex-M55, and its files through semihosting. The program defines main() and fault().
 */
#ifndef BARE_METAL_H
#define BARE_METAL_H

#include <stdint.h>

#define SYS_OPEN 0x01
#define SYS_WRITE0 0x04
#define SYS_WRITE 0x05
#define SYS_READ 0x06
#define SYS_EXIT_EXTENDED 0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026
#define OPEN_READ_BINARY 1
#define OPEN_WRITE_BINARY 5

#define SCB_CCR (*(volatile uint32_t *)0xE000ED14u)
#define SCB_CCR_LOB (UINT32_C(1) << 19)

extern uint32_t stack_top;
int main(void);
static void fault(void);

static inline uint32_t semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static inline void __attribute__((noreturn)) leave(uint32_t code)
{
    const uint32_t block[] = {ADP_STOPPED_APPLICATION_EXIT, code};
    for (;;) {
        semihosting(SYS_EXIT_EXTENDED, block);
    }
}

static inline void __attribute__((noreturn)) fail(const char *text, uint32_t code)
{
    semihosting(SYS_WRITE0, text);
    leave(code);
}

static inline uint32_t open_file(const char *name, uint32_t name_bytes, uint32_t mode)
{
    const uint32_t block[] = {(uint32_t)name, mode, name_bytes};
    const uint32_t handle = semihosting(SYS_OPEN, block);
    if (handle == UINT32_MAX) {
        fail("cannot open a file\n", 2);
    }
    return handle;
}

/* Read bytes. Return the number of bytes that could not be read. */
static inline uint32_t read_file(uint32_t handle, void *data, uint32_t bytes)
{
    const uint32_t block[] = {handle, (uint32_t)data, bytes};
    return bytes == 0 ? 0 : semihosting(SYS_READ, block);
}

static inline void write_file(uint32_t handle, const void *data, uint32_t bytes)
{
    const uint32_t block[] = {handle, (uint32_t)data, bytes};
    if (semihosting(SYS_WRITE, block) != 0) {
        fail("cannot write\n", 2);
    }
}

/* Bare: the FPU is off until CPACR is written, and a hard-float function may touch it in its prologue. */
void __attribute__((naked, noreturn)) reset(void)
{
    __asm__ volatile("ldr r0, =0xE000ED88\n"
                     "ldr r1, [r0]\n"
                     "orr r1, r1, #0xF00000\n"
                     "str r1, [r0]\n"
                     "dsb\n"
                     "isb\n"
                     "bl main\n");
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};

#endif
