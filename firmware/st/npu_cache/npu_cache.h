/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NPU_CACHE_H
#define NPU_CACHE_H

#include <stdint.h>

/* The driver of the NPU's cache that ST's runtime includes, for copies of ST's runtime without a driver: STM32CubeMX puts the
 * driver beside network.c, and only the runtime into Middlewares. start: first address. end: first address after the range. */
void npu_cache_enable(void);
void npu_cache_disable(void);
void npu_cache_invalidate(void);
void npu_cache_clean_range(uint32_t start, uint32_t end);
void npu_cache_clean_invalidate_range(uint32_t start, uint32_t end);

#endif
