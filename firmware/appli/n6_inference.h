/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_INFERENCE_H
#define N6_INFERENCE_H

#include <stdint.h>

/* Number of epochs of the network. */
uint32_t n6_inference_epochs(void);

void n6_inference_open(void);

/* One inference on `input` (as many bytes as the network's inputs have; NULL: zeros), printed as run `number`. The first
 * one also prints the cycles of each epoch. False where the input does not fit. */
int n6_inference_run(uint32_t number, const uint8_t *input, uint32_t input_bytes);

#endif
