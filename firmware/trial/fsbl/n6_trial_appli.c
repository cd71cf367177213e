/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_trial_appli.h"

#include <stddef.h>

#include "n6_appli_trailer.h"
#include "n6_board_slots.h"
#include "n6_boot_header.h"
#include "n6_console_lines.h"
#include "n6_crc32.h"
#include "n6_load_appli.h"
#include "n6_soc_programs.h"
#include "n6_trial.h"
#if N6_TRUST
#include "n6_trust.h"
#include "n6_trust_fuses.h"
#endif

#define SLOTS 2u
#define ALIGNMENT N6_APPLI_TRAILER_ALIGNMENT

/* FREE: not tried yet. HELD: valid, but the journal does not allow a start. OUT: invalid. */
typedef enum {
    FREE,
    HELD,
    OUT,
} slot_state_t;

/* The content of a slot. image: identifies it; another revision has another number. */
typedef struct {
    uint32_t address;
    uint32_t image;
    uint32_t revision;
    slot_state_t state;
} slot_t;

/* The reason why an Appli must not be started, in two parts; the first is empty if it may be started. */
typedef struct {
    const char *why;
    const char *what;
} refusal_t;

/* Read a slot. An Appli without a trailer, as programmed by other tools, is older than every Appli with a trailer. */
static slot_t read_slot(uint32_t address)
{
    const n6_boot_header_t *header = (const n6_boot_header_t *)(uintptr_t)address;
    const uint32_t header_crc32 = n6_crc32((const uint8_t *)header, N6_BOOT_HEADER_BYTES);
    slot_t slot = {address, header_crc32, 0u, FREE};
    if (header->magic != N6_BOOT_HEADER_MAGIC ||
        header->image_bytes > N6_SLOT_APPLI_BYTES - N6_BOOT_HEADER_BYTES - ALIGNMENT - sizeof(n6_appli_trailer_t)) {
        return slot;
    }
    uint32_t offset = (N6_BOOT_HEADER_BYTES + header->image_bytes + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
    const n6_appli_trailer_t *trailer = (const n6_appli_trailer_t *)(uintptr_t)(address + offset);
    if (trailer->magic == N6_APPLI_TRAILER_MAGIC && trailer->header_crc32 == header_crc32 &&
        trailer->trailer_crc32 == n6_crc32((const uint8_t *)trailer, offsetof(n6_appli_trailer_t, trailer_crc32))) {
        slot.image = trailer->trailer_crc32;
        slot.revision = trailer->revision;
    }
    return slot;
}

static const char *text_of(n6_appli_status_t status)
{
    switch (status) {
    case N6_APPLI_OK:
        return "";
#define TEXT(status, text) \
    case status: \
        return text;
        N6_APPLI_REFUSALS(TEXT)
#undef TEXT
    }
    return "";
}

/* Load an Appli and check its copy in RAM, since the copy will run. Count its start, unless it is the last resort. */
static refusal_t load(slot_t *slot, bool is_last_resort, uint32_t *bytes, uint32_t *entry)
{
    slot->state = OUT;
    refusal_t refusal = {text_of(n6_load_appli_from(slot->address, bytes, entry)), ""};
    if (refusal.why[0] != '\0') {
        return refusal;
    }
#if N6_TRUST
    n6_trust_status_t status = n6_trust_check_appli(&n6_trust_anchor, (const uint8_t *)N6_APPLI_LOAD_ADDRESS, *bytes,
                                                    n6_trust_floor(), n6_trust_revoked());
    if (status != N6_TRUST_OK) {
        return (refusal_t){n6_trust_text(status), "the Appli"};
    }
#endif
    if (is_last_resort) {
        n6_trial_begin_anyway(N6_TRIAL_APPLI, "appli", slot->image);
        return refusal;
    }
    slot->state = HELD;
    refusal.why = n6_trial_begin(N6_TRIAL_APPLI, "appli", slot->image);
    return refusal;
}

/* Return the newest slot in this state, the first of two with equal revisions, or SLOTS. Revisions count up and may wrap. */
static uint32_t newest(const slot_t slots[SLOTS], slot_state_t state)
{
    if (slots[0].state != state || slots[1].state != state) {
        return slots[0].state == state ? 0u : slots[1].state == state ? 1u : SLOTS;
    }
    return (int32_t)(slots[1].revision - slots[0].revision) > 0 ? 1u : 0u;
}

static bool start(slot_t slots[SLOTS], uint32_t number, bool is_last_resort)
{
    uint32_t bytes = 0, entry = 0;
    slot_t *slot = &slots[number];
    const refusal_t refusal = load(slot, is_last_resort, &bytes, &entry);
    if (refusal.why[0] != '\0') {
        N6_LINE(fsbl_refused, .slot = number, .reason = refusal.why, .reason_of = refusal.what);
        return false;
    }
    n6_trial_hand_over(slot->image);
    N6_LINE(fsbl_appli, .bytes = bytes, .entry = entry, .has_slot = true, .slot = number, .revision = slot->revision);
    return true;
}

bool n6_trial_load_appli(void)
{
    slot_t slots[SLOTS] = {read_slot(N6_SLOT_APPLI_ADDRESS), read_slot(N6_TRIAL_APPLI_ADDRESS)};
    const uint32_t images[SLOTS] = {slots[0].image, slots[1].image};
    const bool was_ended = n6_trial_open();
    n6_trial_keep(N6_TRIAL_APPLI, images, SLOTS);
    for (uint32_t number = newest(slots, FREE); number < SLOTS; number = newest(slots, FREE)) {
        if (start(slots, number, false)) {
            return true;
        }
    }
    uint32_t number = newest(slots, HELD);
    if (number < SLOTS && slots[1u - number].state == HELD && was_ended) {
        /* The newer one may be what ended the last start. */
        number = 1u - number;
    }
    for (; number < SLOTS; number = newest(slots, HELD)) {
        if (start(slots, number, true)) {
            return true;
        }
    }
    return false;
}
