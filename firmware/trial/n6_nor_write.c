/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes to the NOR. Commands use the same lines and clock edges as the reads of the window, taken over from CCR.
 */
#include "n6_nor_write.h"

#include "n6_board_nor.h"
#include "n6_cache.h"
#include "n6_clock.h"
#include "n6_reg.h"
#include "n6_xspi.h"

#if N6_NOR_MODE_OPI_DTR
#define COMMAND(opcode) N6_NOR_OCTAL(opcode)
#define STATUS_BYTES 2u /* at both edges */
#define STATUS_CYCLES N6_NOR_REGISTER_DUMMY_CYCLES
#else
#define COMMAND(opcode) (opcode)
#define STATUS_BYTES 1u
#define STATUS_CYCLES 0u
#endif
#define WRITE_ENABLE COMMAND(0x06u)
#define READ_STATUS COMMAND(0x05u)

#define BUSY 0x01u
#define WRITE_ENABLED 0x02u

#define INSTRUCTION (N6_XSPI_CCR_IMODE | N6_XSPI_CCR_IDTR | N6_XSPI_CCR_ISIZE)
#define ADDRESS (INSTRUCTION | N6_XSPI_CCR_ADMODE | N6_XSPI_CCR_ADDTR | N6_XSPI_CCR_ADSIZE)
#define WRITTEN (ADDRESS | N6_XSPI_CCR_DMODE | N6_XSPI_CCR_DDTR)
#define READ (N6_XSPI_CCR_DMODE | N6_XSPI_CCR_DDTR | N6_XSPI_CCR_DQSE)

/* The time limit, well above the longest erase of a sector. */
#define POLL_US 50u
#define POLLS 40000u

/* The read settings of the window. */
typedef struct {
    uint32_t lines;
    uint32_t timing;
    uint32_t instruction;
} window_t;

static window_t close_window(void)
{
    window_t window = {N6_REG32(N6_XSPI2_CCR), N6_REG32(N6_XSPI2_TCR), N6_REG32(N6_XSPI2_IR)};
    n6_xspi_stop(N6_XSPI2_BASE);
    n6_modify(N6_XSPI2_CR, N6_XSPI_CR_FMODE, N6_XSPI_CR_EN);
    return window;
}

static void open_window(const window_t *window)
{
    N6_REG32(N6_XSPI2_CCR) = window->lines;
    N6_REG32(N6_XSPI2_TCR) = window->timing;
    N6_REG32(N6_XSPI2_IR) = window->instruction;
    n6_xspi_map(N6_XSPI2_BASE);
}

static n6_xspi_command_t command(const window_t *window, uint32_t phases, uint32_t instruction, uint32_t address)
{
    return (n6_xspi_command_t){window->lines & phases, window->timing & N6_XSPI_TCR_DHQC, instruction, address - N6_NOR_BASE};
}

static bool read_status(const window_t *window, uint32_t *status)
{
    uint32_t phases = N6_NOR_MODE_OPI_DTR ? ADDRESS | READ : INSTRUCTION | READ;
    n6_xspi_command_t read = command(window, phases, READ_STATUS, N6_NOR_BASE);
    read.timing |= N6_FIELD(N6_XSPI_TCR_DCYC, STATUS_CYCLES);
    return n6_xspi_read(N6_XSPI2_BASE, &read, STATUS_BYTES, status);
}

static bool enable_writing(const window_t *window)
{
    const n6_xspi_command_t enable = command(window, INSTRUCTION, WRITE_ENABLE, N6_NOR_BASE);
    uint32_t status = 0u;
    return n6_xspi_send(N6_XSPI2_BASE, &enable) && read_status(window, &status) && (status & WRITE_ENABLED) != 0u;
}

static bool wait(const window_t *window)
{
    for (uint32_t polls = 0; polls < POLLS; polls++) {
        uint32_t status = BUSY;
        if (!read_status(window, &status)) {
            return false;
        }
        if ((status & BUSY) == 0u) {
            return true;
        }
        n6_delay_us(POLL_US);
    }
    return false;
}

bool n6_nor_erase(uint32_t address)
{
    const window_t window = close_window();
    const n6_xspi_command_t erase = command(&window, ADDRESS, COMMAND(N6_NOR_ERASE_4K), address);
    bool done = enable_writing(&window) && n6_xspi_send(N6_XSPI2_BASE, &erase) && wait(&window);
    open_window(&window);
    n6_dcache_invalidate(address, N6_NOR_SECTOR_BYTES);
    return done;
}

bool n6_nor_program(uint32_t address, const void *data, uint32_t bytes)
{
    const window_t window = close_window();
    const n6_xspi_command_t program = command(&window, WRITTEN, COMMAND(N6_NOR_PROGRAM), address);
    bool done = enable_writing(&window) && n6_xspi_write_bytes(N6_XSPI2_BASE, &program, data, bytes) && wait(&window);
    open_window(&window);
    n6_dcache_invalidate(address, bytes);
    return done;
}
