/* SPDX-License-Identifier: Apache-2.0
 *
 * MCUboot in place of the FSBL's own loader: it chooses, verifies and copies the Appli, and the FSBL's main starts it.
 */
#include <string.h>

#include "bootutil/bootutil.h"
#include "bootutil/image.h"
#include "bootutil/sign_key.h"
#include "flash_map_backend/flash_map_backend.h"
#include "n6_load_appli.h"
#include "n6_mcuboot_key.h"
#include "n6_soc_programs.h"

static const struct flash_area areas[] = {{0, N6_MCUBOOT_SLOT, N6_APPLI_LOAD_BYTES},
                                          {1, N6_MCUBOOT_SLOT + N6_APPLI_LOAD_BYTES, N6_APPLI_LOAD_BYTES}};

static const unsigned int key_bytes = sizeof n6_mcuboot_key;
const struct bootutil_key bootutil_keys[] = {{n6_mcuboot_key, &key_bytes}};
const int bootutil_key_cnt = 1;

int flash_area_open(uint8_t number, const struct flash_area **area)
{
    if (number >= sizeof areas / sizeof areas[0]) {
        return -1;
    }
    *area = &areas[number];
    return 0;
}

void flash_area_close(const struct flash_area *area)
{
    (void)area;
}

int flash_area_read(const struct flash_area *area, uint32_t offset, void *to, uint32_t bytes)
{
    if (offset > area->bytes || bytes > area->bytes - offset) {
        return -1;
    }
    memcpy(to, (const void *)(uintptr_t)(area->address + offset), bytes);
    return 0;
}

int flash_area_write(const struct flash_area *area, uint32_t offset, const void *from, uint32_t bytes)
{
    (void)area, (void)offset, (void)from, (void)bytes;
    return -1;
}

/* An image that is refused is erased in a product; here it stays. */
int flash_area_erase(const struct flash_area *area, uint32_t offset, uint32_t bytes)
{
    (void)area, (void)offset, (void)bytes;
    return 0;
}

uint32_t flash_area_align(const struct flash_area *area)
{
    (void)area;
    return 1;
}

uint8_t flash_area_erased_val(const struct flash_area *area)
{
    (void)area;
    return 0xFF;
}

#define SECTOR_BYTES 0x10000u

int flash_area_get_sectors(int number, uint32_t *count, struct flash_sector *sectors)
{
    uint32_t needed = areas[number].bytes / SECTOR_BYTES;
    if (needed > *count) {
        return -1;
    }
    for (uint32_t i = 0; i < needed; i++) {
        sectors[i] = (struct flash_sector){i * SECTOR_BYTES, SECTOR_BYTES};
    }
    *count = needed;
    return 0;
}

int flash_area_get_sector(const struct flash_area *area, uint32_t offset, struct flash_sector *sector)
{
    (void)area;
    *sector = (struct flash_sector){offset / SECTOR_BYTES * SECTOR_BYTES, SECTOR_BYTES};
    return 0;
}

int flash_area_id_from_image_slot(int slot)
{
    return slot;
}

int flash_area_id_from_multi_image_slot(int image, int slot)
{
    (void)image;
    return slot;
}

/* Memory of malloc(), which MCUboot calls for its list of sectors. */
void *_sbrk(int more)
{
    static uint64_t memory[1024];
    static uint32_t used;
    if (more < 0 || (uint32_t)more > sizeof memory - used) {
        return (void *)-1;
    }
    used += (uint32_t)more;
    return (uint8_t *)memory + used - more;
}

n6_appli_status_t n6_load_appli(uint32_t *bytes, uint32_t *entry)
{
    struct boot_rsp chosen;
    if (FIH_NOT_EQ(boot_go(&chosen), FIH_SUCCESS) || chosen.br_hdr->ih_load_addr != N6_APPLI_LOAD_ADDRESS ||
        chosen.br_hdr->ih_hdr_size != N6_APPLI_PAYLOAD_ADDRESS - N6_APPLI_LOAD_ADDRESS) {
        return N6_APPLI_NO_HEADER;
    }
    *bytes = chosen.br_hdr->ih_hdr_size + chosen.br_hdr->ih_img_size;
    *entry = ((const uint32_t *)N6_APPLI_PAYLOAD_ADDRESS)[1];
    return N6_APPLI_OK;
}
