/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_REG_H
#define N6_REG_H

#include <stdbool.h>
#include <stdint.h>

/* address: a constant of a header n6_soc_*.h. */
#define N6_REG32(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define N6_REG8(address) (*(volatile uint8_t *)(uintptr_t)(address))

/* The value of one field of a register: N6_FIELD(N6_XSPI_CR_FMODE, 3). */
#define N6_FIELD(field, value) (((uint32_t)(value) << field##_POS) & (field))

/* A default definition that the program can override. */
#define N6_WEAK __attribute__((weak))

static inline void n6_modify(uint32_t address, uint32_t clear, uint32_t set)
{
    N6_REG32(address) = (N6_REG32(address) & ~clear) | set;
}

/* Poll until the masked bits have this value. Return false after `polls` reads. No wait in this firmware is unbounded. */
static inline bool n6_wait_for(uint32_t address, uint32_t mask, uint32_t value, uint32_t polls)
{
    while ((N6_REG32(address) & mask) != value) {
        if (polls-- == 0u) {
            return false;
        }
    }
    return true;
}

/* Set enable bits through a set alias, then read the register once: a peripheral is accessible only after its clock runs. */
static inline void n6_enable(uint32_t set_alias, uint32_t enable_register, uint32_t bits)
{
    N6_REG32(set_alias) = bits;
    (void)N6_REG32(enable_register);
}

static inline void n6_barrier(void)
{
    __asm volatile("dsb 0xf\n\tisb 0xf" ::: "memory");
}

#endif
