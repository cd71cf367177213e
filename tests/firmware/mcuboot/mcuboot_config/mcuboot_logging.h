/* SPDX-License-Identifier: Apache-2.0
 *
 * MCUboot's errors, as lines on the console without their numbers.
 */
#ifndef MCUBOOT_LOGGING_H
#define MCUBOOT_LOGGING_H

#include "n6_console.h"

#define MCUBOOT_LOG_MODULE_REGISTER(module)
#define MCUBOOT_LOG_MODULE_DECLARE(module)
#define MCUBOOT_LOG_ERR(text, ...) (n6_put("mcuboot: " text), n6_put_end())
#define MCUBOOT_LOG_WRN(text, ...) (n6_put("mcuboot: " text), n6_put_end())
#define MCUBOOT_LOG_INF(text, ...) ((void)0)
#define MCUBOOT_LOG_DBG(text, ...) ((void)0)
#define MCUBOOT_LOG_SIM(text, ...) ((void)0)

#endif
