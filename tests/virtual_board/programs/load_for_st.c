/* SPDX-License-Identifier: Apache-2.0
 *
 * A loader for ST's applications that starts them as ST's loader does: with interrupts enabled, which an application does not
 * do itself.
 */
#include "n6_board_slots.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "n6_xspi_nor.h"

#define WORDS (512u * 1024u / 4u)

const char n6_program[] = "test";

int main(void)
{
    const uint32_t *from = (const uint32_t *)N6_SLOT_APPLI_ADDRESS;
    uint32_t *to = (uint32_t *)N6_APPLI_LOAD_ADDRESS;
    const uint32_t *vectors = (const uint32_t *)N6_APPLI_PAYLOAD_ADDRESS;
    uint32_t id;
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_xspi_nor_open(&id);
    for (uint32_t i = 0; i < WORDS; i++) {
        to[i] = from[i];
    }
    N6_REG32(N6_SCB_VTOR) = N6_APPLI_PAYLOAD_ADDRESS;
    __asm volatile("dsb\n\t"
                   "isb\n\t"
                   "msr msp, %0\n\t"
                   "bx %1" ::"r"(vectors[0]),
                   "r"(vectors[1]));
    return 0;
}
