/* SPDX-License-Identifier: Apache-2.0
 *
 * ST's own driver of the STM32N6570-DK's PSRAM, with its HAL, on n6build's clocks and console: indirect and memory-mapped.
 */
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_xspi_nor.h"
#include "stm32n6570_discovery_xspi.h"

const char n6_program[] = "test";
uint32_t SystemCoreClock = 64000000u;

/* Return a constant: ST's driver waits for actions that the virtual board completes at once. */
uint32_t HAL_GetTick(void)
{
    return 0u;
}

void HAL_Delay(uint32_t milliseconds)
{
    n6_delay_us(1000u * milliseconds);
}

/* Not used for the PSRAM: ST's board support package needs this function. */
uint32_t HAL_RCCEx_GetPeriphCLKFreq(uint64_t clock)
{
    (void)clock;
    return SystemCoreClock;
}

static void say(const char *name, uint32_t value)
{
    n6_put(name);
    n6_put_hex32(value);
    n6_put_end();
}

int main(void)
{
    uint32_t id, word = 0x01020304u;
    uint8_t value[2] = {0, 0};
    volatile uint32_t *window = (volatile uint32_t *)0x90000000u;
    (void)n6_clock_use_hsi();
    n6_console_open();
    (void)n6_xspi_nor_open(&id);
    say("init=", (uint32_t)BSP_XSPI_RAM_Init(0));
    say("read=", (uint32_t)APS256XX_ReadReg(&hxspi_ram[0], 8u, value, 7u));
    say("mr8=", value[0]);
    say("write=", (uint32_t)APS256XX_Write(&hxspi_ram[0], (uint8_t *)&word, 64u, 4u, 7u, 1u, 0u));
    word = 0u;
    say("read=", (uint32_t)APS256XX_Read(&hxspi_ram[0], (uint8_t *)&word, 64u, 4u, 7u, 1u, 0u));
    say("word=", word);
    say("map=", (uint32_t)BSP_XSPI_RAM_EnableMemoryMappedMode(0));
    say("mapped=", window[16]);
    window[17] = 0x55AA1234u;
    say("written=", window[17]);
    n6_put("end");
    n6_put_end();
    return 0;
}
