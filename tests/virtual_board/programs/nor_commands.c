/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands to the NOR in indirect mode; -DDO= names the case.
 */
#include "n6_board_nor.h"
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_reg.h"
#include "n6_soc.h"
#include "n6_xspi.h"
#include "n6_xspi_nor.h"

#define PARAMETERS 1
#define READS 2
#define IDENTIFY 3
#define ERASE_AND_PROGRAM 4
#define OVERWRITE 5
#define NOT_ENABLED 6
#define READ_WHILE_BUSY 7
#define MAP_WHILE_BUSY 8
#define WAIT_FOR_MATCH 9
#define REGISTER_AS_DATA 10
#define STATUS_OF_CONTROLLER 11
#define OUT_OF_PART 12
#define SUSPEND 13
#define STATUS_AFTER_MODE 14
#define PROGRAM_OCTAL 15
#define SLEEP 16
#define TOO_FAST 17
#define ONE_EDGE 18
#define UNHEARD 19

#define OFFSET 0x200000u
#define BASE N6_XSPI2_BASE
#define LINE 0x00000001u
#define DATA 0x01000000u
#define ADDRESS_24 0x00002100u
#define ADDRESS_32 0x00003100u
#define OCTAL_DTR 0x0000001Cu
#define OCTAL_DTR_ADDRESS 0x00003C00u
#define OCTAL_DTR_DATA 0x2C000000u
#define ONE_EDGE_DATA 0x24000000u

#define SYSTICK_CONTROL 0xE000E010u
#define SYSTICK_RELOAD 0xE000E014u
#define SYSTICK_VALUE 0xE000E018u
#define NVIC_ENABLE (0xE000E100u + 4u * (N6_IRQ_XSPI2 / 32u))
#define NVIC_PENDING (0xE000E200u + 4u * (N6_IRQ_XSPI2 / 32u))

const char n6_program[] = "test";

static inline void show(const char *name, uint32_t value)
{
    n6_put(name);
    n6_put("=");
    n6_put_hex32(value);
    n6_put_end();
}

static inline void send(uint32_t instruction)
{
    const n6_xspi_command_t command = {LINE, 0, instruction, 0};
    (void)n6_xspi_send(BASE, &command);
}

static inline void send_at(uint32_t instruction, uint32_t address)
{
    const n6_xspi_command_t command = {LINE | ADDRESS_32, 0, instruction, address};
    (void)n6_xspi_send(BASE, &command);
}

static inline uint32_t read_bytes(uint32_t lines, uint32_t cycles, uint32_t instruction, uint32_t address, uint32_t count)
{
    const n6_xspi_command_t command = {lines, cycles, instruction, address};
    uint32_t value = 0;
    (void)n6_xspi_read(BASE, &command, count, &value);
    return value;
}

static inline void write_bytes(uint32_t lines, uint32_t instruction, uint32_t address, uint32_t count, uint32_t value)
{
    const n6_xspi_command_t command = {lines, 0, instruction, address};
    (void)n6_xspi_write(BASE, &command, count, value);
}

static inline uint32_t status(void)
{
    return read_bytes(LINE | DATA, 0, 0x05u, 0, 1u);
}

static inline void wait(void)
{
    while ((status() & 1u) != 0u) {
    }
}

static inline void erase(uint32_t address)
{
    send(0x06u);
    send_at(0x21u, address);
}

static inline void program(uint32_t address, uint32_t value)
{
    send(0x06u);
    write_bytes(LINE | ADDRESS_32 | DATA, 0x12u, address, 4u, value);
}

static inline uint32_t word(uint32_t address)
{
    return read_bytes(LINE | ADDRESS_32 | DATA, 0, 0x13u, address, 4u);
}

static inline void map(void)
{
    N6_REG32(N6_XSPI2_CCR) = LINE | ADDRESS_32 | DATA;
    N6_REG32(N6_XSPI2_TCR) = 0u;
    N6_REG32(N6_XSPI2_IR) = 0x13u;
    n6_xspi_map(BASE);
}

