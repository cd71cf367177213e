/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_MODEL_TRUST_H
#define N6_MODEL_TRUST_H

#include "n6_model_place.h"
#include "n6_release_format.h"

/* RAM for the copy of a model's code that is verified and installed. */
typedef struct {
    uint8_t *start;
    uint32_t bytes;
} n6_verified_ram_t;

/* The subjects of a model in the release, and of its weights if these are a separate file. */
typedef struct {
    uint8_t model[N6_RELEASE_SUBJECT_BYTES];
    uint8_t params[N6_RELEASE_SUBJECT_BYTES];
} n6_model_subject_t;

/* Copy the code of a slot's model, which must be whole, to RAM. Compare that copy, its trailer and its self-test
 * with the release; weights only with trust=full. verified: the copy as a slot, with its weights in flash. Return "", or an error (id and text) if the model must not be used. */
const char *n6_model_verify(const n6_model_slot_t *slot, const n6_model_subject_t *subject, n6_verified_ram_t ram,
                            n6_model_slot_t *verified);

#endif
