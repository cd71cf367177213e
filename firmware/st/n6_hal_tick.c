/* SPDX-License-Identifier: Apache-2.0
 *
 * Milliseconds for ST's HAL, which measures its time-outs with them. From the cycle counter: it wraps after some ten seconds, and
 * no time-out of the cache driver is as long.
 */
#include "n6_board_clock.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"

#include <stdint.h>

uint32_t HAL_GetTick(void);

uint32_t HAL_GetTick(void)
{
    return N6_REG32(N6_DWT_CYCCNT) / (N6_CPU_HZ / 1000u);
}