static void act(void)
{
#if DO == PARAMETERS
    uint32_t bytes = 0;
    N6_REG32(N6_XSPI2_DLR) = COUNT - 1u;
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, N6_FIELD(N6_XSPI_CR_FMODE, 1u));
    N6_REG32(N6_XSPI2_CCR) = LINE | ADDRESS_24 | DATA;
    N6_REG32(N6_XSPI2_TCR) = 8u;
    N6_REG32(N6_XSPI2_IR) = 0x5Au;
    N6_REG32(N6_XSPI2_AR) = 0u;
    for (; bytes < COUNT; bytes += 4u) {
        uint32_t busy = N6_REG32(N6_XSPI2_SR);
        uint32_t four = N6_REG32(N6_XSPI2_DR);
        if ((busy & (N6_XSPI_SR_BUSY | N6_XSPI_SR_FTF)) != (N6_XSPI_SR_BUSY | N6_XSPI_SR_FTF)) {
            n6_put("not busy");
            n6_put_end();
        }
        n6_put("sfdp=");
        n6_put_hex32(four);
        n6_put_end();
    }
    show("status", N6_REG32(N6_XSPI2_SR));
#elif DO == READS
    show("03", read_bytes(LINE | ADDRESS_24 | DATA, 0, 0x03u, OFFSET, 4u));
    show("0b", read_bytes(LINE | ADDRESS_24 | DATA, 8u, 0x0Bu, OFFSET, 4u));
    show("13", word(OFFSET));
    show("0c", read_bytes(LINE | ADDRESS_32 | DATA, 8u, 0x0Cu, OFFSET, 4u));
    show("0c without cycles", read_bytes(LINE | ADDRESS_32 | DATA, 0u, 0x0Cu, OFFSET, 4u));
    send(0xB7u);
    show("03 with 4 bytes", read_bytes(LINE | ADDRESS_32 | DATA, 0, 0x03u, OFFSET, 4u));
    send(0xE9u);
    send(0x06u);
    write_bytes(LINE | ADDRESS_32 | DATA, 0x72u, 0u, 1u, 1u);
    show("ec", read_bytes(0x04003414u, 20u, 0xEC13u, OFFSET, 4u));
    send(0x06u); /* on one line: not heard */
    write_bytes(0x04003414u, 0x728Du, 0u, 1u, 2u);
    show("ec again", read_bytes(0x04003414u, 20u, 0xEC13u, OFFSET, 4u));
    {
        const n6_xspi_command_t enable = {0x14u, 0, 0x06F9u, 0};
        (void)n6_xspi_send(BASE, &enable);
    }
    write_bytes(0x04003414u, 0x728Du, 0u, 1u, 2u);
    show("ee", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | OCTAL_DTR_DATA, 20u, 0xEE11u, OFFSET, 4u));
    n6_modify(N6_XSPI2_DCR1, N6_XSPI_DCR1_MTYP, 0u);
    show("ee swapped", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | OCTAL_DTR_DATA, 20u, 0xEE11u, OFFSET, 4u));
#elif DO == IDENTIFY
    show("id", read_bytes(LINE | DATA, 0, 0x9Fu, 0, 4u));
    show("unknown", read_bytes(LINE | DATA, 0, 0x90u, 0, 4u));
    show("configuration", read_bytes(LINE | DATA, 0, 0x15u, 0, 1u));
#elif DO == ERASE_AND_PROGRAM
    erase(OFFSET + 0x123u);
    show("erasing", status());
    wait();
    show("erased", word(OFFSET));
    show("beyond", word(OFFSET + 0x1000u));
    program(OFFSET + 0xFEu, 0x44332211u);
    show("programming", status());
    wait();
    show("last of page", word(OFFSET + 0xFCu));
    show("first of page", word(OFFSET));
    map();
    show("mapped", N6_REG32(N6_NOR_BASE + OFFSET + 0xFCu));
#elif DO == OVERWRITE
    program(OFFSET, 0x03030303u);
    wait();
    show("word", word(OFFSET));
#elif DO == NOT_ENABLED
    write_bytes(LINE | ADDRESS_32 | DATA, 0x12u, OFFSET, 4u, 0u);
    show("word", word(OFFSET));
