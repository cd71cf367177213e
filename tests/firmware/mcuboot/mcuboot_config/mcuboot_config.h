/* SPDX-License-Identifier: Apache-2.0
 *
 * MCUboot in RAM-load mode, with signatures of P-256, for the Appli's RAM of the STM32N6.
 */
#ifndef MCUBOOT_CONFIG_H
#define MCUBOOT_CONFIG_H

#include "n6_soc_programs.h"

#define MCUBOOT_SIGN_EC256
#define MCUBOOT_USE_TINYCRYPT
#define MCUBOOT_RAM_LOAD
#define MCUBOOT_IMAGE_NUMBER 1
#define MCUBOOT_MAX_IMG_SECTORS 128
#define MCUBOOT_VALIDATE_PRIMARY_SLOT
#define MCUBOOT_USE_FLASH_AREA_GET_SECTORS
#define MCUBOOT_HAVE_LOGGING 1
#define MCUBOOT_HAVE_ASSERT_H 1
#define IMAGE_EXECUTABLE_RAM_START N6_APPLI_LOAD_ADDRESS
#define IMAGE_EXECUTABLE_RAM_SIZE N6_APPLI_LOAD_BYTES

#define MCUBOOT_WATCHDOG_FEED() \
    do { \
    } while (0)
#define MCUBOOT_CPU_IDLE() \
    do { \
    } while (0)

#endif
