/* SPDX-License-Identifier: Apache-2.0
 *
 * An FSBL that copies a fixed 64 KB of the Appli, as load-and-run middleware does by default. COPIED, FROM: other bytes, and
 * another slot.
 */
#include "n6_board_slots.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_load_appli.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "n6_xspi_nor.h"

#ifndef COPIED
#define COPIED 0x10000u
#endif
#ifndef FROM
#define FROM N6_SLOT_APPLI_ADDRESS
#endif

const char n6_program[] = "fsbl";

int main(void)
{
    uint32_t jedec_id;
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_xspi_nor_open(&jedec_id);
    for (uint32_t offset = 0; offset < COPIED; offset += 4u) {
        N6_REG32(N6_APPLI_LOAD_ADDRESS + offset) = N6_REG32(FROM + offset);
    }
    n6_start_appli();
}
