/* SPDX-License-Identifier: Apache-2.0
 *
 * Maintenance of the CPU's D-cache over [address, address + size).
 */
#ifndef LL_ATON_CACHES_INTERFACE_H
#define LL_ATON_CACHES_INTERFACE_H

#include <stdint.h>

/* Write data of the CPU back to memory, for another bus master to read. */
void LL_ATON_Cache_MCU_Clean_Range(uintptr_t address, uint32_t size);

/* Discard data that another bus master has overwritten. Data of the CPU in the same cache lines is lost. */
void LL_ATON_Cache_MCU_Invalidate_Range(uintptr_t address, uint32_t size);

void LL_ATON_Cache_MCU_Clean_Invalidate_Range(uintptr_t address, uint32_t size);

#endif
