/* SPDX-License-Identifier: Apache-2.0
 *
 * Relocatable models as the Appli knows them: from which flash slots, into which RAM. What is in a slot may change without the
 * Appli; the pools, entry points and sizes of a model come from its file.
 */
#ifndef N6_MODEL_H
#define N6_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#if N6_CONFINE
#include "n6_confine.h"
#endif
#include "n6_model_slot.h"
#include "n6_plan.h"

#define N6_MODEL_SLOTS 2u

/* A place for a model: address and size in flash. params: of the weights where they are a separate file, otherwise 0. */
typedef struct {
    uint32_t file;
    uint32_t file_bytes;
    uint32_t params;
    uint32_t params_bytes;
} n6_model_slot_t;

/* slots: A and, where the model has two, B. name_crc32: as the trailers of its slots have it. external_ram: its part of the board's,
 * for pools that the loader places; no bytes where the board has none. */
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
    uint8_t *verified_ram; /* for the copy of the code that is verified, and installed */
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
/* Bytes behind a buffer that the NPU may read. */
extern const uint32_t n6_model_read_ahead;
extern const uint32_t n6_models_load_mode; /* AI_RELOC_RT_LOAD_MODE_COPY or _XIP */

/* Maps the external RAM; NULL where the board has none. */
extern n6_psram_status_t (*const n6_models_open_external_ram)(uint32_t *id);

#define N6_MODEL_OWN_BUFFERS 8u

/* An installed model. It stays where it is while its instance is used. install_cycles: that the loader took. */
typedef struct {
    NN_Instance_TypeDef instance;
    n6_plan_network_t network;
    n6_plan_own_buffer_t own_buffers[N6_MODEL_OWN_BUFFERS];
    uint32_t installed_bytes; /* of its executable RAM */
    uint32_t install_cycles;
#if N6_CONFINE
    n6_confine_t confine; /* what its code may reach */
#endif
} n6_loaded_model_t;

/* As many as there are models. */
extern n6_loaded_model_t n6_loaded_models[];

/* Installs the newest model of its slots that is whole, fits this firmware and passes its self-test; says on the console what it
 * took and why it refused another. False where none is left. After n6_inference_open(). A model that `loaded` held is replaced. */
bool n6_model_load(const n6_model_t *model, n6_loaded_model_t *loaded);

/* The same of one slot, of a model that is known to end. test: the trailer that has its self-test. Returns "", or why not: id and words. */
const char *n6_model_install(const n6_model_t *model, const n6_model_slot_t *slot, const n6_model_trailer_t *test,
                             n6_loaded_model_t *loaded);

#endif
