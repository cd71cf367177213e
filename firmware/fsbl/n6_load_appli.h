/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_LOAD_APPLI_H
#define N6_LOAD_APPLI_H

#include <stdint.h>
#if N6_ENCRYPTION

#include "n6_decrypt.h"
#endif

typedef enum {
    N6_APPLI_OK,
    N6_APPLI_ERASED,    /* the slot is erased */
    N6_APPLI_NO_HEADER, /* no boot header of the expected version */
    N6_APPLI_TOO_LONG,  /* longer than its slot or than the RAM for its copy */
    N6_APPLI_TOO_SHORT, /* no room for the vectors at its start */
    N6_APPLI_DAMAGED,   /* the sum of its bytes differs from that in the header */
    N6_APPLI_BAD_ENTRY, /* the entry is outside the image, or not in Thumb state */
#if N6_ENCRYPTION
    N6_APPLI_NO_KEY,    /* encrypted, and the fuses have no key */
    N6_APPLI_OTHER_KEY, /* encrypted with another key */
#endif
} n6_appli_status_t;

#if N6_ENCRYPTION
#define N6_APPLI_ENCRYPTION_REFUSALS(X) \
    X(N6_APPLI_NO_KEY, N6_DECRYPT_NO_KEY_TEXT "the Appli") \
    X(N6_APPLI_OTHER_KEY, N6_DECRYPT_OTHER_KEY_TEXT "the Appli")
#else
#define N6_APPLI_ENCRYPTION_REFUSALS(X)
#endif

/* The error (id and text) of each status but N6_APPLI_OK. */
#define N6_APPLI_REFUSALS(X) \
    N6_APPLI_ENCRYPTION_REFUSALS(X) \
    X(N6_APPLI_ERASED, "N6-FW-010 the Appli slot is erased") \
    X(N6_APPLI_NO_HEADER, "N6-FW-011 the Appli slot has no image with a boot header v2.3") \
    X(N6_APPLI_TOO_LONG, "N6-FW-012 the Appli is longer than its slot or its RAM") \
    X(N6_APPLI_TOO_SHORT, "N6-FW-015 the Appli is too short for its vector table") \
    X(N6_APPLI_DAMAGED, "N6-FW-013 the Appli is damaged: its checksum differs") \
    X(N6_APPLI_BAD_ENTRY, "N6-FW-014 the Appli's entry is not a Thumb address inside it")

#if N6_TRIAL_APPLI_ADDRESS
/* Do the same as n6_load_appli(), for one of the Appli's two slots. */
n6_appli_status_t n6_load_appli_from(uint32_t slot, uint32_t *bytes, uint32_t *entry);
#else
/* Check the image in its flash slot and copy it, with its header, to N6_APPLI_LOAD_ADDRESS. The header gives the number of
 * bytes; it is never fixed. */
n6_appli_status_t n6_load_appli(uint32_t *bytes, uint32_t *entry);
#endif

/* Start the Appli: caches, SysTick and interrupts as after reset, vector table and stack of the Appli. */
_Noreturn void n6_start_appli(void);

#endif
