/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_MODEL_TRUST_H
#define N6_MODEL_TRUST_H

#include "n6_model_place.h"

/* RAM for the copy of a model's code that is verified and installed. */
typedef struct {
    uint8_t *start;
    uint32_t bytes;
} n6_verified_ram_t;

/* Copy the code of a slot's model, which must be whole, to RAM. Verify that copy, its trailer and its self-test; weights only
 * with trust=full. name_crc32: of the model, as in the trailers of its slots. verified: the copy as a slot, with its weights in
 * flash. Return "", or an error (id and text) if the model must not be used. */
const char *n6_model_verify(const n6_model_slot_t *slot, uint32_t name_crc32, n6_verified_ram_t ram, n6_model_slot_t *verified);

#endif
