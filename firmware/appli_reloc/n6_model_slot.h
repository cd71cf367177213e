/* SPDX-License-Identifier: Apache-2.0
 *
 * A flash slot of a relocatable model, or of its weights if they are a separate file. It contains the file, a trailer at the next
 * multiple of 16 bytes, and the input of a self-test. The file records its own size, so a reader needs no knowledge of the
 * firmware that was built with it.
 */
#ifndef N6_MODEL_SLOT_H
#define N6_MODEL_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "n6_model_trailer.h"

typedef enum {
    N6_MODEL_SLOT_OK,
    N6_MODEL_SLOT_EMPTY,     /* no file begins here */
    N6_MODEL_SLOT_TRUNCATED, /* no trailer, or its own CRC is wrong */
    N6_MODEL_SLOT_DAMAGED,   /* the CRC of the file, or of the self-test's input, is wrong */
} n6_model_slot_status_t;

/* Check a slot. bytes: of the file in the slot at `address`; slot_bytes: of the slot. trailer: NULL unless the check passes. */
n6_model_slot_status_t n6_model_slot_check(uint32_t address, uint32_t bytes, uint32_t slot_bytes, const n6_model_trailer_t **trailer);

/* Return the self-test input after a trailer. */
const uint8_t *n6_model_slot_test_input(const n6_model_trailer_t *trailer);

/* Return the error of a status (id and text) for the console; "" for N6_MODEL_SLOT_OK. */
const char *n6_model_slot_text(n6_model_slot_status_t status);

#endif
