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

/* Supply, PLLs and dividers of the clock profile of n6_board_clock.h; CPU and buses stay on the oscillator. After n6_clock_use_hsi.
 * False where a PLL does not lock. */
bool n6_clock_start(void);

/* CPU, buses, NPU and its RAM to the dividers. After n6_clock_start; NPU, console and NOR may run. False where the switch does not
 * happen. */
bool n6_clock_switch(void);

/* The kernel clock of XSPI2 as n6_board_nor.h says: PLL1 through IC3 with this divider, or HCLK. After n6_clock_start. False where
 * PLL1 does not lock. */
bool n6_clock_start_xspi(uint32_t divider);

/* Waits at least this long; longer without caches. In a program that inherits its clocks, at N6_CPU_HZ. Weak: a program may have one
 * of its own. */
void n6_delay_us(uint32_t microseconds);

#ifdef __cplusplus
}
#endif

#endif
