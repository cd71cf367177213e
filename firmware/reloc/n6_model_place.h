/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_MODEL_PLACE_H
#define N6_MODEL_PLACE_H

#include <stdint.h>

/* A flash slot of a model: address and size. params: those of the weights if they are a separate file, else 0. */
typedef struct {
    uint32_t file;
    uint32_t file_bytes;
    uint32_t params;
    uint32_t params_bytes;
} n6_model_slot_t;

#endif
