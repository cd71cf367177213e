/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Halting debug of the processor, as a probe uses it (n6virt_debug.c).
 */
#ifndef N6VIRT_DEBUG_H
#define N6VIRT_DEBUG_H

#include "n6virt.h"

/* Reasons for which the processor is not running. WAITS: nobody halted it, but it would only loop in the boot ROM. */
typedef enum {
    N6VIRT_RUNS,
    N6VIRT_WAITS,
    N6VIRT_LOCKED_UP,
    N6VIRT_BY_PROBE,
    N6VIRT_BY_BKPT,
    N6VIRT_BY_WATCHPOINT,
    N6VIRT_BY_CATCH,
} N6VirtHalt;

/* Let a probe in. on_stop: called each time when the processor has stopped. */
void n6virt_debug_attach(void (*on_stop)(void));
/* Return the reason for which the processor is not running. */
N6VirtHalt n6virt_debug_state(void);
/* Return how many times the chip was reset. */
unsigned n6virt_debug_resets(void);
bool n6virt_debug_is_asleep(void);
bool n6virt_debug_is_secure(void);

/* Set DHCSR C_DEBUGEN: BKPT and the caught vectors halt. catches: bits VC_* of DEMCR. */
void n6virt_debug_enable(bool is_enabled, uint32_t catches);
bool n6virt_debug_is_enabled(void);

void n6virt_debug_halt(void);
void n6virt_debug_run(void);
/* Execute one instruction. The processor is halted when on_stop is called. */
void n6virt_debug_step(bool masks_interrupts);
/* Reset the chip, and halt or let it run as the caught vectors say. reason: a flag of RCC HWRSR, or 0 for the pin. */
void n6virt_debug_reset(uint32_t reason);

/* Access a register of a halted processor by its number in DCRSR. Return false for a number that has none. */
bool n6virt_debug_register(unsigned number, uint32_t *value);
bool n6virt_debug_set_register(unsigned number, uint32_t value);

/* Halt before the instruction at an address, or after an access to some bytes. */
void n6virt_debug_break(uint32_t address, bool is_set);
bool n6virt_debug_watch(uint32_t address, uint32_t bytes, bool reads, bool writes, bool is_set);

/* Let guest time pass while the processor is stopped: the rest of the chip goes on, except frozen blocks. */
void n6virt_debug_pass_time(int64_t ticks);

/* Call a function around such times while a debugger has halted the processor: with 0 before, with the ticks behind. */
void n6virt_debug_on_halted_time(void (*observe)(int64_t ticks));

#endif
