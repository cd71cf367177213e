/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Interfaces between the files of the NOR behind XSPI2: n6virt_nor.c has the commands, n6virt_nor_array.c the content and the
 * properties of the part, n6virt_nor_window.c the memory-mapped window.
 */
#ifndef N6VIRT_NOR_H
#define N6VIRT_NOR_H

#include "n6virt.h"

#define N6VIRT_LINES_OF(register_value, name) (((register_value) & N6_XSPI_CCR_##name) >> N6_XSPI_CCR_##name##_POS)
#define N6VIRT_NOR_MAX_PAGE 1024u
#define N6VIRT_NOR_MAX_SFDP 1024u

/* The board's part: opcodes are those of single-line mode, times are in microseconds, rates in Hz. */
typedef struct {
    uint32_t jedec_id, configuration;
    uint32_t memory_type; /* DCR1 MTYP with which bytes arrive in their order */
    uint32_t second_byte; /* of a command on eight lines: the opcode XOR this, 0xff or 0 */
    uint32_t read, read_str, read_dtr;
    uint32_t program, erase_4k, erase_64k, page;
    uint32_t write_register, read_register;
    uint32_t mode_address, mode_spi, mode_str, mode_dtr;
    uint32_t dummy_address;
    char *dummy_cycles, *max_hz; /* such as 20/18/16, by the value of the register */
    uint32_t read_max_hz, spi_max_hz;
    uint32_t former_mode_us; /* time in which the former mode still gives the status */
    uint32_t reset_us, program_us, erase_4k_us, erase_64k_us, erase_mib_us;
    char *sfdp; /* hexadecimal */
    uint32_t port, pins, alternate, chip_select;
    char *path;
    bool keeps;
    uint32_t cut; /* write of the array, from 1, in whose middle the power fails; 0: none */
} N6VirtNor;

extern N6VirtNor n6virt_nor;

/* The content; data is NULL without a NOR. */
typedef struct {
    MemoryRegion region;
    uint8_t *data;
    uint32_t bytes;
    uint8_t sfdp[N6VIRT_NOR_MAX_SFDP];
    unsigned sfdp_bytes;
} N6VirtNorArray;

extern N6VirtNorArray n6virt_nor_array;

/* Store bytes, whatever was there before; with nor-write=on also in the file. */
void n6virt_nor_store(uint32_t offset, const uint8_t *data, uint32_t bytes);

/* Read the content from the file that the property names. */
void n6virt_nor_load(void);

/* Return the reason why a read of the window would not reach the array, or NULL. */
const char *n6virt_nor_mismatch(void);
/* Return whether the two bytes of each half-word change places: at both edges they may come in another order than the
 * controller expects. */
bool n6virt_nor_is_swapped(void);
/* Report pads that are set for the wrong voltage, once. */
void n6virt_nor_check_range(void);

#endif