#elif DO == READ_WHILE_BUSY
    erase(OFFSET);
    show("word", word(OFFSET));
#elif DO == MAP_WHILE_BUSY
    erase(OFFSET);
    map();
    show("word", N6_REG32(N6_NOR_BASE + OFFSET + 0x1000u));
    n6_delay_us(30000u);
    show("later", N6_REG32(N6_NOR_BASE + OFFSET + 0x1000u));
#elif DO == WAIT_FOR_MATCH
    __asm volatile("cpsid i");
    N6_REG32(NVIC_ENABLE) = 1u << N6_IRQ_XSPI2 % 32u;
    N6_REG32(SYSTICK_RELOAD) = 0xFFFFFFu;
    N6_REG32(SYSTICK_VALUE) = 0u;
    N6_REG32(SYSTICK_CONTROL) = 5u;
    erase(OFFSET);
    uint32_t before = N6_REG32(SYSTICK_VALUE);
    N6_REG32(N6_XSPI2_PSMKR) = 1u;
    N6_REG32(N6_XSPI2_PSMAR) = 0u;
    N6_REG32(N6_XSPI2_PIR) = 16u;
    N6_REG32(N6_XSPI2_DLR) = 0u;
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE,
              N6_FIELD(N6_XSPI_CR_FMODE, 2u) | N6_XSPI_CR_SMIE | N6_XSPI_CR_APMS);
    N6_REG32(N6_XSPI2_CCR) = LINE | DATA;
    N6_REG32(N6_XSPI2_IR) = 0x05u;
    show("polling", N6_REG32(N6_XSPI2_SR));
    __asm volatile("wfi");
    uint32_t after = N6_REG32(SYSTICK_VALUE);
    show("pending", N6_REG32(NVIC_PENDING) >> N6_IRQ_XSPI2 % 32u & 1u);
    show("matched", N6_REG32(N6_XSPI2_SR));
    N6_REG32(N6_XSPI2_FCR) = N6_XSPI_FCR_CSMF;
    show("cleared", N6_REG32(N6_XSPI2_SR));
    n6_put("us=");
    n6_put_u32((before - after) / (N6_HSI_HZ / 1000000u));
    n6_put_end();
#elif DO == REGISTER_AS_DATA
    send(0x06u);
    N6_REG32(N6_XSPI2_DLR) = 4u;
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, 0u);
    N6_REG32(N6_XSPI2_CCR) = LINE | DATA;
    N6_REG32(N6_XSPI2_TCR) = 0u;
    N6_REG32(N6_XSPI2_IR) = 0x72u;
    N6_REG32(N6_XSPI2_DR) = 0x00030000u; /* 00 00 03 00: the lowest byte first */
    N6_REG8(N6_XSPI2_DR) = 7u;
    show("register", read_bytes(LINE | ADDRESS_32 | DATA, 0, 0x71u, 0x300u, 1u));
    show("enabled", status());
#elif DO == STATUS_OF_CONTROLLER
    N6_REG32(N6_XSPI2_DLR) = 1u;
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, 0u);
    N6_REG32(N6_XSPI2_CCR) = LINE | ADDRESS_32 | DATA;
    N6_REG32(N6_XSPI2_IR) = 0x72u;
    N6_REG32(N6_XSPI2_AR) = 0u;
    show("before", N6_REG32(N6_XSPI2_SR));
    N6_REG8(N6_XSPI2_DR) = 0u;
    show("between", N6_REG32(N6_XSPI2_SR));
    N6_REG8(N6_XSPI2_DR) = 0u;
    show("after", N6_REG32(N6_XSPI2_SR));
    N6_REG32(N6_XSPI2_FCR) = N6_XSPI_FCR_CTCF;
    show("cleared", N6_REG32(N6_XSPI2_SR));
    N6_REG8(N6_XSPI2_DR) = 0u; /* belongs to no command */
    n6_modify(N6_XSPI2_CR, 0u, N6_XSPI_CR_ABORT);
    show("aborted", N6_REG32(N6_XSPI2_SR));
