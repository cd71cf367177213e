/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_INFERENCE_H
#define N6_INFERENCE_H

#include <stdint.h>

#include "n6_plan.h"

/* Number of epochs in a list of them. */
uint32_t n6_inference_epochs(const EpochBlock_ItemTypeDef *epochs);

/* Once, before the first network. */
void n6_inference_open(void);

/* Before the first inference of a network. False where it does not take the buffers that it wants from the application. */
int n6_inference_begin(const n6_plan_network_t *network);

/* Where the state that the network keeps starts again, as after n6_inference_begin. */
void n6_inference_restart(const n6_plan_network_t *network);

/* One inference on `input` (as many bytes as the network's inputs have; NULL: zeros), printed as run `number`, with the
 * cycles of each epoch where `lists_epochs`. False where the input does not fit. */
int n6_inference_run(const n6_plan_network_t *network, uint32_t number, const uint8_t *input, uint32_t input_bytes,
                     int lists_epochs);

/* One inference of which nothing is printed. outputs_crc32: the CRC-32 of each output, combined by exclusive or. */
int n6_inference_try(const n6_plan_network_t *network, const uint8_t *input, uint32_t input_bytes, uint32_t *outputs_crc32);

/* One inference of which nothing is printed; its outputs stay in their buffers. False where the input does not fit. */
int n6_inference_compute(const n6_plan_network_t *network, const uint8_t *input, uint32_t input_bytes);

/* The same in steps: inputs and outputs as one row of bytes each. False outside them. */
uint32_t n6_inference_input_bytes(const n6_plan_network_t *network);
uint32_t n6_inference_output_bytes(const n6_plan_network_t *network);
int n6_inference_write_input(const n6_plan_network_t *network, uint32_t offset, const uint8_t *data, uint32_t bytes);
int n6_inference_read_output(const n6_plan_network_t *network, uint32_t offset, uint8_t *data, uint32_t bytes);

/* Runs on what was written; returns the cycles. */
uint32_t n6_inference_execute(const n6_plan_network_t *network);

/* Of an epoch: starting it, until it has to be ended, ending it. An epoch of the CPU does its work while it is started or ended. */
typedef struct {
    uint32_t start, core, end;
} n6_epoch_cycles_t;

/* Of the last inference, of whichever network; zeros beyond those that are kept. */
n6_epoch_cycles_t n6_inference_epoch_cycles(uint32_t epoch);

#endif
