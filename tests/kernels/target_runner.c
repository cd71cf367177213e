/* SPDX-License-Identifier: Apache-2.0
 *
 * Run kernels on a bare Cortex-M55: read calls from the file "cases", and write the memory after each call to "results", both
 * through semihosting.
 *
 * cases:   { u32 kernel, u32 repeats, u32 descriptor_bytes, u32 address, u32 memory_bytes, descriptor, memory }*
 * results: { u32 ticks of the counter in all repeats, memory }*
 * `memory` is placed at `address`; a descriptor's pointers lead into it. Repeats must leave the same results.
 */
#include <stddef.h>
#include <stdint.h>

#include "n6_kernels.h"

#define SYS_OPEN 0x01
#define SYS_WRITE0 0x04
#define SYS_WRITE 0x05
#define SYS_READ 0x06
#define SYS_EXIT_EXTENDED 0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026

#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define CCR (*(volatile uint32_t *)0xE000ED14u)
#define CCR_LOB (UINT32_C(1) << 19)

#define DEMCR (*(volatile uint32_t *)0xE000EDFCu)
#define DWT_CTRL (*(volatile uint32_t *)0xE0001000u)
#define DWT_CYCCNT (*(volatile uint32_t *)0xE0001004u)
static void start_counter(void)
{
    DEMCR |= UINT32_C(1) << 24;
    DWT_CTRL |= 1;
}
static uint32_t read_counter(void)
{
    return DWT_CYCCNT;
}

extern uint32_t stack_top;
int main(void);

static uint32_t semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void __attribute__((noreturn)) leave(uint32_t code)
{
    const uint32_t block[] = {ADP_STOPPED_APPLICATION_EXIT, code};
    for (;;) {
        semihosting(SYS_EXIT_EXTENDED, block);
    }
}

static void __attribute__((noreturn)) fail(const char *text, uint32_t code)
{
    semihosting(SYS_WRITE0, text);
    leave(code);
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

static void fault(void)
{
    fail("the kernel faulted\n", 3);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};

static const struct {
    void *function;
    uint32_t descriptor_bytes;
} kernels[] = {
#include "kernel_table.h"
};

static uint32_t open_file(const char *name, uint32_t name_bytes, uint32_t mode)
{
    const uint32_t block[] = {(uint32_t)name, mode, name_bytes};
    const uint32_t handle = semihosting(SYS_OPEN, block);
    if (handle == UINT32_MAX) {
        fail("cannot open a file\n", 2);
    }
    return handle;
}

/* Read bytes. Return the number of bytes that could not be read. */
static uint32_t read_file(uint32_t handle, void *data, uint32_t bytes)
{
    const uint32_t block[] = {handle, (uint32_t)data, bytes};
    return bytes == 0 ? 0 : semihosting(SYS_READ, block);
}

static void write_file(uint32_t handle, const void *data, uint32_t bytes)
{
    const uint32_t block[] = {handle, (uint32_t)data, bytes};
    if (semihosting(SYS_WRITE, block) != 0) {
        fail("cannot write\n", 2);
    }
}

static void __attribute__((noinline)) nothing(const void *op)
{
    __asm__ volatile("" : : "r"(op) : "memory");
}

static uint32_t count(void (*kernel)(const void *), const void *op, uint32_t repeats)
{
    const uint32_t start = read_counter();
    for (uint32_t i = 0; i < repeats; i++) {
        kernel(op);
    }
    return (read_counter() - start);
}

int main(void)
{
    CCR |= CCR_LOB;
    start_counter();
    const uint32_t input = open_file("cases", 5, 1);    /* rb */
    const uint32_t output = open_file("results", 7, 5); /* wb */
    static uint32_t descriptor[64];
    uint32_t header[5];
    while (read_file(input, header, sizeof header) == 0) {
        if (header[0] >= sizeof kernels / sizeof kernels[0] ||
            header[2] != kernels[header[0]].descriptor_bytes) {
            fail("a descriptor's size differs from the kernel's\n", 4);
        }
        uint8_t *memory = (uint8_t *)header[3];
        if (read_file(input, descriptor, header[2]) != 0 || read_file(input, memory, header[4]) != 0) {
            fail("cases end within a case\n", 2);
        }
        void (*kernel)(const void *) = (void (*)(const void *))kernels[header[0]].function;
        const uint32_t idle = count(nothing, descriptor, header[1]);
        const uint32_t busy = count(kernel, descriptor, header[1]);
        const uint32_t counted = busy > idle ? busy - idle : 0;
        write_file(output, &counted, sizeof counted);
        write_file(output, memory, header[4]);
    }
    leave(0);
}
