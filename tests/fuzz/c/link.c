/* SPDX-License-Identifier: Apache-2.0
 *
 * link SEED COUNT NUMBER: requests to n6_link_serve() that no host sends: any type, length and values, with a correct CRC and
 * without, and noise between them. Inputs and outputs have exactly their stated length, so that a sanitizer sees accesses
 * beyond them. The program prints the number of tried and of answered requests. */
#include "mutation.h"

#include <setjmp.h>

#include "n6_console.h"
#include "n6_crc32.h"
#include "n6_inference.h"
#include "n6_link.h"

#define INPUT_BYTES 450u
#define OUTPUT_BYTES 260u
#define EPOCHS 70u
/* Bytes of a message, and more than fit. */
#define LONGEST (N6_LINK_MESSAGE_MAX + 40u)

static random_t numbers;
static uint32_t left, answered, at, waiting;
static uint8_t line[3u * LONGEST];
static uint8_t *input, *output;
static jmp_buf no_more;
static NN_Instance_TypeDef instance;
static const n6_plan_network_t network = {.model = "keyword", .instance = &instance};

static uint32_t put_frame(const uint8_t *message, uint32_t bytes)
{
    uint32_t out = 1u, code = 0u;
    for (uint32_t i = 0; i <= bytes; i++) {
        if (i == bytes || message[i] == 0u || out - code == 0xFFu) {
            bool full = i < bytes && message[i] != 0u;
            line[code] = (uint8_t)(out - code);
            code = out++;
            i -= full;
        } else {
            line[out++] = message[i];
        }
    }
    line[code] = 0u;
    return code + 1u;
}

static void next_line(void)
{
    uint8_t message[LONGEST + 4u];
    uint32_t bytes = 2u + random_below(&numbers, random_below(&numbers, 3u) == 0u ? LONGEST - 2u : 12u);
    for (uint32_t i = 0; i < bytes; i++) {
        message[i] = (uint8_t)random_word(&numbers);
    }
    message[0] = (uint8_t)random_below(&numbers, 9u);
    if (bytes > 2u && random_below(&numbers, 8u) != 0u) {
        message[2] = 0u;
    }
    if (bytes > 7u && random_below(&numbers, 2u) == 0u) {
        uint32_t offset = random_below(&numbers, 3u) == 0u ? word_of(&numbers, message, bytes, OUTPUT_BYTES) : random_below(&numbers, 500u);
        memcpy(message + 3, &offset, sizeof offset);
    }
    uint32_t crc = n6_crc32(message, bytes);
    memcpy(message + bytes, &crc, sizeof crc);
    waiting = put_frame(message, bytes + 4u);
    if (random_below(&numbers, 5u) == 0u) {
        line[random_below(&numbers, waiting)] = (uint8_t)random_word(&numbers);
        line[waiting - 1u] = 0u;
    }
    at = 0u;
}

bool n6_get_byte(uint8_t *byte)
{
    if (at == waiting) {
        if (left-- == 0u) {
            longjmp(no_more, 1);
        }
        next_line();
        return false;
    }
    *byte = line[at++];
    return true;
}

void n6_put_byte(uint8_t byte)
{
    static uint32_t zeros;
    zeros += byte == 0u;
    answered = zeros / 2u;
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

int main(int count, char **arguments)
{
    if (count != 4) {
        return 2;
    }
    uint32_t tried = left = (uint32_t)atol(arguments[2]);
    numbers.state = 0x9E3779B97F4A7C15u ^ (uint64_t)atol(arguments[3]);
    input = malloc(INPUT_BYTES);
    output = calloc(OUTPUT_BYTES, 1u);
    if (setjmp(no_more) == 0) {
        n6_link_serve(network_at, 1u);
    }
    printf("%u %u\n", tried, answered);
    free(input);
    free(output);
    return 0;
}
