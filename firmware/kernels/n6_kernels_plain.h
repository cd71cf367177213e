/* SPDX-License-Identifier: Apache-2.0
 *
 * The plain C twin of every operator: same descriptor, same results. It is what a host runs, and what the Helium paths are
 * tested against; a firmware that never names a twin drops it with --gc-sections.
 */
#ifndef N6_KERNELS_PLAIN_H
#define N6_KERNELS_PLAIN_H

#include "n6_kernels.h"

void n6k_plain_conv_2d(const n6k_conv_2d_t *op);
void n6k_plain_depthwise_conv_2d(const n6k_depthwise_conv_2d_t *op);
void n6k_plain_fully_connected(const n6k_fully_connected_t *op);
void n6k_plain_add(const n6k_add_t *op);
void n6k_plain_pad(const n6k_pad_t *op);
void n6k_plain_max_pool_2d(const n6k_pool_t *op);
void n6k_plain_average_pool_2d(const n6k_pool_t *op);
void n6k_plain_mean(const n6k_mean_t *op);
void n6k_plain_softmax(const n6k_softmax_t *op);
void n6k_plain_requantize(const n6k_requantize_t *op);
void n6k_plain_quantize(const n6k_quantize_t *op);
void n6k_plain_dequantize(const n6k_dequantize_t *op);
void n6k_plain_copy(const n6k_copy_t *op);

#endif
