/* SPDX-License-Identifier: Apache-2.0
 *
 * The networks of a program, for whatever main() it has: one call after reset, one for each inference. In C and C++, with any
 * runtime of ll_aton, with or without an operating system; one task at a time may be inside these functions. The NOR is as the
 * FSBL left it; the data cache may be on or off.
 *
 * Hooks, which the program replaces by defining a function of that name: those below, and from the headers included here
 * n6_dcache_clean, n6_dcache_invalidate, n6_dcache_clean_invalidate and n6_delay_us.
 */
#ifndef N6_NETWORK_H
#define N6_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "../bring_up/n6_cache.h"
#include "../bring_up/n6_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* why: "" where all is well, else an id of docs/errors.md and words, to be followed by `what`. */
typedef struct {
    const char *why;
    const char *what;
} n6_network_result_t;

/* Hook, before anything else of n6_network_open: sets the clocks of CPU, NPU and buses. By default they stay as the FSBL left
 * them. False: they do not run. */
bool n6_network_clocks(void);

/* Hook: words about what n6_network_open does, a line in several pieces, "\n" last. By default nobody hears them. */
void n6_network_print(const char *text);

/* Hook: until something happens, while the NPU works. By default the CPU sleeps (WFE); a task may let others run. */
void n6_network_wait(void);

/* Once: powers the RAM that the networks use, maps the external RAM if they use it, opens the NPU and its way to memory, checks
 * the weights in flash and copies those that are read from RAM, and initialises all networks. Starts the cycle counter (DWT). */
n6_network_result_t n6_network_open(void);

uint32_t n6_network_count(void);

/* Of the model; "" where there is no such network. */
const char *n6_network_name(uint32_t network);

/* All inputs, or all outputs, one behind the other; 0 where there is no such network. */
uint32_t n6_network_input_bytes(uint32_t network);
uint32_t n6_network_output_bytes(uint32_t network);

/* One inference. False, and nothing is done, where there is no such network or input_bytes are not those of its inputs. */
bool n6_network_run(uint32_t network, const void *input, uint32_t input_bytes);

/* An output of the last inference, valid until the next one, by the name that the network's compiler gave it, or the first one
 * for NULL. NULL where there is none. bytes: its size. */
const void *n6_network_output(uint32_t network, const char *name, uint32_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
