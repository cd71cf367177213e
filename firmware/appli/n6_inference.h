/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_INFERENCE_H
#define N6_INFERENCE_H

#include <stdint.h>

#include "n6_plan.h"

/* Return the number of epochs in a list. */
uint32_t n6_inference_epochs(const EpochBlock_ItemTypeDef *epochs);

/* Start the cycle counter and the runtime. Call it once, before the first network. */
void n6_inference_open(void);

/* Initialise a network before its first inference. Return false if the network rejects the buffers of the application. */
int n6_inference_begin(const n6_plan_network_t *network);

/* Reset the state that the network keeps, to that after n6_inference_begin. */
void n6_inference_restart(const n6_plan_network_t *network);

/* Make one inference on `input` (as many bytes as the network's inputs have; NULL: zeros) and print it as run `number`, with the
 * cycles of each epoch if `lists_epochs`. Return false if the size of the input is wrong. */
int n6_inference_run(const n6_plan_network_t *network, uint32_t number, const uint8_t *input, uint32_t input_bytes,
                     int lists_epochs);

/* Make one inference without printing. outputs_crc32: the CRC-32 of each output, combined by exclusive or. */
int n6_inference_try(const n6_plan_network_t *network, const uint8_t *input, uint32_t input_bytes, uint32_t *outputs_crc32);

/* Make one inference without printing. Its outputs stay in their buffers. Return false if the size of the input is wrong. */
int n6_inference_compute(const n6_plan_network_t *network, const uint8_t *input, uint32_t input_bytes);

/* An inference in steps: inputs and outputs are one row of bytes each. Return false for a range outside that row. */
uint32_t n6_inference_input_bytes(const n6_plan_network_t *network);
uint32_t n6_inference_output_bytes(const n6_plan_network_t *network);
int n6_inference_write_input(const n6_plan_network_t *network, uint32_t offset, const uint8_t *data, uint32_t bytes);
int n6_inference_read_output(const n6_plan_network_t *network, uint32_t offset, uint8_t *data, uint32_t bytes);

/* Run the network on the inputs in its buffers. Return the cycles. */
uint32_t n6_inference_execute(const n6_plan_network_t *network);

/* Cycles of an epoch: its start, the time until its end is due, its end. An epoch of the CPU works during its start or end. */
typedef struct {
    uint32_t start, core, end;
} n6_epoch_cycles_t;

/* Return the cycles of an epoch in the last inference of any network; zeros for epochs whose cycles are not kept. */
n6_epoch_cycles_t n6_inference_epoch_cycles(uint32_t epoch);

#endif
