/* SPDX-License-Identifier: Apache-2.0
 *
 * link: requests to n6_link_serve() that no host sends: any type, length and values, with a correct CRC and without, and noise
 * between them. Inputs and outputs have exactly their stated length, so that a sanitizer sees accesses beyond them. Counts
 * answered requests. */
#include "frames.h"

#include "n6_inference.h"
#include "n6_link.h"

#define INPUT_BYTES 450u
#define OUTPUT_BYTES 260u
#define EPOCHS 70u

static uint8_t *input, *output;
static NN_Instance_TypeDef instance;
static const n6_plan_network_t network = {.model = "keyword", .instance = &instance};

static uint32_t make_message(uint8_t *message, uint32_t bytes)
{
    message[0] = (uint8_t)random_below(numbers, 9u);
    if (bytes > 2u && random_below(numbers, 8u) != 0u) {
        message[2] = 0u;
    }
    if (bytes > 7u && random_below(numbers, 2u) == 0u) {
        uint32_t offset = random_below(numbers, 3u) == 0u ? word_of(numbers, message, bytes, OUTPUT_BYTES) : random_below(numbers, 500u);
        memcpy(message + 3, &offset, sizeof offset);
    }
    return bytes;
}

uint32_t n6_inference_epochs(const EpochBlock_ItemTypeDef *epochs)
{
    (void)epochs;
    return EPOCHS;
}

uint32_t n6_inference_input_bytes(const n6_plan_network_t *of)
{
    return of == &network ? INPUT_BYTES : 0u;
}

uint32_t n6_inference_output_bytes(const n6_plan_network_t *of)
{
    return of == &network ? OUTPUT_BYTES : 0u;
}

int n6_inference_write_input(const n6_plan_network_t *of, uint32_t offset, const uint8_t *data, uint32_t bytes)
{
    (void)of;
    if (offset > INPUT_BYTES || bytes > INPUT_BYTES - offset) {
        return 0;
    }
    memcpy(input + offset, data, bytes);
    return 1;
}

int n6_inference_read_output(const n6_plan_network_t *of, uint32_t offset, uint8_t *data, uint32_t bytes)
{
    (void)of;
    if (offset > OUTPUT_BYTES || bytes > OUTPUT_BYTES - offset) {
        return 0;
    }
    memcpy(data, output + offset, bytes);
    return 1;
}

void n6_inference_restart(const n6_plan_network_t *of)
{
    (void)of;
    memset(output, 0, OUTPUT_BYTES);
}

uint32_t n6_inference_execute(const n6_plan_network_t *of)
{
    (void)of;
    return 1000u;
}

n6_epoch_cycles_t n6_inference_epoch_cycles(uint32_t epoch)
{
    return (n6_epoch_cycles_t){epoch, 1u, 2u};
}

static const n6_plan_network_t *network_at(uint32_t index)
{
    return index == 0u ? &network : NULL;
}

static void prepare(const char *seed)
{
    (void)seed;
    input = malloc(INPUT_BYTES);
    output = calloc(OUTPUT_BYTES, 1u);
}

static void serve(void)
{
    n6_link_serve(network_at, 1u);
}

static void try_inputs(random_t *random, uint32_t count)
{
    serve_messages(random, count, serve);
}
