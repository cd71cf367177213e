/* SPDX-License-Identifier: Apache-2.0
 *
 * The description of the NOR beside a flash algorithm, as debuggers look for it in a CMSIS pack: symbol FlashDevice in section
 * DevDscr. Its layout is that of version 1.01. The compiler's command gives N6_FLASH_NAME, sizes of a sector and of the pages that
 * a debugger passes, and the longest time of each.
 */
#include "n6_board_nor.h"

#include <stdint.h>

enum { EXTERNAL_SPI = 5 };

struct flash_sectors {
    uint32_t bytes;
    uint32_t offset;
};

struct flash_device {
    uint16_t version;
    char name[128];
    uint16_t type;
    uint32_t address;
    uint32_t bytes;
    uint32_t page_bytes;
    uint32_t reserved;
    uint8_t erased;
    uint32_t program_ms;
    uint32_t erase_ms;
    struct flash_sectors sectors[2];
};

_Static_assert(sizeof(struct flash_device) == 160u + 2u * sizeof(struct flash_sectors), "debuggers expect this layout");

extern const struct flash_device FlashDevice;
/* All sectors have one size; the second entry is the end. */
const struct flash_device FlashDevice __attribute__((section("DevDscr"), used)) = {
    .version = 0x0101u,
    .name = N6_FLASH_NAME,
    .type = EXTERNAL_SPI,
    .address = N6_NOR_BASE,
    .bytes = N6_NOR_BYTES,
    .page_bytes = N6_FLASH_PAGE,
    .erased = 0xFFu,
    .program_ms = N6_FLASH_PROGRAM_MS,
    .erase_ms = N6_FLASH_ERASE_MS,
    .sectors = {{N6_FLASH_SECTOR, 0u}, {0xFFFFFFFFu, 0xFFFFFFFFu}},
};
