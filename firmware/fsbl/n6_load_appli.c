/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_load_appli.h"

#include <stddef.h>

#include "n6_board_slots.h"
#include "n6_boot_header.h"
#include "n6_cache.h"
#include "n6_reg.h"
#include "n6_soc_cpu.h"
#include "n6_soc_interrupts.h"
#include "n6_soc_programs.h"
#if N6_TRUST
#include "n6_console_lines.h"
#include "n6_fault.h"
#include "n6_trust.h"
#include "n6_trust_fuses.h"
#endif

#define WORD_OF(member) word_at(slot, offsetof(n6_boot_header_t, member))

#define MAXIMUM_BYTES (N6_SLOT_APPLI_BYTES < N6_APPLI_LOAD_BYTES ? N6_SLOT_APPLI_BYTES : N6_APPLI_LOAD_BYTES)

static uint32_t word_at(uint32_t slot, uint32_t offset)
{
    return N6_REG32(slot + offset);
}

static uint32_t sum_of_bytes(uint32_t address, uint32_t bytes)
{
    const uint8_t *data = (const uint8_t *)(uintptr_t)address;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        sum += data[i];
    }
    return sum;
}

#if N6_TRUST
/* MAIR: write-back, allocated on reads and writes, as this RAM is without the MPU. */
#define WRITE_BACK 0xFFu
/* Access rights of the MPU: read-only, for privileged code. */
#define READ_ONLY 2u

/* Make the Appli's RAM execute-never until it is verified. A skipped PUSH or ADD SP makes a function return to a word of its
 * caller's data, such as the entry of the Appli. */
static void forbid_execution(void)
{
    N6_REG32(N6_MPU_MAIR0) = WRITE_BACK;
    N6_REG32(N6_MPU_RNR) = 0u;
    N6_REG32(N6_MPU_RBAR) = N6_APPLI_LOAD_ADDRESS | N6_MPU_RBAR_XN;
    N6_REG32(N6_MPU_RLAR) = ((N6_APPLI_LOAD_ADDRESS + N6_APPLI_LOAD_BYTES - 1u) & ~31u) | N6_MPU_RLAR_EN;
    N6_REG32(N6_MPU_CTRL) = N6_MPU_CTRL_ENABLE | N6_MPU_CTRL_PRIVDEFENA;
    n6_barrier();
}

extern uint8_t n6_stack_top[];

/* The copy of an Appli writes its words, which an attacker chooses, to addresses that a glitch can alter, and to more of them if
 * the check of its length is skipped. Meanwhile code, data and stack of the FSBL are read-only, so the copy needs registers only. */
static void protect_fsbl(bool is_protected)
{
    N6_REG32(N6_MPU_RNR) = 1u;
    N6_REG32(N6_MPU_RBAR) = N6_BOOT_PAYLOAD_ADDRESS | N6_FIELD(N6_MPU_RBAR_AP, READ_ONLY);
    N6_REG32(N6_MPU_RLAR) = is_protected ? (((uint32_t)(uintptr_t)n6_stack_top - 1u) & ~31u) | N6_MPU_RLAR_EN : 0u;
    N6_REG32(N6_MPU_RNR) = 0u;
    n6_barrier();
}
#endif

static void copy(uint32_t slot, uint32_t bytes)
{
#if N6_TRUST
    protect_fsbl(true);
#endif
    for (uint32_t offset = 0; offset < bytes; offset += 4u) {
        N6_REG32(N6_APPLI_LOAD_ADDRESS + offset) = word_at(slot, offset);
    }
#if N6_TRUST
    protect_fsbl(false);
#endif
}

#if N6_ENCRYPTION
static n6_decrypt_status_t decrypt(uint32_t bytes)
{
    const n6_encryption_t record = *(const n6_encryption_t *)(N6_APPLI_LOAD_ADDRESS + N6_ENCRYPTION_APPLI_OFFSET);
    return n6_decrypt((void *)(N6_APPLI_LOAD_ADDRESS + N6_ENCRYPTION_APPLI_START), bytes, &record);
}
#endif

