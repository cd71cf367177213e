/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_pins.h"

#include "n6_reg.h"
#include "n6_soc_gpio.h"
#include "n6_soc_system.h"

#define MODE_INPUT 0u
#define MODE_ALTERNATE 2u
#define SPEED_VERY_HIGH 3u

static void set_two_bits(uint32_t address, uint32_t pin, uint32_t value)
{
    n6_modify(address, 3u << (2u * pin), value << (2u * pin));
}

void n6_pin_alternate(uint32_t port_base, uint32_t pin, uint32_t function, n6_pull_t pull)
{
    uint32_t function_register = port_base + (pin < 8u ? N6_GPIO_AFRL_OFFSET : N6_GPIO_AFRH_OFFSET);
    uint32_t position = 4u * (pin % 8u);
    n6_modify(function_register, 0xFu << position, function << position);
    n6_modify(port_base + N6_GPIO_OTYPER_OFFSET, 1u << pin, 0u);
    set_two_bits(port_base + N6_GPIO_OSPEEDR_OFFSET, pin, SPEED_VERY_HIGH);
    set_two_bits(port_base + N6_GPIO_PUPDR_OFFSET, pin, (uint32_t)pull);
    /* Set the mode last: the pin switches to its function only after all its other settings. */
    set_two_bits(port_base + N6_GPIO_MODER_OFFSET, pin, MODE_ALTERNATE);
}

void n6_pin_input(uint32_t port_base, uint32_t pin, n6_pull_t pull)
{
    set_two_bits(port_base + N6_GPIO_PUPDR_OFFSET, pin, (uint32_t)pull);
    set_two_bits(port_base + N6_GPIO_MODER_OFFSET, pin, MODE_INPUT);
}

bool n6_pins_are_fast(uint32_t fuse)
{
    /* The boot ROM leaves the clock of BSEC on; an earlier program may have switched it off. */
    n6_enable(N6_RCC_APB4ENSR2, N6_RCC_APB4ENR2, N6_RCC_APB4ENR2_BSECEN);
    return (N6_REG32(N6_BSEC_FVR124) & fuse) != 0u;
}
