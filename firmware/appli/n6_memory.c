/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the networks. The order of the steps is that of ST's applications.
 */
#include "n6_memory.h"

#include <stddef.h>

#include "n6_axisram.h"
#include "n6_cache.h"
#include "n6_crc32.h"
#if N6_ENCRYPTION
#include "n6_decrypt.h"
#endif
#include "n6_inference.h"
#include "n6_npu.h"
#if N6_RUNTIME_DRIVES_NPU
#include "n6_st_runtime.h"
#endif
#include "n6_reg.h"
#include "n6_slot.h"

static const n6_network_result_t well = {"", ""};

static bool is_well(n6_network_result_t result)
{
    return result.why[0] == '\0';
}

static n6_network_result_t power_banks(void)
{
    for (uint32_t i = 0; i < n6_plan_bank_count; i++) {
        const n6_plan_bank_t *bank = &n6_plan_banks[i];
        if (!n6_axisram_enable(bank->rcc_enable_mask, bank->ramcfg_cr, bank->first_word, bank->last_word)) {
            return (n6_network_result_t){"N6-FW-024 does not keep written data: ", bank->name};
        }
    }
    return well;
}

static n6_network_result_t map_external_ram(const n6_memory_observer_t *observer)
{
    if (n6_plan_open_external_ram == NULL) {
        return well;
    }
    uint32_t id = 0;
    n6_psram_status_t status = n6_plan_open_external_ram(&id);
    if (observer->on_external_ram != NULL) {
        observer->on_external_ram(id, status == N6_PSRAM_OK);
    }
    return (n6_network_result_t){n6_xspi_psram_text(status), ""};
}

static n6_network_result_t open_npu(void)
{
    if (!n6_npu_enable()) {
        return (n6_network_result_t){"N6-FW-027 stays busy: ", "CACHEAXI"};
    }
    n6_npu_open_rif();
#if N6_RUNTIME_DRIVES_NPU
    n6_st_runtime_open();
#endif
    return well;
}

static void copy(const n6_plan_image_t *image)
{
    /* Copy whole words: flash slots and memory pools are longer than their data, at least by the trailer. */
    for (uint32_t offset = 0; offset < image->bytes; offset += 4u) {
        N6_REG32(image->destination + offset) = N6_REG32(image->source + offset);
    }
    /* Write the lines to memory for the NPU, and invalidate them, so that the check below reads memory too. */
    n6_dcache_clean_invalidate(image->destination, image->bytes);
}

#if N6_ENCRYPTION
/* Decrypt the copy of an image, which the network will read. */
static n6_decrypt_status_t decrypt(const n6_plan_image_t *image, const n6_encryption_t *record)
{
    if (image->destination == image->source) {
        return N6_DECRYPT_OK;
    }
    n6_decrypt_status_t status = n6_decrypt((void *)(uintptr_t)image->destination, image->bytes, record);
    n6_dcache_clean_invalidate(image->destination, image->bytes);
    return status;
}
#endif

static n6_network_result_t place_weights(const n6_memory_observer_t *observer)
{
    for (uint32_t i = 0; i < n6_plan_image_count; i++) {
        const n6_plan_image_t *image = &n6_plan_images[i];
        uint32_t crc32;
        n6_slot_status_t status = n6_slot_check(image->source, image->bytes, image->signature, &crc32);
        if (status != N6_SLOT_OK) {
            return (n6_network_result_t){n6_slot_text(status), image->pool};
        }
        if (image->destination != image->source) {
            copy(image);
            if (n6_crc32((const uint8_t *)(uintptr_t)image->destination, image->bytes) != crc32) {
                return (n6_network_result_t){"N6-FW-025 differs from flash after copying: ", image->pool};
            }
        }
#if N6_TRUST
        n6_trust_part_t behind = {NULL, 0u};
#if N6_ENCRYPTION
        /* Read once: flash may return other data at a second read. */
        const n6_encryption_t record = n6_slot_encryption(image->source, image->bytes);
        behind = (n6_trust_part_t){&record, sizeof record};
#endif
        const char *refused =
            n6_slot_verify(image->source, image->destination, image->bytes, image->signature, behind, image->subject);
        if (refused[0] != '\0') {
            return (n6_network_result_t){refused, image->pool};
        }
#endif
#if N6_ENCRYPTION
        /* The release has the digest of the encrypted bytes. */
        const n6_decrypt_status_t read = decrypt(image, &record);
        if (read != N6_DECRYPT_OK) {
            return (n6_network_result_t){n6_decrypt_text(read), image->pool};
        }
#endif
        if (observer->on_image != NULL) {
            observer->on_image(image, crc32);
        }
    }
    return well;
}

n6_network_result_t n6_memory_open(const n6_memory_observer_t *observer)
{
    n6_network_result_t result = power_banks();
    if (is_well(result)) {
        result = map_external_ram(observer);
    }
    if (is_well(result)) {
        result = open_npu();
    }
    if (is_well(result)) {
        result = place_weights(observer);
    }
    if (is_well(result)) {
        n6_inference_open();
    }
    return result;
}
