/* SPDX-License-Identifier: Apache-2.0
 *
 * The serial NOR behind XSPI2, from whatever state the boot ROM left it in to memory-mapped reads at N6_NOR_BASE.
 */
#ifndef N6_XSPI_NOR_H
#define N6_XSPI_NOR_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    N6_NOR_OK,
    N6_NOR_NO_CLOCK,  /* PLL1 does not lock */
    N6_NOR_BUSY,      /* the controller stays busy: its kernel clock is missing, or the pads have no supply */
    N6_NOR_SILENT,    /* the identification is all ones or all zeros: pins, supply, or the reset did not reach the part */
    N6_NOR_NOT_OCTAL, /* the part does not answer in octal DTR mode after it was switched */
} n6_nor_status_t;

/* Whether the NOR runs at N6_NOR_FAST_HZ: the fuse of its pads for high speed is blown. Else at N6_NOR_SLOW_HZ. */
bool n6_xspi_nor_is_fast(void);

/* Supplies and pins, the controller taken over, the part reset and identified, then memory-mapped as n6_board_nor.h says.
 * jedec_id: three bytes, manufacturer first. */
n6_nor_status_t n6_xspi_nor_open(uint32_t *jedec_id);

#endif
