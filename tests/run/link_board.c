/* SPDX-License-Identifier: Apache-2.0
 *
 * Answer requests with firmware/appli/n6_link.c, for tests/run/firmware_link.py. Words are little endian.
 *
 *     in     bytes, then so many bytes of the line       out    inferences so far, bytes, then so many bytes of the line
 *     in     RESTART, input bytes, output bytes          out    nothing
 *
 * An inference makes output byte i of input byte i % input bytes, with the bits of 0x5A flipped. A restart clears the outputs. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "n6_console.h"
#include "n6_inference.h"
#include "n6_link.h"

#define RESTART UINT32_MAX
#define EPOCHS 70u

static jmp_buf start;
static NN_Instance_TypeDef instance;
static const n6_plan_network_t network = {.model = "keyword", .instance = &instance};
static uint8_t *input, *output, *heard, *said;
static uint32_t input_bytes, output_bytes, heard_bytes, heard_at, said_bytes, inferences;
static bool is_asked;

static void *room(void *old, uint32_t bytes)
{
    void *found = realloc(old, bytes + 1u);
    if (found == NULL) {
        exit(2);
    }
    return found;
}

static void read_all(void *data, uint32_t bytes)
{
    if (fread(data, 1u, bytes, stdin) != bytes) {
        exit(0);
    }
}

static uint32_t read_word(void)
{
    uint32_t word;
    read_all(&word, sizeof word);
    return word;
}

/* Write the bytes sent so far, and read the next part of the line. */
static void next_part(void)
{
    if (is_asked) {
        const uint32_t head[] = {inferences, said_bytes};
        fwrite(head, sizeof head, 1u, stdout);
        fwrite(said, 1u, said_bytes, stdout);
        fflush(stdout);
    }
    is_asked = false;
    said_bytes = heard_at = heard_bytes = 0u;
    uint32_t bytes = read_word();
    if (bytes == RESTART) {
        longjmp(start, 1);
    }
    heard = room(heard, bytes);
    read_all(heard, bytes);
    heard_bytes = bytes;
    is_asked = true;
}

bool n6_get_byte(uint8_t *byte)
{
    if (heard_at == heard_bytes) {
        next_part();
        return false;
    }
    *byte = heard[heard_at++];
    return true;
}

void n6_put_byte(uint8_t byte)
{
    said = room(said, said_bytes + 1u);
    said[said_bytes++] = byte;
}

uint32_t n6_inference_epochs(const EpochBlock_ItemTypeDef *epochs)
{
    (void)epochs;
    return EPOCHS;
}

uint32_t n6_inference_input_bytes(const n6_plan_network_t *of)
{
    return of == &network ? input_bytes : 0u;
}

uint32_t n6_inference_output_bytes(const n6_plan_network_t *of)
{
    return of == &network ? output_bytes : 0u;
}

int n6_inference_write_input(const n6_plan_network_t *of, uint32_t offset, const uint8_t *data, uint32_t bytes)
{
    if (of != &network || offset > input_bytes || bytes > input_bytes - offset) {
        return 0;
    }
    memcpy(input + offset, data, bytes);
    return 1;
}

int n6_inference_read_output(const n6_plan_network_t *of, uint32_t offset, uint8_t *data, uint32_t bytes)
{
    if (of != &network || offset > output_bytes || bytes > output_bytes - offset) {
        return 0;
    }
    memcpy(data, output + offset, bytes);
    return 1;
}

uint32_t n6_inference_execute(const n6_plan_network_t *of)
{
    (void)of;
    for (uint32_t i = 0; i < output_bytes; i++) {
        output[i] = input[i % input_bytes] ^ 0x5Au;
    }
    return 1000u + ++inferences;
}

void n6_inference_restart(const n6_plan_network_t *of)
{
    (void)of;
    memset(output, 0, output_bytes);
}

n6_epoch_cycles_t n6_inference_epoch_cycles(uint32_t epoch)
{
    return (n6_epoch_cycles_t){epoch, 1u, 2u};
}

static const n6_plan_network_t *network_at(uint32_t index)
{
    return index == 0u ? &network : NULL;
}

int main(void)
{
    if (setjmp(start) == 0) {
        if (read_word() != RESTART) {
            return 2;
        }
    }
    input_bytes = read_word();
    output_bytes = read_word();
    input = room(input, input_bytes);
    output = room(output, output_bytes);
    memset(input, 0, input_bytes);
    memset(output, 0, output_bytes);
    inferences = 0u;
    n6_link_serve(network_at, 1u);
}
