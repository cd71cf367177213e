/* SPDX-License-Identifier: Apache-2.0
 *
 * The serial NOR behind XSPI2: from any state that the boot ROM left to memory-mapped reads at N6_NOR_BASE.
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

/* Return true if the NOR runs at N6_NOR_FAST_HZ: the high-speed fuse of its pads is blown. Else it runs at N6_NOR_SLOW_HZ. */
bool n6_xspi_nor_is_fast(void);

/* Set supplies and pins, take over the controller, reset and identify the part, then map it as given in n6_board_nor.h.
 * jedec_id: three bytes, manufacturer first. */
n6_nor_status_t n6_xspi_nor_open(uint32_t *jedec_id);

#endif
