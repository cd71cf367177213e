/* SPDX-License-Identifier: Apache-2.0
 *
 * The PSRAM behind XSPI1, on boards that have one, from whatever state it is in to memory-mapped reads and writes at N6_PSRAM_BASE.
 */
#ifndef N6_XSPI_PSRAM_H
#define N6_XSPI_PSRAM_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    N6_PSRAM_OK,
    N6_PSRAM_SWAPPED, /* XSPIM gives XSPI1 another port, as the boot ROM left it: n6_xspi_nor_open comes first */
    N6_PSRAM_BUSY,    /* the controller stays busy: its kernel clock is missing, or the pads have no supply */
    N6_PSRAM_SILENT,  /* another vendor or size than n6_board_psram.h says: pins, supply, or another part */
    N6_PSRAM_UNSET,   /* a mode register does not keep what is written */
    N6_PSRAM_FORGETS, /* memory-mapped, but its first or last word does not keep what is written */
} n6_psram_status_t;

/* Supply and pins, XSPI1 reset, the part reset, identified and set to sixteen lines, then memory-mapped. What it held is lost where
 * the test writes: in the first and the last word.
 * id: vendor in the upper byte, density in the lower, as the part says them. */
n6_psram_status_t n6_xspi_psram_open(uint32_t *id);

/* Id and words for a status, "" where all is well. */
const char *n6_xspi_psram_text(n6_psram_status_t status);

/* Whether XSPI1 is in memory-mapped mode. */
bool n6_xspi_psram_is_mapped(void);

#endif
