/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the virtual STM32N6 board tell each other. Names and addresses come from the generated n6_soc.h, the
 * same header that the firmware is compiled with.
 */
#ifndef N6VIRT_H
#define N6VIRT_H

#include "qemu/osdep.h"
#include "exec/memory.h"

#include "n6_soc.h"

/* Findings: what the board objects to, one JSON line each in a file. The same kind at the same instruction is counted and
 * written once. */

void n6virt_findings_open(const char *path);
/* kind: a fixed word. address: that was touched. pc is added. */
void n6virt_finding(const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(3, 4);
void n6virt_finding_at(uint32_t pc, const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* The line that ends the file. */
void n6virt_findings_close(const char *summary_fields);
/* Program counter of the instruction that is accessing a device; 0 outside of one. */
uint32_t n6virt_pc(void);

/* Registers: a store for all peripherals, by secure address; what is not modelled keeps what is written to it. */

uint32_t n6virt_get(uint32_t address);
void n6virt_set(uint32_t address, uint32_t value);
static inline bool n6virt_has(uint32_t address, uint32_t bits)
{
    return (n6virt_get(address) & bits) == bits;
}

/* XSPI2 and the NOR behind it */

void n6virt_xspi_init(uint32_t jedec_id);
/* After an RCC reset of the controller. */
void n6virt_xspi_reset(void);
uint32_t n6virt_xspi_read(uint32_t offset, unsigned size);
void n6virt_xspi_write(uint32_t offset, uint32_t value, unsigned size);

typedef enum {
    N6VIRT_WINDOW_CLOSED, /* reads fault */
    N6VIRT_WINDOW_WRONG,  /* mapped, but not as the part is set: reads give ones */
    N6VIRT_WINDOW_SWAPPED, /* mapped, but the two bytes of each half-word change places */
    N6VIRT_WINDOW_OPEN,
} N6VirtWindow;

/* reason: why the window is not open. */
N6VirtWindow n6virt_xspi_window(const char **reason);

#endif
