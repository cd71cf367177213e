/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_field.h"

#include <stddef.h>
#include <string.h>

#include "n6_console_lines.h"
#include "n6_crc32.h"
#include "n6_field_registers.h"
#include "n6_reg.h"
#include "n6_soc_system.h"
#include "n6_startup.h"
#include "n6_try.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* The time limit for one access, which the bus may never answer. */
#define PATIENCE_MS 100u

static uint32_t captured[COUNT(n6_field_entry)];

typedef struct {
    const n6_field_register_t *what;
    uint32_t value;
} reading_t;

static uint32_t read(const n6_field_register_t *what)
{
    if (what->selector != 0u) {
        N6_REG32(what->selector) = what->selected;
        n6_barrier();
    }
    return N6_REG32(what->address);
}

static void try_to_read(void *argument)
{
    reading_t *reading = argument;
    reading->value = read(reading->what);
    /* A late fault of this access must still belong to this trial. */
    n6_barrier();
}

/* Print a register. value: NULL if the read failed. The checksum at the end reveals characters changed by noise on the line. */
static void put(uint32_t moment, const char *name, uint32_t address, const uint32_t *value)
{
    const uint32_t check = n6_crc32((const uint8_t *)name, (uint32_t)strlen(name)) ^ address;
    if (value != NULL) {
        N6_LINE(field, .moment = moment, .name = name, .address = address, .value = *value, .check = check ^ ~*value);
    } else {
        N6_LINE(field_fault, .moment = moment, .name = name, .address = address, .check = check);
    }
}

static void put_read(uint32_t moment, const n6_field_register_t *registers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        reading_t reading = {&registers[i], 0u};
        bool is_read = n6_try(try_to_read, &reading, PATIENCE_MS);
        put(moment, registers[i].name, registers[i].address, is_read ? &reading.value : NULL);
    }
}

void n6_field_capture(void)
{
    for (size_t i = 0; i < COUNT(n6_field_entry); i++) {
        captured[i] = read(&n6_field_entry[i]);
    }
}

void n6_field_put_entry(void)
{
    static const char *const names[N6_STARTUP_STACK_WORDS] = {"CPU.MSP", "CPU.MSPLIM", "CPU.CONTROL"};
    for (size_t i = 0; i < N6_STARTUP_STACK_WORDS; i++) {
        put(N6_LINE_FIELD_ENTRY, names[i], 0u, &n6_startup_stack[i]);
    }
    const uint32_t own_stack = (uint32_t)(uintptr_t)n6_vectors[0];
    put(N6_LINE_FIELD_ENTRY, "CPU.VECTOR0", 0u, &own_stack);
    for (size_t i = 0; i < COUNT(n6_field_entry); i++) {
        put(N6_LINE_FIELD_ENTRY, n6_field_entry[i].name, n6_field_entry[i].address, &captured[i]);
    }
}

void n6_field_put_fsbl(void)
{
    /* Registers of fuses and supply are not accessible without a clock. */
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_BSECEN);
    n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, N6_RCC_AHB4ENR_PWREN);
    put_read(N6_LINE_FIELD_FSBL, n6_field_fsbl, COUNT(n6_field_fsbl));
}

void n6_field_put_appli(void)
{
    put_read(N6_LINE_FIELD_APPLI, n6_field_appli, COUNT(n6_field_appli));
}
