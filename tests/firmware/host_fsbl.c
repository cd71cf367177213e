/* SPDX-License-Identifier: Apache-2.0
 *
 * The board that firmware/trial needs, on the host: a NOR whose power fails at any byte, at the addresses of the firmware.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "n6_board_nor.h"
#include "n6_board_slots.h"
#include "n6_boot_header.h"
#include "n6_console.h"
#include "n6_load_appli.h"
#include "n6_nor_write.h"
#include "n6_soc_programs.h"
#include "n6_trial.h"
#include "n6_trial_appli.h"
#include "n6_watchdog.h"

#define MAPPED_BYTES 0x1000000u

static jmp_buf off;
static uint32_t left, used;
static uint32_t loaded_from;
static bool is_protected, is_watched;
static uint32_t cause;
/* A sector that reports an erase, and stays as it is. */
static uint32_t worn;
static char said[4096];

bool host_open(void)
{
    void *wanted = (void *)(uintptr_t)N6_NOR_BASE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    return mmap(wanted, MAPPED_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) == wanted;
}

bool host_close(void)
{
    return munmap((void *)(uintptr_t)N6_NOR_BASE, MAPPED_BYTES) == 0;
}

/* Write a byte. If the power fails in it, the byte is torn: half of its bits keep their value. */
static void put(uint32_t address, uint8_t value)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)address;
    if (used++ == left) {
        *byte = (*byte & 0xF0u) | (value & 0x0Fu);
        longjmp(off, 1);
    }
    *byte = value;
}

bool n6_nor_erase(uint32_t address)
{
    if (is_protected) {
        return false;
    }
    if (address == worn) {
        return true;
    }
    for (uint32_t i = 0; i < N6_NOR_SECTOR_BYTES; i++) {
        put(address + i, 0xFFu);
    }
    return true;
}

bool n6_nor_program(uint32_t address, const void *data, uint32_t bytes)
{
    if (is_protected) {
        return false;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        put(address + i, ((const uint8_t *)data)[i] & *(const uint8_t *)(uintptr_t)(address + i));
    }
    return true;
}

n6_appli_status_t n6_load_appli_from(uint32_t slot, uint32_t *bytes, uint32_t *entry)
{
    const n6_boot_header_t *header = (const n6_boot_header_t *)(uintptr_t)slot;
    uint32_t sum = 0;
    if (header->magic != N6_BOOT_HEADER_MAGIC || header->image_bytes > N6_SLOT_APPLI_BYTES - N6_BOOT_HEADER_BYTES) {
        return N6_APPLI_NO_HEADER;
    }
    for (uint32_t i = 0; i < header->image_bytes; i++) {
        sum += ((const uint8_t *)header)[N6_BOOT_HEADER_BYTES + i];
    }
    *bytes = header->image_bytes + N6_BOOT_HEADER_BYTES;
    *entry = header->entry;
    memcpy((void *)(uintptr_t)N6_APPLI_LOAD_ADDRESS, header, N6_BOOT_HEADER_BYTES);
    loaded_from = slot;
    return sum == header->checksum ? N6_APPLI_OK : N6_APPLI_DAMAGED;
}

void n6_put(const char *text)
{
    strncat(said, text, sizeof said - strlen(said) - 1u);
}

void n6_put_u32(uint32_t value)
{
    (void)value;
}

void n6_put_hex32(uint32_t value)
{
    (void)value;
}

void n6_put_end(void)
{
    n6_put("\n");
}

void n6_watchdog_start(uint32_t milliseconds)
{
    (void)milliseconds;
    is_watched = true;
}

void n6_watchdog_feed(void)
{
}

n6_reset_cause_t n6_watchdog_reset_cause(void)
{
    return (n6_reset_cause_t){.is_watchdog = (cause & 1u) != 0u, .is_program = (cause & 2u) != 0u};
}

bool host_watched(void)
{
    return is_watched;
}

void host_reset_by(uint32_t by)
{
    cause = by;
}

void host_protect(bool on)
{
    is_protected = on;
}

void host_wear(uint32_t address)
{
    worn = address;
}

const char *host_said(void)
{
    return said;
}

uint32_t host_used(void)
{
    return used;
}

/* Start once, with power for so many bytes. Return the address of the slot that the Appli was started from; 0: none can be
 * started; 1: the power failed. */
uint32_t host_boot(uint32_t power)
{
    left = power;
    used = 0;
    said[0] = '\0';
    is_watched = false;
    if (setjmp(off) != 0) {
        return 1u;
    }
    return n6_trial_load_appli() ? loaded_from : 0u;
}

/* Confirm the running Appli. Return false if the power failed. */
bool host_confirm(uint32_t power)
{
    left = power;
    used = 0;
    if (setjmp(off) != 0) {
        return false;
    }
    n6_trial_resume();
    return n6_trial_confirm();
}
