/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_MODEL_TRUST_H
#define N6_MODEL_TRUST_H

#include "n6_model.h"

/* Copies the code of the model in a slot, which holds a whole one, to model->verified_ram, and verifies that copy, its trailer and
 * its self-test; weights only with trust=full. verified: the copy as a slot, with its weights where they are. Returns "", or why
 * the model is not to be used: id and words. */
const char *n6_model_verify(const n6_model_t *model, const n6_model_slot_t *slot, n6_model_slot_t *verified);

#endif
