/* SPDX-License-Identifier: Apache-2.0
 *
 * The PSRAM behind XSPI1, on boards that have one: from any state to memory-mapped reads and writes at N6_PSRAM_BASE.
 */
#ifndef N6_XSPI_PSRAM_H
#define N6_XSPI_PSRAM_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    N6_PSRAM_OK,
    N6_PSRAM_SWAPPED, /* XSPIM gives XSPI1 another port, as the boot ROM left it: n6_xspi_nor_open comes first */
    N6_PSRAM_BUSY,    /* the controller stays busy: its kernel clock is missing, or the pads have no supply */
    N6_PSRAM_SILENT,  /* vendor or size differ from n6_board_psram.h: pins, supply, or another part */
    N6_PSRAM_UNSET,   /* a mode register does not keep a written value */
    N6_PSRAM_FORGETS, /* memory-mapped, but its first or last word does not keep a written value */
} n6_psram_status_t;

/* Set supply and pins, reset XSPI1, reset and identify the part, set it to sixteen lines and map it. The test overwrites the
 * first and the last word.
 * id: vendor in the upper byte, density in the lower, as read from the part. */
n6_psram_status_t n6_xspi_psram_open(uint32_t *id);

/* Return the error of a status (id and text); "" for N6_PSRAM_OK. */
const char *n6_xspi_psram_text(n6_psram_status_t status);

/* Return true if XSPI1 is in memory-mapped mode. */
bool n6_xspi_psram_is_mapped(void);

#endif
