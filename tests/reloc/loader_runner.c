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

#include "../bare_metal.h"
#include "ll_aton_reloc_network.h"
#include "n6_reloc_check.h"

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

static jmp_buf before_fault;

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
    SCB_CCR |= SCB_CCR_LOB;
    const uint32_t input = open_file("cases", 5, OPEN_READ_BINARY);
    const uint32_t output = open_file("results", 7, OPEN_WRITE_BINARY);
    uint32_t header[3];
    while (read_file(input, header, sizeof header) == 0) {
        if (header[0] > FILE_ROOM || read_file(input, (void *)FILE_BASE, header[0]) != 0) {
            fail("cases end within a case, or one is too long\n", 2);
        }
        fill(EXEC_RAM, EXEC_RAM_BYTES, 0);
        fill(GUARD_BELOW, GUARD_BYTES, GUARD_WORD);
        fill(GUARD_ABOVE, GUARD_BYTES, GUARD_WORD);
        uint32_t result[3];
        result[0] = check(header[0]);
        result[1] = header[2] != 0 && result[0] != N6_RELOC_FITS ? NOT_GIVEN : (uint32_t)install(header[1]);
        result[2] = changed(GUARD_BELOW, GUARD_BYTES) + changed(GUARD_ABOVE, GUARD_BYTES);
        write_file(output, result, sizeof result);
    }
    leave(0);
}
