/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_CRC32_H
#define N6_CRC32_H

#include <stdint.h>

/* Return the CRC-32 of zlib and Ethernet. */
uint32_t n6_crc32(const uint8_t *data, uint32_t bytes);

#endif
