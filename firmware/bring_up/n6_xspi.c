/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_xspi.h"

#define POLLS 1000000u
#define INDIRECT_WRITE 0
#define INDIRECT_READ 1
#define MEMORY_MAPPED 3

bool n6_xspi_wait_idle(uint32_t base)
{
    return n6_wait_for(base + N6_XSPI_SR_OFFSET, N6_XSPI_SR_BUSY, 0u, POLLS);
}

static void set_mode(uint32_t base, uint32_t mode)
{
    n6_modify(base + N6_XSPI_CR_OFFSET, N6_XSPI_CR_FMODE, N6_FIELD(N6_XSPI_CR_FMODE, mode));
}

static void begin(uint32_t base, uint32_t direction, const n6_xspi_command_t *command)
{
    set_mode(base, direction);
    N6_REG32(base + N6_XSPI_CCR_OFFSET) = command->lines;
    N6_REG32(base + N6_XSPI_TCR_OFFSET) = command->timing;
    /* Writing the address starts the access; in a command without address, writing the instruction does. */
    N6_REG32(base + N6_XSPI_IR_OFFSET) = command->instruction;
    if ((command->lines & N6_XSPI_CCR_ADMODE) != 0u) {
        N6_REG32(base + N6_XSPI_AR_OFFSET) = command->address;
    }
}

static bool end(uint32_t base)
{
    bool complete = n6_wait_for(base + N6_XSPI_SR_OFFSET, N6_XSPI_SR_TCF, N6_XSPI_SR_TCF, POLLS);
    N6_REG32(base + N6_XSPI_FCR_OFFSET) = N6_XSPI_FCR_CTCF;
    return complete && n6_xspi_wait_idle(base);
}

bool n6_xspi_send(uint32_t base, const n6_xspi_command_t *command)
{
    begin(base, INDIRECT_WRITE, command);
    return end(base);
}

bool n6_xspi_read(uint32_t base, const n6_xspi_command_t *command, uint32_t count, uint32_t *value)
{
    *value = 0u;
    N6_REG32(base + N6_XSPI_DLR_OFFSET) = count - 1u;
    begin(base, INDIRECT_READ, command);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t polls = POLLS;
        while ((N6_REG32(base + N6_XSPI_SR_OFFSET) & (N6_XSPI_SR_FTF | N6_XSPI_SR_TCF)) == 0u) {
            if (polls-- == 0u) {
                return false;
            }
        }
        *value |= (uint32_t)N6_REG8(base + N6_XSPI_DR_OFFSET) << (8u * i);
    }
    return end(base);
}

bool n6_xspi_write(uint32_t base, const n6_xspi_command_t *command, uint32_t count, uint32_t value)
{
    N6_REG32(base + N6_XSPI_DLR_OFFSET) = count - 1u;
    begin(base, INDIRECT_WRITE, command);
    for (uint32_t i = 0; i < count; i++) {
        N6_REG8(base + N6_XSPI_DR_OFFSET) = (uint8_t)(value >> (8u * i));
    }
    return end(base);
}

bool n6_xspi_write_bytes(uint32_t base, const n6_xspi_command_t *command, const uint8_t *data, uint32_t count)
{
    N6_REG32(base + N6_XSPI_DLR_OFFSET) = count - 1u;
    begin(base, INDIRECT_WRITE, command);
    for (uint32_t i = 0; i < count; i++) {
        if (!n6_wait_for(base + N6_XSPI_SR_OFFSET, N6_XSPI_SR_FTF, N6_XSPI_SR_FTF, POLLS)) {
            return false;
        }
        N6_REG8(base + N6_XSPI_DR_OFFSET) = data[i];
    }
    return end(base);
}

void n6_xspi_stop(uint32_t base)
{
    const uint32_t status = base + N6_XSPI_SR_OFFSET;
    if ((N6_REG32(status) & N6_XSPI_SR_BUSY) != 0u) {
        n6_modify(base + N6_XSPI_CR_OFFSET, 0u, N6_XSPI_CR_ABORT);
        (void)n6_wait_for(status, N6_XSPI_SR_TCF, N6_XSPI_SR_TCF, POLLS);
        N6_REG32(base + N6_XSPI_FCR_OFFSET) = N6_XSPI_FCR_CTCF;
        (void)n6_xspi_wait_idle(base);
    }
    n6_modify(base + N6_XSPI_CR_OFFSET, N6_XSPI_CR_EN, 0u);
}

void n6_xspi_map(uint32_t base)
{
    set_mode(base, MEMORY_MAPPED);
    n6_barrier();
}
