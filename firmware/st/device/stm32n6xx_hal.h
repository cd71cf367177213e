/* SPDX-License-Identifier: Apache-2.0
 *
 * A placeholder: the cache headers of Core 2.x include the HAL, but use nothing of it.
 */
#ifndef STM32N6XX_HAL_H
#define STM32N6XX_HAL_H

#include "stm32n6xx.h"

#endif
