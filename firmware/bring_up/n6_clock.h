/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_CLOCK_H
#define N6_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Switch CPU and all buses to the internal 64 MHz oscillator, from any state that the boot ROM left. Return false if the switch
 * fails. */
bool n6_clock_use_hsi(void);

/* Start supply, PLLs and dividers of the clock profile in n6_board_clock.h; CPU and buses stay on the oscillator. Call
 * n6_clock_use_hsi before. Return false if a PLL does not lock. */
bool n6_clock_start(void);

/* Switch CPU, buses, NPU and its RAM to the dividers. Call n6_clock_start before; NPU, console and NOR may run. Return false if
 * the switch fails. */
bool n6_clock_switch(void);

/* Select the kernel clock of XSPI2 from n6_board_nor.h: PLL1 through IC3 with this divider, or HCLK. Call n6_clock_start before.
 * Return false if PLL1 does not lock. */
bool n6_clock_start_xspi(uint32_t divider);

/* Wait at least this long; longer without caches. A program that inherits its clocks must run at N6_CPU_HZ. Weak: a program may
 * define its own. */
void n6_delay_us(uint32_t microseconds);

#ifdef __cplusplus
}
#endif

#endif
