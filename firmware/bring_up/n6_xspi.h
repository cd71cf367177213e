/* SPDX-License-Identifier: Apache-2.0
 *
 * An XSPI controller in indirect mode: one command after another. base: of the controller, for example N6_XSPI2_BASE.
 */
#ifndef N6_XSPI_H
#define N6_XSPI_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_reg.h"
#include "n6_soc_xspi.h"

/* Fields of CCR: number of lines for instruction, address and data, and sizes. */
#define N6_XSPI_ONE_LINE 1
#define N6_XSPI_EIGHT_LINES 4
#define N6_XSPI_SIXTEEN_LINES 5
#define N6_XSPI_INSTRUCTION_16_BITS 1
#define N6_XSPI_ADDRESS_24_BITS 2
#define N6_XSPI_ADDRESS_32_BITS 3

typedef struct {
    uint32_t lines; /* CCR */
    uint32_t timing; /* TCR */
    uint32_t instruction;
    uint32_t address;
} n6_xspi_command_t;

/* Abort the running access of the controller and switch it off. */
void n6_xspi_stop(uint32_t base);
bool n6_xspi_wait_idle(uint32_t base);

/* Send a command. Return false if the controller does not end it. */
bool n6_xspi_send(uint32_t base, const n6_xspi_command_t *command);
/* Read or write up to four bytes, the first in the lowest bits. */
bool n6_xspi_read(uint32_t base, const n6_xspi_command_t *command, uint32_t count, uint32_t *value);
bool n6_xspi_write(uint32_t base, const n6_xspi_command_t *command, uint32_t count, uint32_t value);

/* Write any number of bytes with one command. */
bool n6_xspi_write_bytes(uint32_t base, const n6_xspi_command_t *command, const uint8_t *data, uint32_t count);

/* Enter memory-mapped mode, with the settings in CCR, TCR, IR and their counterparts for writes. */
void n6_xspi_map(uint32_t base);

#endif
