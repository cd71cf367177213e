/* SPDX-License-Identifier: Apache-2.0
 *
 * The Appli's view of relocatable models: their flash slots and their RAM. The content of a slot may change without the Appli;
 * the pools, entry points and sizes of a model come from its file.
 */
#ifndef N6_MODEL_H
#define N6_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#if N6_CONFINE
#include "n6_confine.h"
#endif
#include "n6_model_place.h"
#include "n6_model_slot.h"
#if N6_TRUST
#include "n6_model_trust.h"
#endif
#include "n6_plan.h"

#define N6_MODEL_SLOTS 2u

/* A relocatable model. slots: A and, if the model has two, B. name_crc32: as in the trailers of its slots. external_ram: its
 * share of the board's external RAM, for pools that the loader places; 0 bytes if the board has none. */
typedef struct {
    const char *name;
    uint32_t name_crc32;
    uint32_t is_classification;
    n6_plan_vectors_t vectors;
    n6_model_slot_t slots[N6_MODEL_SLOTS];
    uint32_t slot_count;
    uint8_t *executable_ram;
    uint32_t executable_ram_bytes;
    uint32_t external_ram;
    uint32_t external_ram_bytes;
#if N6_TRUST
    n6_model_subject_t subject;
    uint8_t *verified_ram; /* for the copy of the code that is verified and installed */
    uint32_t verified_ram_bytes;
#endif
} n6_model_t;

/* RAM that models may use, [base, base + bytes), by address. rcc_enable_mask 0: always on. */
typedef struct {
    uint32_t base;
    uint32_t bytes;
    n6_plan_bank_t bank;
} n6_model_bank_t;

/* Generated from the memory plan (n6_models.c). */
extern const char n6_models_application[];
extern const n6_model_t n6_models[];
extern const uint32_t n6_model_count;
extern const n6_model_bank_t n6_model_banks[];
extern const uint32_t n6_model_bank_count;
/* The number of bytes after a buffer that the NPU may read. */
extern const uint32_t n6_model_read_ahead;
extern const uint32_t n6_models_load_mode; /* AI_RELOC_RT_LOAD_MODE_COPY or _XIP */

/* Map the external RAM; NULL if the board has none. */
extern n6_psram_status_t (*const n6_models_open_external_ram)(uint32_t *id);

#define N6_MODEL_OWN_BUFFERS 8u

/* An installed model. It must not move while its instance is in use. install_cycles: cycles of the loader. */
typedef struct {
    NN_Instance_TypeDef instance;
    n6_plan_network_t network;
    n6_plan_own_buffer_t own_buffers[N6_MODEL_OWN_BUFFERS];
    uint32_t installed_bytes; /* of its executable RAM */
    uint32_t install_cycles;
#if N6_CONFINE
    n6_confine_t confine; /* the memory that its code may access */
#endif
} n6_loaded_model_t;

/* One per model. */
extern n6_loaded_model_t n6_loaded_models[];

/* Install the newest model in its slots that is whole, fits this firmware and passes its self-test. Print the choice, and the
 * reason for each refusal. Replace the model in `loaded`. Return false if no model is left. Call n6_inference_open() before. */
bool n6_model_load(const n6_model_t *model, n6_loaded_model_t *loaded);

/* Install the model of one slot, without a time limit. test: trailer with its self-test. Return "", or an error (id and text). */
const char *n6_model_install(const n6_model_t *model, const n6_model_slot_t *slot, const n6_model_trailer_t *test,
                             n6_loaded_model_t *loaded);

#endif
