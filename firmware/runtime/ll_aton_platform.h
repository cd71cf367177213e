/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU addresses of memory pools. Bus and CPU addresses are the same on the STM32N6.
 */
#ifndef LL_ATON_PLATFORM_H
#define LL_ATON_PLATFORM_H

#include <stdint.h>

#define ATON_LIB_PHYSICAL_TO_VIRTUAL_ADDR(address) ((uintptr_t)(address))
#define ATON_LIB_VIRTUAL_TO_PHYSICAL_ADDR(address) ((uintptr_t)(address))

#endif
