/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes to the NOR that programs read through its window. Nothing may read the window meanwhile: the caller's code must be in
 * RAM, and the NPU idle.
 */
#ifndef N6_NOR_WRITE_H
#define N6_NOR_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#define N6_NOR_SECTOR_BYTES 4096u

/* Erase a sector. address: of the sector in the window. Return false if the part does not report success. */
bool n6_nor_erase(uint32_t address);

/* Program erased bytes of one page: an even number, at an even address. */
bool n6_nor_program(uint32_t address, const void *data, uint32_t bytes);

#endif
