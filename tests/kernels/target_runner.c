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

#include "../bare_metal.h"
#include "n6_kernels.h"

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

static void fault(void)
{
    fail("the kernel faulted\n", 3);
}

static const struct {
    void *function;
    uint32_t descriptor_bytes;
} kernels[] = {
#include "kernel_table.h"
};

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
    SCB_CCR |= SCB_CCR_LOB;
    start_counter();
    const uint32_t input = open_file("cases", 5, OPEN_READ_BINARY);
    const uint32_t output = open_file("results", 7, OPEN_WRITE_BINARY);
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
