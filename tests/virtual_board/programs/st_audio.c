/* SPDX-License-Identifier: Apache-2.0
 *
 * ST's own drivers of the STM32N6570-DK's microphone, audio codec and headphones, with its HAL, on n6build's clocks and console.
 */
#include "n6_clock.h"
#include "n6_console.h"
#include "n6_soc.h"
#include "stm32n6570_discovery.h"
#include "stm32n6570_discovery_audio.h"
#include "stm32n6570_discovery_bus.h"
#include "wm8904.h"

#define SAMPLES 320u

const char n6_program[] = "test";
uint32_t SystemCoreClock = 64000000u;

static uint16_t heard[SAMPLES];
static int16_t played[2u * SAMPLES];
static uint32_t halves, wholes, played_to_the_end;

/* Count the calls: ST's drivers wait for parts that the virtual board completes at once. */
uint32_t HAL_GetTick(void)
{
    static uint32_t calls;
    return ++calls;
}

void HAL_Delay(uint32_t milliseconds)
{
    n6_delay_us(1000u * milliseconds);
}

void BSP_AUDIO_IN_HalfTransfer_CallBack(uint32_t instance)
{
    (void)instance;
    halves++;
}

void BSP_AUDIO_IN_TransferComplete_CallBack(uint32_t instance)
{
    (void)instance;
    wholes++;
}

void BSP_AUDIO_OUT_TransferComplete_CallBack(uint32_t instance)
{
    (void)instance;
    played_to_the_end++;
}

static void say(const char *name, uint32_t value)
{
    n6_put(name);
    n6_put_hex32(value);
    n6_put_end();
}

static void identify(uint16_t address)
{
    WM8904_Object_t codec;
    WM8904_IO_t bus = {BSP_I2C2_Init, BSP_I2C2_DeInit, address, BSP_I2C2_WriteReg, BSP_I2C2_ReadReg, BSP_GetTick};
    uint32_t id = 0;
    say("bus=", (uint32_t)WM8904_RegisterBusIO(&codec, &bus));
    say("read=", (uint32_t)WM8904_ReadID(&codec, &id));
    say("id=", id);
}

/* Play a ramp of the left channel and its negative of the right one, twice. */
static void play(void)
{
    BSP_AUDIO_Init_t settings = {AUDIO_OUT_DEVICE_HEADPHONE, AUDIO_FREQUENCY_16K, AUDIO_RESOLUTION_16B, 2u, 80u};
    for (int i = 0; i < (int)SAMPLES; i++) {
        played[2 * i] = (int16_t)(i + 1);
        played[2 * i + 1] = (int16_t)(-i - 1);
    }
    say("out=", (uint32_t)BSP_AUDIO_OUT_Init(0u, &settings));
    say("play=", (uint32_t)BSP_AUDIO_OUT_Play(0u, (uint8_t *)played, sizeof(played)));
    while (played_to_the_end < 2u) {
        BSP_AUDIO_OUT_IRQHandler(0u, AUDIO_OUT_DEVICE_HEADPHONE);
    }
    say("silent=", (uint32_t)BSP_AUDIO_OUT_Stop(0u));
}

int main(void)
{
    BSP_AUDIO_Init_t settings = {AUDIO_IN_DEVICE_DIGITAL_MIC, AUDIO_FREQUENCY_16K, AUDIO_RESOLUTION_16B, 1u, 80u};
    (void)n6_clock_use_hsi();
    n6_console_open();
    identify(AUDIO_I2C_ADDRESS);
    say("nobody=", (uint32_t)BSP_I2C2_ReadReg(0x60u, 0u, (uint8_t *)heard, 2u));
    say("init=", (uint32_t)BSP_AUDIO_IN_Init(1u, &settings));
    __disable_irq(); /* its handler is not in n6build's vector table */
    say("record=", (uint32_t)BSP_AUDIO_IN_Record(1u, (uint8_t *)heard, sizeof(heard)));
    while (wholes < 2u) {
        BSP_AUDIO_IN_IRQHandler(1u, AUDIO_IN_DEVICE_DIGITAL_MIC);
    }
    say("halves=", halves);
    for (uint32_t i = 0; i < 4u; i++) {
        say("sample=", heard[i]);
    }
    say("stop=", (uint32_t)BSP_AUDIO_IN_Stop(1u));
    play();
    n6_put("end");
    n6_put_end();
    return 0;
}
