/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with damaged inputs for a parser. It defines the three functions below.
 *
 *   PROGRAM SEED COUNT NUMBER: random inputs, the same for the same number; prints how many were tried, and how many got how far.
 *
 * With N6_GUIDED it is a program of libFuzzer: coverage leads the random choices, and N6_SEED names the file with the seed. */
#ifndef HARNESS_H
#define HARNESS_H

#include "mutation.h"

/* Read the sound input, and set up the memory. */
static void prepare(const char *seed);

/* Try so many inputs. */
static void try_inputs(random_t *random, uint32_t count);

/* Print the numbers of inputs that got so far, with a space before each. */
static void print_reached(void);

#if N6_GUIDED
/* Enough for states that take several inputs to reach. */
#define INPUTS_OF_A_GUIDE 4u

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    prepare(getenv("N6_SEED"));
    (void)print_reached;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    random_t random = {0};
    guide = data;
    guide_bytes = bytes;
    try_inputs(&random, INPUTS_OF_A_GUIDE);
    return 0;
}
#else
int main(int count, char **arguments)
{
    if (count != 4) {
        return 2;
    }
    const uint32_t tried = (uint32_t)atol(arguments[2]);
    random_t random = {0x9E3779B97F4A7C15u ^ (uint64_t)atol(arguments[3])};
    prepare(arguments[1]);
    try_inputs(&random, tried);
    printf("%u", tried);
    print_reached();
    printf("\n");
    return 0;
}
#endif

#endif
