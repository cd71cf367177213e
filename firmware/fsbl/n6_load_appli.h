/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_LOAD_APPLI_H
#define N6_LOAD_APPLI_H

#include <stdint.h>

typedef enum {
    N6_APPLI_OK,
    N6_APPLI_ERASED,    /* the slot holds nothing */
    N6_APPLI_NO_HEADER, /* no boot header of the expected version */
    N6_APPLI_TOO_LONG,  /* longer than its slot or than the RAM it is copied to */
    N6_APPLI_TOO_SHORT, /* no room for the vectors it starts with */
    N6_APPLI_DAMAGED,   /* the sum of its bytes is not that of the header */
    N6_APPLI_BAD_ENTRY, /* does not start inside itself, or not in Thumb state */
} n6_appli_status_t;

/* Checks the image in its flash slot and copies it, header and all, to N6_APPLI_LOAD_ADDRESS: as many bytes as its header
 * says, never a fixed number. */
n6_appli_status_t n6_load_appli(uint32_t *bytes, uint32_t *entry);

/* Hands the processor over: caches, SysTick and interrupts as after reset, vector table and stack of the Appli. */
_Noreturn void n6_start_appli(void);

#endif
