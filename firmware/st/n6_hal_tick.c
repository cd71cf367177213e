/* SPDX-License-Identifier: Apache-2.0
 *
 * Milliseconds for the time-outs of ST's HAL, from the cycle counter. The counter wraps after about ten seconds; all time-outs of
 * the cache driver are shorter.
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
