/* SPDX-License-Identifier: Apache-2.0
 *
 * Check of a relocatable model for this firmware, before anything is written. A loader only reports "invalid". It also does not
 * compare the last number of the version, although the callbacks differ with it.
 */
#ifndef N6_RELOC_CHECK_H
#define N6_RELOC_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "n6_reloc_format.h"

typedef enum {
    N6_RELOC_FITS,
    N6_RELOC_NO_MODEL,
    N6_RELOC_WRONG_API,
    N6_RELOC_WRONG_CPU,
    N6_RELOC_FPU_OFF,
    N6_RELOC_WRONG_SECURITY,
    N6_RELOC_WRONG_DEBUG_INFO,
    N6_RELOC_WRONG_RUNTIME_MODE,
    N6_RELOC_WRONG_VERSION,
    N6_RELOC_WRONG_STRUCTS,
    N6_RELOC_DAMAGED,
} n6_reloc_status_t;

/* Check a model. model: aligned to 4 bytes. bytes: readable there. In a model that fits, header, memory pools, GOT and
 * relocations do not point outside it: a loader without such checks, for example ST's, can install it. The firmware must check
 * the addresses of the pools. */
n6_reloc_status_t n6_reloc_check(const n6_reloc_header_t *model, uint32_t bytes);

/* Return the error of a status (id and text) for the console; "" for N6_RELOC_FITS. */
const char *n6_reloc_text(n6_reloc_status_t status);

/* Return the context in the file; NULL if the model is damaged. */
const n6_reloc_context_t *n6_reloc_context(const n6_reloc_header_t *model, uint32_t bytes);

/* Return the size of the file, with the weights if they are in it. Return 0 if the model is damaged. */
uint32_t n6_reloc_file_bytes(const n6_reloc_header_t *model, uint32_t bytes);

/* Return the list of memory pools in the file. Call it only for a model that fits. */
const n6_reloc_pool_t *n6_reloc_pools(const n6_reloc_header_t *model);

#endif
