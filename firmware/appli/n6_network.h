/* SPDX-License-Identifier: Apache-2.0
 *
 * The networks of a program, for any main(): one call after reset, one call per inference. Usable from C and C++, with any
 * runtime of ll_aton, with or without an operating system. Only one task at a time may be inside these functions. The NOR is in
 * the state that the FSBL left; the data cache may be on or off.
 *
 * A program replaces a hook by defining a function of that name. The hooks are marked below; the headers included here add
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

/* why: "" for success, else an id of docs/errors.md and a text, to be followed by `what`. */
typedef struct {
    const char *why;
    const char *what;
} n6_network_result_t;

/* Hook: set the clocks of CPU, NPU and buses. n6_network_open calls it first. The default keeps the clocks of the FSBL. Return
 * false if the clocks do not run. */
bool n6_network_clocks(void);

/* Hook: print the progress of n6_network_open. A line arrives in several pieces, "\n" last. The default discards them. */
void n6_network_print(const char *text);

/* Hook: wait for an event while the NPU works. By default the CPU sleeps (WFE); a task may yield to other tasks. */
void n6_network_wait(void);

/* Call once: power the RAM of the networks, map the external RAM if they use it, open the NPU and its access to memory, check
 * the weights in flash, copy those that are read from RAM, and initialise all networks. This starts the cycle counter (DWT). */
n6_network_result_t n6_network_open(void);

uint32_t n6_network_count(void);

/* Return the name of the model, or "" if there is no such network. */
const char *n6_network_name(uint32_t network);

/* Return the size of all inputs, or all outputs, one after another, in bytes; 0 if there is no such network. */
uint32_t n6_network_input_bytes(uint32_t network);
uint32_t n6_network_output_bytes(uint32_t network);

/* Make one inference. Return false, without effect, if there is no such network or input_bytes is not the size of its inputs. */
bool n6_network_run(uint32_t network, const void *input, uint32_t input_bytes);

/* Return an output of the last inference, valid until the next one. name: as the network's compiler gave it; NULL: the first
 * output. Return NULL if there is no such output. bytes: its size. */
const void *n6_network_output(uint32_t network, const char *name, uint32_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
