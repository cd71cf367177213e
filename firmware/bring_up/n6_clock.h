/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_CLOCK_H
#define N6_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CPU and all buses on the internal 64 MHz oscillator, whatever the boot ROM left behind. False where the switch does not
 * happen. */
bool n6_clock_use_hsi(void);

/* CPU, buses, NPU and its RAM as the clock profile of n6_board_clock.h says, the supply raised before where that is needed. After
 * n6_clock_use_hsi; NPU and console may run. False where a PLL does not lock or the switch does not happen. */
bool n6_clock_start(void);

/* The kernel clock of XSPI2 as n6_board_nor.h says: PLL1 through IC3, or HCLK. After
 * n6_clock_start. False where PLL1 does not lock. */
bool n6_clock_start_xspi(void);

/* Waits at least this long at N6_CPU_HZ; longer on a slower clock or without caches. Weak: a program may have one of its own. */
void n6_delay_us(uint32_t microseconds);

#ifdef __cplusplus
}
#endif

#endif
