/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_MODEL_TRUST_H
#define N6_MODEL_TRUST_H

#include "n6_model.h"

/* Copy the code of a slot's model, which must be whole, to model->verified_ram. Verify that copy, its trailer and its self-test;
 * weights only with trust=full. verified: the copy as a slot, with its weights in flash. Return "", or an error (id and text) if
 * the model must not be used. */
const char *n6_model_verify(const n6_model_t *model, const n6_model_slot_t *slot, n6_model_slot_t *verified);

#endif
