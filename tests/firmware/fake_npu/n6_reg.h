/* SPDX-License-Identifier: Apache-2.0
 *
 * Replacement of firmware/bring_up/n6_reg.h on a host: registers of an NPU whose failures a test selects.
 */
#ifndef N6_REG_H
#define N6_REG_H

#include <stdbool.h>
#include <stdint.h>

/* Return a register, after all previous writes have taken effect. */
volatile uint32_t *fake_register(uint32_t address);

#define N6_REG32(address) (*fake_register(address))

static inline bool n6_wait_for(uint32_t address, uint32_t mask, uint32_t value, uint32_t polls)
{
    while ((N6_REG32(address) & mask) != value) {
        if (polls-- == 0u) {
            return false;
        }
    }
    return true;
}

static inline void n6_barrier(void)
{
}

#endif
