/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_AXISRAM_H
#define N6_AXISRAM_H

#include <stdbool.h>
#include <stdint.h>

/* Power one of AXISRAM3 to AXISRAM6: start its clock (its bit in RCC MEMENR), then end its shutdown (SRAMSD in its RAMCFG
 * control register). Without either, writes are lost and reads return zero.
 * Return false if the first or the last word of the bank does not keep a written value. */
bool n6_axisram_enable(uint32_t rcc_enable_mask, uint32_t ramcfg_cr, uint32_t first_word, uint32_t last_word);

#endif
