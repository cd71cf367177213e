/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the parts of the virtual STM32N6 board tell each other. Names and addresses come from the generated n6_soc.h, the
 * same header that the firmware is compiled with.
 */
#ifndef N6VIRT_H
#define N6VIRT_H

#include "qemu/osdep.h"
#include "exec/memory.h"
#include "qom/object.h"

#include "n6_soc.h"
#include "n6virt_chip.h"

/* Findings: what the board objects to, one JSON line each in a file. The same kind at the same instruction is counted and
 * written once. */

void n6virt_findings_open(const char *path);
/* kind: a fixed word. address: that was touched. pc is added. */
void n6virt_finding(const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(3, 4);
void n6virt_finding_at(uint32_t pc, const char *kind, uint64_t address, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* The line that ends the file. */
void n6virt_findings_close(const char *summary_fields);
/* Program counter of the instruction that is accessing a device; 0 outside of one. */
uint32_t n6virt_pc(void);

/* Registers: a store for all peripherals, by secure address; what is not modelled keeps what is written to it. */

uint32_t n6virt_get(uint32_t address);
void n6virt_set(uint32_t address, uint32_t value);
static inline bool n6virt_has(uint32_t address, uint32_t bits)
{
    return (n6virt_get(address) & bits) == bits;
}

/* Pins */

typedef struct {
    char letter;
    uint32_t base;
    uint32_t enable; /* bit of RCC AHB4ENR */
} N6VirtPort;

extern const N6VirtPort n6virt_ports[];
extern const unsigned n6virt_port_count;

/* XSPI2 and the NOR behind it */

/* The part that the board has, and the pins that it is on: properties of the machine. Opcodes are those of single-line mode. */
typedef struct {
    uint32_t jedec_id;
    uint32_t memory_type;    /* DCR1 MTYP, with which bytes arrive in their order */
    uint32_t second_byte;    /* of a command on eight lines: exclusive or with the opcode, 0xff or 0 */
    uint32_t read, read_str, read_dtr;
    uint32_t write_register, read_register;
    uint32_t mode_address, mode_spi, mode_str, mode_dtr;
    uint32_t dummy_address;
    char *dummy_cycles;      /* 20/18/16: by the value of the register */
    uint32_t port, pins, alternate;
} N6VirtNor;

extern N6VirtNor n6virt_nor;
void n6virt_nor_add_properties(Object *machine);
/* After an RCC reset of the controller. */
void n6virt_xspi_reset(void);
uint32_t n6virt_xspi_read(uint32_t offset, unsigned size);
void n6virt_xspi_write(uint32_t offset, uint32_t value, unsigned size);

/* Ends the emulator as a limit does. why: for the summary. */
void n6virt_end(const char *why);

bool n6virt_is_npu(uint32_t address);
uint32_t n6virt_npu_read(uint32_t address);
void n6virt_npu_write(uint32_t address, uint32_t value);

typedef enum {
    N6VIRT_WINDOW_CLOSED, /* reads fault */
    N6VIRT_WINDOW_WRONG,  /* mapped, but not as the part is set: reads give ones */
    N6VIRT_WINDOW_SWAPPED, /* mapped, but the two bytes of each half-word change places */
    N6VIRT_WINDOW_OPEN,
} N6VirtWindow;

/* reason: why the window is not open. */
N6VirtWindow n6virt_xspi_window(const char **reason);

/* XSPI1 and the PSRAM behind it, if the board has one */

void n6virt_psram_add_properties(Object *machine);
/* The part and its window, when the properties are set. */
void n6virt_psram_add(Object *owner);
/* After an RCC reset of the controller. */
void n6virt_psram_reset_controller(void);
uint32_t n6virt_psram_read(uint32_t offset, unsigned size);
void n6virt_psram_write(uint32_t offset, uint32_t value, unsigned size);
/* Opens or closes the window, after any register was written. */
void n6virt_psram_update(void);
bool n6virt_psram_uses_port(uint32_t port);
/* The CPU has cleaned the cache line of this address. */
void n6virt_psram_clean(uint32_t address);
/* For each line of the PSRAM whether it was cleaned; lines: how many. */
const uint8_t *n6virt_psram_cleaned(uint32_t *lines);

#endif
