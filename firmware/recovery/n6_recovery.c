/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_recovery.h"

#include <stddef.h>
#include <string.h>

#include "n6_board_clock.h"
#include "n6_board_nor.h"
#include "n6_board_slots.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_console_lines.h"
#include "n6_crc32.h"
#include "n6_fault.h"
#include "n6_frame.h"
#include "n6_nor_write.h"
#include "n6_pins.h"
#include "n6_recovery_format.h"
#include "n6_reg.h"
#ifdef N6_RECOVERY_PIN
#include "n6_soc_gpio.h"
#include "n6_soc_system.h"
#endif

#define FIRST (N6_SLOT_FSBL_ADDRESS + N6_SLOT_FSBL_BYTES)
#define END (N6_NOR_BASE + N6_NOR_BYTES)
#define NO_SECTOR 0u

/* The pull moves the pin within microseconds. */
#define PIN_SETTLES_US 100u

#define ADD(answer, type, member, value) n6_frame_add(answer, value, sizeof(((type *)0)->member))
#define WORD(request, type, member) n6_frame_word((request)->data + HEAD + offsetof(type, member))
/* Type and number of a request. */
#define HEAD 2u

_Static_assert(N6_RECOVERY_SECTOR_BYTES == N6_NOR_SECTOR_BYTES, "the host erases the sectors of this driver");
_Static_assert(HEAD + sizeof(n6_recovery_write_request_t) + N6_RECOVERY_DATA_MAX + N6_LINK_CRC_BYTES <= N6_LINK_MESSAGE_MAX,
               "a write is one message");

bool n6_recovery_is_held(void)
{
#ifdef N6_RECOVERY_PIN
    n6_enable(N6_RCC_AHB4ENSR, N6_RCC_AHB4ENR, N6_RECOVERY_PORT_ENABLE);
    n6_pin_input(N6_RECOVERY_PORT_BASE, N6_RECOVERY_PIN, N6_RECOVERY_LEVEL != 0u ? N6_PULL_DOWN : N6_PULL_UP);
    n6_delay_us(PIN_SETTLES_US);
    return (N6_REG32(N6_RECOVERY_PORT_BASE + N6_GPIO_IDR_OFFSET) >> N6_RECOVERY_PIN & 1u) == N6_RECOVERY_LEVEL;
#else
    return false;
#endif
}

/* Return true for whole sectors behind the FSBL. */
static bool are_sectors(uint32_t address, uint32_t bytes)
{
    return address >= FIRST && address < END && bytes != 0u && bytes <= END - address &&
           (address - N6_NOR_BASE) % N6_NOR_SECTOR_BYTES == 0u && bytes % N6_NOR_SECTOR_BYTES == 0u;
}

static bool holds(uint32_t address, const uint8_t *data, uint32_t bytes)
{
    return memcmp((const uint8_t *)(uintptr_t)address, data, bytes) == 0;
}

/* Program what is not there yet: a repeated request must not program a byte twice. */
static bool program(uint32_t address, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t done = 0u, part; done < bytes; done += part) {
        part = N6_NOR_PAGE - (address + done) % N6_NOR_PAGE;
        part = part < bytes - done ? part : bytes - done;
        if (!holds(address + done, data + done, part) &&
            !(n6_nor_program(address + done, data + done, part) && holds(address + done, data + done, part))) {
            return false;
        }
    }
    return true;
}

/* sector: the last erased one, in which alone a write is allowed. Else the answers to writes would show what the flash holds. */
static n6_recovery_status_t carry_out(const n6_message_t *request, n6_message_t *answer, bool is_held, uint32_t *sector)
{
    const uint32_t bytes = request->bytes - HEAD;
    switch (request->data[0]) {
    case N6_RECOVERY_HELLO:
        ADD(answer, n6_recovery_hello_answer_t, version, N6_RECOVERY_VERSION);
        ADD(answer, n6_recovery_hello_answer_t, is_held, is_held ? 1u : 0u);
        ADD(answer, n6_recovery_hello_answer_t, first, FIRST);
        ADD(answer, n6_recovery_hello_answer_t, end, END);
        n6_frame_add_text(answer, N6_BOARD_NAME);
        return N6_RECOVERY_OK;
    case N6_RECOVERY_CRC: {
        if (bytes != sizeof(n6_recovery_crc_request_t)) {
            return N6_RECOVERY_RANGE;
        }
        uint32_t address = WORD(request, n6_recovery_crc_request_t, address);
        uint32_t size = WORD(request, n6_recovery_crc_request_t, bytes);
        if (!are_sectors(address, size)) {
            return N6_RECOVERY_RANGE;
        }
        ADD(answer, n6_recovery_crc_answer_t, crc32, n6_crc32((const uint8_t *)(uintptr_t)address, size));
        return N6_RECOVERY_OK;
    }
    case N6_RECOVERY_ERASE: {
        if (bytes != sizeof(n6_recovery_erase_request_t)) {
            return N6_RECOVERY_RANGE;
        }
        uint32_t address = WORD(request, n6_recovery_erase_request_t, address);
        if (!are_sectors(address, N6_NOR_SECTOR_BYTES)) {
            return N6_RECOVERY_RANGE;
        }
        *sector = n6_nor_erase(address) ? address : NO_SECTOR;
        return *sector != NO_SECTOR ? N6_RECOVERY_OK : N6_RECOVERY_FAILED;
    }
    case N6_RECOVERY_WRITE: {
        const uint32_t head = sizeof(n6_recovery_write_request_t);
        if (bytes <= head || bytes - head > N6_RECOVERY_DATA_MAX || *sector == NO_SECTOR) {
            return N6_RECOVERY_RANGE;
        }
        uint32_t size = bytes - head;
        uint32_t offset = WORD(request, n6_recovery_write_request_t, address) - *sector;
        if (offset >= N6_NOR_SECTOR_BYTES || size > N6_NOR_SECTOR_BYTES - offset || offset % 2u != 0u || size % 2u != 0u) {
            return N6_RECOVERY_RANGE;
        }
        return program(*sector + offset, request->data + HEAD + head, size) ? N6_RECOVERY_OK : N6_RECOVERY_FAILED;
    }
    case N6_RECOVERY_START:
        return N6_RECOVERY_OK;
    default:
        return N6_RECOVERY_UNKNOWN;
    }
}

_Noreturn void n6_recovery_serve(bool is_held)
{
    static n6_message_t request, answer;
    uint32_t sector = NO_SECTOR;
    N6_LINE(fsbl_recovery, .is_held = is_held);
    do {
        n6_frame_receive(&request, NULL);
        n6_frame_answer(&answer, &request, N6_RECOVERY_OK);
        answer.data[HEAD] = (uint8_t)carry_out(&request, &answer, is_held, &sector);
        n6_frame_send(&answer);
    } while (request.data[0] != N6_RECOVERY_START);
    /* The answer has left the chip when the end of a line has. */
    n6_put_end();
    n6_reset_chip();
}
