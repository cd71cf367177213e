/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether this firmware can install a relocatable model, found out before anything is written. A loader only says "invalid"; and
 * it does not compare the last number of the version, though the callbacks differ with it.
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

/* model: aligned to 4 bytes. bytes: that may be read there. In a model that fits, header, memory pools, GOT and relocations lead
 * nowhere outside of it: a loader that does not look, as ST's, can be given it. Where the pools lie is for the firmware to judge. */
n6_reloc_status_t n6_reloc_check(const n6_reloc_header_t *model, uint32_t bytes);

/* Id and words, for a console. */
const char *n6_reloc_text(n6_reloc_status_t status);

/* As in the file; NULL where the model is damaged. */
const n6_reloc_context_t *n6_reloc_context(const n6_reloc_header_t *model, uint32_t bytes);

/* The whole file, weights included where they are in it. 0 where the model is damaged. */
uint32_t n6_reloc_file_bytes(const n6_reloc_header_t *model, uint32_t bytes);

/* The list of memory pools, in the file. Only of a model that fits. */
const n6_reloc_pool_t *n6_reloc_pools(const n6_reloc_header_t *model);

#endif
