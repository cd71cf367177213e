/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory plan for one application and one board, generated in n6_memory_plan.c. Addresses are secure aliases.
 */
#ifndef N6_PLAN_H
#define N6_PLAN_H

#include <stdint.h>

#include "n6_ll_aton.h"
#if N6_TRUST
#include "n6_release_format.h"
#endif
#include "n6_xspi_psram.h"

/* A RAM bank of the networks: its bit in RCC MEMENR, its RAMCFG control register, the words for its test. */
typedef struct {
    const char *name;
    uint32_t rcc_enable_mask;
    uint32_t ramcfg_cr;
    uint32_t first_word;
    uint32_t last_word;
} n6_plan_bank_t;

/* The initializers of a memory pool. source: in flash. destination: the address that the network reads; equal to source if used
 * in place. signature: of their network, as in the trailer after them. subject: as in the release. */
typedef struct {
    const char *pool;
    uint32_t source;
    uint32_t destination;
    uint32_t bytes;
    uint32_t signature;
#if N6_TRUST
    uint8_t subject[N6_RELEASE_SUBJECT_BYTES];
#endif
} n6_plan_image_t;

/* Test inputs in flash, one after another. count 0: no test inputs. */
typedef struct {
    uint32_t source;
    uint32_t count;
    uint32_t bytes_each;
#if N6_TRUST
    uint8_t subject[N6_RELEASE_SUBJECT_BYTES];
#endif
} n6_plan_vectors_t;

/* A buffer for an input (is_input) or output with this index. The network itself has no memory for it. */
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
    uint32_t keeps_state; /* an inference continues from the previous one */
} n6_plan_network_t;

/* The model, or the models joined by '+'. */
extern const char n6_plan_application[];
extern const n6_plan_network_t n6_plan_networks[];
extern const uint32_t n6_plan_network_count;
/* Map the external RAM; NULL if no network uses it. */
extern n6_psram_status_t (*const n6_plan_open_external_ram)(uint32_t *id);
extern const n6_plan_bank_t n6_plan_banks[];
extern const uint32_t n6_plan_bank_count;
extern const n6_plan_image_t n6_plan_images[];
extern const uint32_t n6_plan_image_count;

#endif
