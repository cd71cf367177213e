/* SPDX-License-Identifier: Apache-2.0
 *
 * A flash algorithm for debuggers: the NOR behind the functions that CMSIS packs name. It runs in RAM on a halted board, and
 * needs no other program there. The window stays mapped behind it, so that a debugger can read the NOR.
 */
#include "n6_clock.h"
#include "n6_nor_write.h"
#include "n6_xspi_nor.h"

#include <stdint.h>

int Init(uint32_t address, uint32_t clock, uint32_t purpose);
int UnInit(uint32_t purpose);
int EraseSector(uint32_t address);
int ProgramPage(uint32_t address, uint32_t bytes, const uint8_t *data);
uint32_t Verify(uint32_t address, uint32_t bytes, const uint8_t *data);

/* A debugger may read which part answered, also if Init fails: 0 for none. */
uint32_t n6_flash_jedec_id;

int Init(uint32_t address, uint32_t clock, uint32_t purpose)
{
    (void)address;
    (void)clock;
    (void)purpose;
    /* Delays depend on the clock of the CPU, which an earlier program may have changed. */
    return n6_clock_use_hsi() ? (int)n6_xspi_nor_open(&n6_flash_jedec_id) : 1;
}

int UnInit(uint32_t purpose)
{
    (void)purpose;
    return 0;
}

/* A sector has N6_NOR_SECTOR_BYTES. */
int EraseSector(uint32_t address)
{
    return n6_nor_erase(address) ? 0 : 1;
}

/* The compiler's command gives N6_NOR_PAGE, the bytes that the part programs at once. */
int ProgramPage(uint32_t address, uint32_t bytes, const uint8_t *data)
{
    for (uint32_t done = 0u, part; done < bytes; done += part) {
        part = N6_NOR_PAGE - (address + done) % N6_NOR_PAGE;
        part = part < bytes - done ? part : bytes - done;
        if (!n6_nor_program(address + done, data + done, part)) {
            return 1;
        }
    }
    return 0;
}

/* The address behind the bytes if all are the same, else that of the first other one, as in CMSIS packs. */
uint32_t Verify(uint32_t address, uint32_t bytes, const uint8_t *data)
{
    const uint8_t *held = (const uint8_t *)address;
    uint32_t done = 0u;
    while (done < bytes && held[done] == data[done]) {
        done++;
    }
    return address + done;
}
