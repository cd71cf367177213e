/* SPDX-License-Identifier: Apache-2.0
 *
 * An assertion of MCUboot that fails stops the FSBL.
 */
#ifndef MCUBOOT_ASSERT_H
#define MCUBOOT_ASSERT_H

#include "n6_fault.h"

#define assert(condition) ((condition) ? (void)0 : n6_sleep_for_ever())

#endif