#elif DO == OUT_OF_PART
    n6_modify(N6_XSPI2_DCR1, N6_XSPI_DCR1_DEVSIZE, N6_FIELD(N6_XSPI_DCR1_DEVSIZE, 19u));
    N6_REG32(N6_XSPI2_DLR) = 3u;
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, N6_FIELD(N6_XSPI_CR_FMODE, 1u));
    N6_REG32(N6_XSPI2_CCR) = LINE | ADDRESS_32 | DATA;
    N6_REG32(N6_XSPI2_IR) = 0x13u;
    N6_REG32(N6_XSPI2_AR) = 0x100000u;
    show("status", N6_REG32(N6_XSPI2_SR));
#elif DO == SUSPEND
    erase(OFFSET);
    send(0xB0u);
    show("suspended", status());
    show("word", word(OFFSET + 0x1000u));
    send(0x30u);
    show("resumed", status());
    wait();
#elif DO == STATUS_AFTER_MODE
    send(0x06u);
    write_bytes(LINE | ADDRESS_32 | DATA, 0x72u, 0u, 1u, 2u);
    show("at once", status());
    n6_delay_us(100u);
    show("later", status());
#elif DO == PROGRAM_OCTAL
    const n6_xspi_command_t enable = {OCTAL_DTR, 0, 0x06F9u, 0};
    send(0x06u);
    write_bytes(LINE | ADDRESS_32 | DATA, 0x72u, 0u, 1u, 2u);
    (void)n6_xspi_send(BASE, &enable);
    write_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | 0x0C000000u, 0x12EDu, OFFSET + 0x2000u, 4u, 0x44332211u);
    while ((read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | OCTAL_DTR_DATA, 5u, 0x05FAu, 0u, 2u) & 1u) != 0u) {
    }
    show("id", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | OCTAL_DTR_DATA, 5u, 0x9F60u, 0u, 4u));
    show("word", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | OCTAL_DTR_DATA, 20u, 0xEE11u, OFFSET + 0x2000u, 4u));
#elif DO == ONE_EDGE
    const n6_xspi_command_t enable = {OCTAL_DTR, 0, 0x06F9u, 0};
    send(0x06u);
    write_bytes(LINE | ADDRESS_32 | DATA, 0x72u, 0u, 1u, 2u);
    show("status", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | ONE_EDGE_DATA, 20u, 0x05FAu, 0u, 1u));
    (void)n6_xspi_send(BASE, &enable);
    show("enabled", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | ONE_EDGE_DATA, 20u, 0x05FAu, 0u, 2u));
    show("id", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | ONE_EDGE_DATA, 5u, 0x9F60u, 0u, 3u));
    show("word", read_bytes(OCTAL_DTR | OCTAL_DTR_ADDRESS | ONE_EDGE_DATA, 20u, 0xEE11u, OFFSET, 4u));
#elif DO == UNHEARD
    n6_modify(N6_PWR_SVMCR3, N6_PWR_SVMCR3_VDDIO3SV, 0u);
    show("id", read_bytes(LINE | DATA, 0, 0x9Fu, 0, 3u));
#elif DO == SLEEP
    send(0xB9u);
    show("asleep", word(OFFSET));
    send(0xABu);
    show("awake", word(OFFSET));
#elif DO == TOO_FAST
    n6_modify(N6_RCC_IC3CFGR, N6_RCC_IC3CFGR_INT, N6_FIELD(N6_RCC_IC3CFGR_INT, 3u));
    show("id", read_bytes(LINE | DATA, 0, 0x9Fu, 0, 3u));
#endif
}

int main(void)
{
    const n6_xspi_command_t enable = {OCTAL_DTR, 0, 0x6699u, 0}, reset = {OCTAL_DTR, 0, 0x9966u, 0};
    uint32_t jedec_id;
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_xspi_nor_open(&jedec_id);
    n6_xspi_stop(BASE);
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, N6_XSPI_CR_EN);
    (void)n6_xspi_send(BASE, &enable);
    (void)n6_xspi_send(BASE, &reset);
    n6_delay_us(1000u); /* its reset */
    act();
    n6_put("end");
    n6_put_end();
    return 0;
}
