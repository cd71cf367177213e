/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions by which the loader calls code of a confined model. firmware/confine defines them.
 */
#ifndef LL_ATON_RELOC_CONFINE_H
#define LL_ATON_RELOC_CONFINE_H

#include <stdint.h>

#include "ll_aton_reloc_network.h"

/* The memory that a model may access. */
typedef struct n6_confine n6_confine_t;

/* Return the memory of an installed instance. The Appli defines this function. */
const n6_confine_t *n6_confine_of(const NN_Instance_TypeDef *instance);

/* The functions that a model may call. Its context points to this table. */
extern const ll_aton_reloc_callbacks n6_confine_callbacks;

/* Call a function of the model, with three arguments and its static base, as in n6_confine_run(). */
uint32_t n6_confine_call(const n6_confine_t *confine, const uint32_t arguments[3], uintptr_t function, uintptr_t base);

/* Check a model's list of inputs or outputs. Fail like n6_confine_run() if a buffer is not in the model's memory. */
const LL_Buffer_InfoTypeDef *n6_confine_check_buffers(const n6_confine_t *confine, const LL_Buffer_InfoTypeDef *list);

#endif
