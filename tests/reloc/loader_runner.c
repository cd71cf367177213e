/* SPDX-License-Identifier: Apache-2.0
 *
 * Give models to a loader on a bare Cortex-M55: read them from the file "cases", and write each result to "results", both
 * through semihosting. The program is linked with a loader and with the check that a firmware makes before it.
 *
 * cases:   { u32 file_bytes, u32 mode, u32 is_guarded, file }*
 *          A guarded loader only gets models that the check accepts, as in a firmware.
 * results: { u32 status of n6_reloc_check, i32 result of the loader, u32 words that changed outside of the executable RAM }*
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ll_aton_reloc_network.h"
#include "n6_reloc_check.h"

#define SYS_OPEN 0x01
#define SYS_WRITE0 0x04
#define SYS_WRITE 0x05
#define SYS_READ 0x06
#define SYS_EXIT_EXTENDED 0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026

#define CCR (*(volatile uint32_t *)0xE000ED14u)
#define CCR_LOB (UINT32_C(1) << 19)

/* Below the program: the file, then the executable RAM between two guards. */
#define FILE_BASE 0x34000000u
#define FILE_ROOM 0xC0000u
#define GUARD_BELOW 0x340C0000u
#define EXEC_RAM 0x34100000u
#define EXEC_RAM_BYTES 0x40000u
#define GUARD_ABOVE (EXEC_RAM + EXEC_RAM_BYTES)
#define GUARD_BYTES 0x40000u
/* A loader that reads this word takes it for a link address in the code, and rebases it. */
#define GUARD_WORD 0x20000010u
/* Weights that are only read if a pool is copied. */
#define WEIGHTS 0x71800000u

#define FAULTED 1000
#define NOT_GIVEN 1001

extern uint32_t stack_top;
int main(void);

static jmp_buf before_fault;

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

static void __attribute__((noreturn)) fail(const char *text)
{
    semihosting(SYS_WRITE0, text);
    leave(2);
}

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

void __attribute__((noreturn, used)) after_fault(void)
{
    longjmp(before_fault, 1);
}

/* Return to after_fault() from any fault. */
static void __attribute__((naked)) fault(void)
{
    __asm__ volatile("mrs r0, msp\n"
                     "ldr r1, =after_fault\n"
                     "str r1, [r0, #24]\n"
                     "mov r1, #0x01000000\n"
                     "str r1, [r0, #28]\n"
                     "bx lr\n");
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};

static uint32_t open_file(const char *name, uint32_t name_bytes, uint32_t mode)
{
    const uint32_t block[] = {(uint32_t)name, mode, name_bytes};
    const uint32_t handle = semihosting(SYS_OPEN, block);
    if (handle == UINT32_MAX) {
        fail("cannot open a file\n");
    }
    return handle;
}

/* Read bytes. Return the number of bytes that could not be read. */
static uint32_t read_file(uint32_t handle, void *data, uint32_t bytes)
{
    const uint32_t block[] = {handle, (uint32_t)data, bytes};
    return bytes == 0 ? 0 : semihosting(SYS_READ, block);
}

static void fill(uint32_t address, uint32_t bytes, uint32_t word)
{
    for (uint32_t at = address; at < address + bytes; at += 4) {
        *(volatile uint32_t *)at = word;
    }
}

static uint32_t changed(uint32_t address, uint32_t bytes)
{
    uint32_t count = 0;
    for (uint32_t at = address; at < address + bytes; at += 4) {
        count += *(volatile uint32_t *)at != GUARD_WORD;
    }
    return count;
}

static NN_Instance_TypeDef instance;

static int32_t install(uint32_t mode)
{
    const ll_aton_reloc_config config = {
        .exec_ram_addr = EXEC_RAM,
        .exec_ram_size = EXEC_RAM_BYTES,
        .ext_param_addr = WEIGHTS,
        .mode = mode,
    };
    if (setjmp(before_fault) != 0) {
        return FAULTED;
    }
    return ll_aton_reloc_install(FILE_BASE, &config, &instance);
}

static uint32_t check(uint32_t bytes)
{
    if (setjmp(before_fault) != 0) {
        return FAULTED;
    }
    return n6_reloc_check((const n6_reloc_header_t *)FILE_BASE, bytes);
}

int main(void)
{
    CCR |= CCR_LOB;
    const uint32_t input = open_file("cases", 5, 1);    /* rb */
    const uint32_t output = open_file("results", 7, 5); /* wb */
    uint32_t header[3];
    while (read_file(input, header, sizeof header) == 0) {
        if (header[0] > FILE_ROOM || read_file(input, (void *)FILE_BASE, header[0]) != 0) {
            fail("cases end within a case, or one is too long\n");
        }
        fill(EXEC_RAM, EXEC_RAM_BYTES, 0);
        fill(GUARD_BELOW, GUARD_BYTES, GUARD_WORD);
        fill(GUARD_ABOVE, GUARD_BYTES, GUARD_WORD);
        uint32_t result[3];
        result[0] = check(header[0]);
        result[1] = header[2] != 0 && result[0] != N6_RELOC_FITS ? NOT_GIVEN : (uint32_t)install(header[1]);
        result[2] = changed(GUARD_BELOW, GUARD_BYTES) + changed(GUARD_ABOVE, GUARD_BYTES);
        const uint32_t block[] = {output, (uint32_t)result, sizeof result};
        if (semihosting(SYS_WRITE, block) != 0) {
            fail("cannot write\n");
        }
    }
    leave(0);
}
