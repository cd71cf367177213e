/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_CRC32_H
#define N6_CRC32_H

#include <stdint.h>

/* CRC-32 as zlib and Ethernet have it. */
uint32_t n6_crc32(const uint8_t *data, uint32_t bytes);

#endif
