/* SPDX-License-Identifier: Apache-2.0
 *
 * An FSBL that verifies and decrypts two Applis of different length, and prints the cycles that each takes. The Appli's slot holds the first
 * one; the second is DISTANCE bytes behind it.
 */
#include "bearssl_block.h"
#include "n6_board_slots.h"
#include "n6_boot_header.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_fault.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "n6_trust.h"
#include "n6_xspi_nor.h"

const char n6_program[] = "fsbl";

static uint32_t decrypted(uint32_t bytes)
{
    static const uint8_t key[32], nonce[12];
    br_aes_ct_ctr_keys stream;
    N6_REG32(N6_DWT_CYCCNT) = 0u;
    br_aes_ct_ctr_init(&stream, key, sizeof key);
    br_aes_ct_ctr_run(&stream, nonce, 0u, (void *)N6_APPLI_LOAD_ADDRESS, bytes);
    return N6_REG32(N6_DWT_CYCCNT);
}

static void measure(uint32_t source)
{
    uint32_t bytes = ((const n6_boot_header_t *)source)->image_bytes + N6_BOOT_HEADER_BYTES;
    for (uint32_t offset = 0; offset < bytes; offset += 4u) {
        N6_REG32(N6_APPLI_LOAD_ADDRESS + offset) = N6_REG32(source + offset);
    }
    N6_REG32(N6_DWT_CYCCNT) = 0u;
    n6_trust_status_t status = n6_trust_check_appli(&n6_trust_anchor, (const uint8_t *)N6_APPLI_LOAD_ADDRESS, bytes, 0u, 0u);
    uint32_t cycles = N6_REG32(N6_DWT_CYCCNT);
    n6_put("cost bytes=");
    n6_put_u32(bytes);
    n6_put(" cycles=");
    n6_put_u32(cycles);
    n6_put(" decrypt=");
    n6_put_u32(decrypted(bytes));
    n6_put(status == N6_TRUST_OK ? " ok" : " refused");
    n6_put_end();
}

int main(void)
{
    uint32_t id;
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_clock_start();
    (void)n6_xspi_nor_open(&id);
    n6_caches_enable();
    N6_REG32(N6_DCB_DEMCR) |= N6_DCB_DEMCR_TRCENA;
    N6_REG32(N6_DWT_CTRL) |= N6_DWT_CTRL_CYCCNTENA;
    measure(N6_SLOT_APPLI_ADDRESS);
    measure(N6_SLOT_APPLI_ADDRESS + DISTANCE);
    n6_put("n6 fsbl error N6-FW-000 measured");
    n6_put_end();
    n6_sleep_for_ever();
}
