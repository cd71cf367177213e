/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of a runtime before the first epoch: identification, and bits that clear themselves. Then the program gives the NPU
 * work. CLOCKED: value of CLKCTRL CTRL before that.
 */
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_npu.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "put.h"

#define UNIT(number) (N6_NPU_BASE + (number)*0x1000u)
#define CLKCTRL_CTRL N6_REG32(UNIT(0u))
#define CLKCTRL_AGATES0 N6_REG32(UNIT(0u) + 0x08u)
#define CLKCTRL_BGATES N6_REG32(UNIT(0u) + 0x10u)

#ifndef CLOCKED
#define CLOCKED 1
#endif
#ifndef A_GATES
#define A_GATES 0xFFFFFFFFu
#endif
#ifndef B_GATES
#define B_GATES 0xFFFFFFFFu
#endif

const char n6_program[] = "test";

int main(void)
{
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_npu_enable();
    for (uint32_t unit = 0; unit < 0x1Fu; unit++) {
        put("version=", N6_REG32(UNIT(unit) + 4u));
    }
    CLKCTRL_CTRL = CLOCKED;
    CLKCTRL_AGATES0 = A_GATES;
    CLKCTRL_BGATES = B_GATES;
    put("gates=", CLKCTRL_AGATES0);
    N6_REG32(UNIT(4u)) = 1u << 30 | 1u << 1 | 1u; /* SWITCH */
    put("ctrl=", N6_REG32(UNIT(4u)));
    N6_REG32(UNIT(0x11u) + 8u) = 1u; /* CONVOLUTION */
    N6_REG32(UNIT(5u)) = 1u;         /* WORK */
    /* Wait until the work is done. */
    for (volatile uint32_t i = 0; i < 10000u; i++) {
    }
    n6_put("end");
    n6_put_end();
    return 0;
}