#if N6_TRIAL_APPLI_ADDRESS
n6_appli_status_t n6_load_appli_from(uint32_t slot, uint32_t *bytes, uint32_t *entry)
#else
n6_appli_status_t n6_load_appli(uint32_t *bytes, uint32_t *entry)
#endif
{
#if !N6_TRIAL_APPLI_ADDRESS
    const uint32_t slot = N6_SLOT_APPLI_ADDRESS;
#endif
#if N6_TRUST
    forbid_execution();
#endif
    if (WORD_OF(magic) == 0xFFFFFFFFu) {
        return N6_APPLI_ERASED;
    }
    if (WORD_OF(magic) != N6_BOOT_HEADER_MAGIC ||
        (WORD_OF(version) != N6_BOOT_HEADER_VERSION && WORD_OF(version) != N6_BOOT_HEADER_VERSION_2_1)) {
        return N6_APPLI_NO_HEADER;
    }
    uint32_t length = WORD_OF(image_bytes);
    if (length > MAXIMUM_BYTES - N6_BOOT_HEADER_BYTES) {
        return N6_APPLI_TOO_LONG;
    }
    if (length < N6_APPLI_PAYLOAD_OFFSET - N6_BOOT_HEADER_BYTES + N6_VECTOR_BYTES) {
        return N6_APPLI_TOO_SHORT;
    }
    *bytes = length + N6_BOOT_HEADER_BYTES;
    *entry = WORD_OF(entry);
    copy(slot, *bytes);
    /* Check the copy in RAM, since the copy will run. */
    if (sum_of_bytes(N6_APPLI_LOAD_ADDRESS + N6_BOOT_HEADER_BYTES, length) != WORD_OF(checksum)) {
        return N6_APPLI_DAMAGED;
    }
#if N6_ENCRYPTION
    /* The copy is decrypted and then verified: the signature is of the bytes that run. */
    switch (decrypt(length)) {
    case N6_DECRYPT_OK:
        break;
    case N6_DECRYPT_NO_KEY:
        return N6_APPLI_NO_KEY;
    case N6_DECRYPT_OTHER_KEY:
        return N6_APPLI_OTHER_KEY;
    }
#endif
    bool inside = *entry > N6_APPLI_PAYLOAD_ADDRESS && *entry < N6_APPLI_LOAD_ADDRESS + *bytes;
    bool thumb = (*entry & 1u) != 0u;
    return inside && thumb && *entry == N6_REG32(N6_APPLI_PAYLOAD_ADDRESS + 4u) ? N6_APPLI_OK : N6_APPLI_BAD_ENTRY;
}

#if N6_TRUST
/* Code that starts an Appli does not rely on its caller: a skipped instruction can fall through to here. */
static void check_again(void)
{
    const uint8_t *copy = (const uint8_t *)N6_APPLI_LOAD_ADDRESS;
    const uint32_t counted = n6_trust_fuses(N6_TRUST_FLOOR_WORD), revoked = n6_trust_fuses(N6_TRUST_REVOKED_WORD);
    if (n6_trust_check_again(&n6_trust_anchor, copy, counted, revoked) != N6_TRUST_SURE) {
        N6_LINE(error, .program = N6_LINE_ERROR_FSBL, .reason = n6_trust_text(N6_TRUST_ALTERED), .reason_of = "the Appli");
        n6_sleep_for_ever();
    }
    /* The Appli finds the MPU as after a reset. */
    N6_REG32(N6_MPU_CTRL) = 0u;
    N6_REG32(N6_MPU_RLAR) = 0u;
    n6_barrier();
}
#endif

_Noreturn void n6_start_appli(void)
{
#if N6_TRUST
    check_again();
#endif
    __asm volatile("cpsid i");
    N6_REG32(N6_SYSTICK_CSR) = 0u;
    n6_caches_disable();
    for (uint32_t line = 0; line < N6_IRQ_COUNT; line += 32u) {
        N6_REG32(N6_NVIC_ICER + line / 8u) = 0xFFFFFFFFu;
        N6_REG32(N6_NVIC_ICPR + line / 8u) = 0xFFFFFFFFu;
    }
    N6_REG32(N6_SCB_ICSR) = N6_SCB_ICSR_PENDSTCLR | N6_SCB_ICSR_PENDSVCLR;
    N6_REG32(N6_SCB_VTOR) = N6_APPLI_PAYLOAD_ADDRESS;
    n6_barrier();
    uint32_t stack = N6_REG32(N6_APPLI_PAYLOAD_ADDRESS);
    uint32_t entry = N6_REG32(N6_APPLI_PAYLOAD_ADDRESS + 4u);
    /* No interrupt is enabled or pending: the Appli finds interrupts as after a reset, as ST's Applis require. */
    __asm volatile("movs r2, #0\n\t"
                   "msr primask, r2\n\t"
                   "msr msplim, r2\n\t"
                   "msr msp, %0\n\t"
                   "dsb\n\t"
                   "isb\n\t"
                   "bx %1" ::"r"(stack),
                   "r"(entry)
                   : "r2", "memory");
    __builtin_unreachable();
}
