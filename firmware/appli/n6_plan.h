/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory plan, as the build generates it for the networks of one application and one board (n6_memory_plan.c). Addresses are secure aliases.
 */
#ifndef N6_PLAN_H
#define N6_PLAN_H

#include <stdint.h>

#include "n6_ll_aton.h"
#include "n6_xspi_psram.h"

/* A RAM bank that the network uses: its bit in RCC MEMENR, its RAMCFG control register, the words to test it with. */
typedef struct {
    const char *name;
    uint32_t rcc_enable_mask;
    uint32_t ramcfg_cr;
    uint32_t first_word;
    uint32_t last_word;
} n6_plan_bank_t;

/* Initializers of a memory pool. source: in flash. destination: where the network reads them; equal to source: in place.
 * signature: of the network they belong to, as in the trailer after them. */
typedef struct {
    const char *pool;
    uint32_t source;
    uint32_t destination;
    uint32_t bytes;
    uint32_t signature;
} n6_plan_image_t;

/* Test inputs in flash, one after another. count 0: there are none. */
typedef struct {
    uint32_t source;
    uint32_t count;
    uint32_t bytes_each;
} n6_plan_vectors_t;

/* A buffer for an input (is_input) or output of that index, for which the network has no memory itself. */
typedef struct {
    uint32_t is_input;
    uint32_t index;
    uint8_t *data;
    uint32_t bytes;
} n6_plan_own_buffer_t;

typedef struct {
    const char *model;
    NN_Instance_TypeDef *instance;
    uint32_t is_classification;
    n6_plan_vectors_t vectors;
    const n6_plan_own_buffer_t *own_buffers;
    uint32_t own_buffer_count;
    uint32_t index; /* in the application */
    uint32_t keeps_state; /* an inference goes on from the one before */
} n6_plan_network_t;

/* The model, or the models joined by '+'. */
extern const char n6_plan_application[];
extern const n6_plan_network_t n6_plan_networks[];
extern const uint32_t n6_plan_network_count;
/* Maps the external RAM; NULL where no network uses it. */
extern n6_psram_status_t (*const n6_plan_open_external_ram)(uint32_t *id);
extern const n6_plan_bank_t n6_plan_banks[];
extern const uint32_t n6_plan_bank_count;
extern const n6_plan_image_t n6_plan_images[];
extern const uint32_t n6_plan_image_count;

#endif
