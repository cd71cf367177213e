/* SPDX-License-Identifier: Apache-2.0
 *
 * The first stage boot loader. It makes the NOR readable, copies the Appli to RAM and starts it.
 */
#include "n6_board_clock.h"
#include "n6_board_nor.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_console_lines.h"
#include "n6_fault.h"
#if N6_FIELD_REPORT
#include "n6_field.h"
#endif
#include "n6_load_appli.h"
#if N6_TRUST_ADVANCE
#include "n6_boot_header.h"
#include "n6_trust_fuses.h"
#endif
#if N6_RECOVERY
#include "n6_recovery.h"
#endif
#include "n6_soc_programs.h"
#if N6_TRIAL_APPLI_ADDRESS
#include "n6_trial.h"
#include "n6_trial_appli.h"
#elif N6_TRUST
#include "n6_trust.h"
#include "n6_trust_fuses.h"
#endif
#include "n6_xspi_nor.h"

const char n6_program[] = "fsbl";

static _Noreturn void stop(const char *id_and_text)
{
    N6_LINE(error, .program = N6_LINE_ERROR_FSBL, .reason = id_and_text);
    n6_sleep_for_ever();
}

static void open_nor(void)
{
    uint32_t jedec_id = 0;
    n6_nor_status_t status = n6_xspi_nor_open(&jedec_id);
    const bool is_fast = n6_xspi_nor_is_fast();
    N6_LINE(fsbl_nor, .id = jedec_id, .mode = N6_NOR_MODE_NAME, .has_expected = jedec_id != N6_NOR_JEDEC_ID,
            .expected = N6_NOR_JEDEC_ID, .clock = is_fast ? N6_NOR_FAST_HZ : N6_NOR_SLOW_HZ,
            .slow_pads = !is_fast && N6_NOR_FAST_HZ != N6_NOR_SLOW_HZ);
    switch (status) {
    case N6_NOR_OK:
        return;
    case N6_NOR_NO_CLOCK:
        stop("N6-FW-005 PLL1 does not lock: try clock=hsi-only");
    case N6_NOR_BUSY:
        stop("N6-FW-001 XSPI2 stays busy: check kernel clock and supply of the pads (VDDIO3)");
    case N6_NOR_SILENT:
        stop("N6-FW-002 the NOR does not answer: check pins and supply; a reset may not have ended its mode");
    case N6_NOR_NOT_OCTAL:
        stop("N6-FW-003 the NOR did not switch to octal DTR: try nor.mode spi in board.yaml");
    }
}

#if N6_TRUST_ADVANCE
/* Retire all older releases, once this one is confirmed. A chip that refuses it runs the release all the same. */
static void advance(void)
{
#if N6_TRIAL_APPLI_ADDRESS
    const bool is_confirmed = n6_trial_is_confirmed();
#else
    const bool is_confirmed = true;
#endif
    const uint32_t counter = ((const n6_boot_header_t *)N6_APPLI_LOAD_ADDRESS)->image_version, floor = n6_trust_floor();
    if (!is_confirmed || counter <= floor) {
        return;
    }
    if (n6_trust_advance(counter)) {
        N6_LINE(fsbl_counter, .before = floor, .after = counter);
    } else {
        N6_LINE(fsbl_counter_kept, .reason = "N6-FW-099 the fuses of the security counter cannot be programmed");
    }
}
#endif

/* End without an Appli, after the line that names the reason. */
static _Noreturn void give_up(void)
{
#if N6_RECOVERY
    n6_recovery_serve(false);
#else
    n6_sleep_for_ever();
#endif
}

static _Noreturn void give_up_for(const char *id_and_text)
{
    N6_LINE(error, .program = N6_LINE_ERROR_FSBL, .reason = id_and_text);
    give_up();
}

#if N6_TRIAL_APPLI_ADDRESS
static void load(void)
{
    if (!n6_trial_load_appli()) {
        give_up_for("N6-FW-085 no slot has a working Appli");
    }
}
#else
#if N6_TRUST
/* Verify the copy in RAM, since the copy will run. Nothing of it is used before. */
static void verify(uint32_t bytes)
{
    const uint8_t *copy = (const uint8_t *)N6_APPLI_LOAD_ADDRESS;
    n6_trust_status_t status = n6_trust_check_appli(&n6_trust_anchor, copy, bytes, n6_trust_floor(), n6_trust_revoked());
    if (status != N6_TRUST_OK) {
        N6_LINE(error, .program = N6_LINE_ERROR_FSBL, .reason = n6_trust_text(status), .reason_of = "the Appli");
        give_up();
    }
}
#endif

static void load(void)
{
    uint32_t bytes = 0;
    uint32_t entry = 0;
    switch (n6_load_appli(&bytes, &entry)) {
    case N6_APPLI_OK:
#if N6_TRUST
        verify(bytes);
#endif
        N6_LINE(fsbl_appli, .bytes = bytes, .entry = entry);
        return;
#define STOP(status, text) \
    case status: \
        give_up_for(text);
        N6_APPLI_REFUSALS(STOP)
#undef STOP
    }
}
#endif

int main(void)
{
#if N6_FIELD_REPORT
    n6_field_capture();
#endif
    bool clocked = n6_clock_use_hsi();
    n6_console_open();
    N6_LINE(fsbl_start, .board = N6_BOARD_NAME);
    if (!clocked) {
        stop("N6-FW-004 the clocks do not switch to the internal oscillator");
    }
    if (!n6_clock_start()) {
        stop("N6-FW-006 a PLL of the clock profile does not lock: try clock=hsi");
    }
#if N6_FIELD_REPORT
    n6_field_put_entry();
    n6_field_put_fsbl();
#endif
    /* Open the NOR while the CPU is slow: its reset takes the same time at any clock. Its kernel clock does not change with the
     * clocks of CPU and buses, and nothing reads the NOR while these change. */
    open_nor();
    if (!n6_clock_switch()) {
        stop("N6-FW-006 the clocks do not switch to the PLLs: try clock=hsi");
    }
    /* With caches the NOR is read by lines, not by words. */
    n6_caches_enable();
#if N6_RECOVERY
    if (n6_recovery_is_held()) {
        n6_recovery_serve(true);
    }
#endif
    load();
#if N6_TRUST_ADVANCE
    advance();
#endif
    n6_start_appli();
}
