/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the slots.
 */
#ifndef SYSFLASH_H
#define SYSFLASH_H

#define FLASH_AREA_IMAGE_PRIMARY(image) 0
#define FLASH_AREA_IMAGE_SECONDARY(image) 1

#endif
