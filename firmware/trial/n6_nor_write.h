/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes to the NOR that programs read through its window. Nothing may be read there meanwhile: the caller's code is in RAM, and the NPU
 * is idle.
 */
#ifndef N6_NOR_WRITE_H
#define N6_NOR_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#define N6_NOR_SECTOR_BYTES 4096u

/* address: in the window, of a sector. False where the part does not say that it is done. */
bool n6_nor_erase(uint32_t address);

/* Bytes of one page that are erased; an even number, at an even address. */
bool n6_nor_program(uint32_t address, const void *data, uint32_t bytes);

#endif
