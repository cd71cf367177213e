/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_AXISRAM_H
#define N6_AXISRAM_H

#include <stdbool.h>
#include <stdint.h>

/* Powers one of AXISRAM3 to AXISRAM6: clock (its bit in RCC MEMENR), then the end of its shutdown (SRAMSD in its RAMCFG
 * control register). Without either, writes are lost and reads return zero.
 * False where the first or the last word of the bank does not keep what is written. */
bool n6_axisram_enable(uint32_t rcc_enable_mask, uint32_t ramcfg_cr, uint32_t first_word, uint32_t last_word);

#endif
