/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pins: their settings, and levels as far as the chip itself drives them. An input without a driver follows its pull.
 *
 * held-port=ADDRESS, held-pins=MASK and held-level=0 or 1 are a button that is held at power-on, and released at the next reset.
 */
#include "n6virt.h"

enum { MODE_INPUT, MODE_OUTPUT, MODE_ALTERNATE };
enum { PULL_UP = 1 };

static struct {
    uint32_t port, pins, level;
} held;
static bool has_power;

bool n6virt_pin_is(uint32_t port, unsigned pin, unsigned alternate)
{
    uint32_t function = n6virt_get(port + (pin < 8 ? N6_GPIO_AFRL_OFFSET : N6_GPIO_AFRH_OFFSET)) >> 4 * (pin % 8) & 15;

    return (n6virt_get(port + N6_GPIO_MODER_OFFSET) >> 2 * pin & 3) == MODE_ALTERNATE && function == alternate;
}

char n6virt_port_letter(uint32_t port)
{
    const N6VirtBlock *block = n6virt_block_at(port);

    return block ? block->name[strlen(block->name) - 1] : '?';
}

const char *n6virt_wrong_pin(uint32_t port, uint32_t pins, unsigned alternate, const char *what)
{
    static char reason[96];

    for (unsigned pin = 0; pin < 16; pin++) {
        if ((pins >> pin & 1) && !n6virt_pin_is(port, pin, alternate)) {
            snprintf(reason, sizeof(reason), "pin P%c%u is not set to %s (alternate function %u)", n6virt_port_letter(port), pin, what,
                     alternate);
            return reason;
        }
    }
    return NULL;
}

const char *n6virt_slow_pin(uint32_t port, uint32_t pins, uint64_t hz)
{
    static const uint64_t limits[] = {N6VIRT_PIN_HZ};
    static char reason[112];

    for (unsigned pin = 0; n6virt_is_harsh() && pin < 16; pin++) {
        unsigned speed = n6virt_get(port + N6_GPIO_OSPEEDR_OFFSET) >> 2 * pin & 3;

        /* Very high: the part behind the pins sets the limit. */
        if ((pins >> pin & 1) && speed < ARRAY_SIZE(limits) - 1 && hz > limits[speed]) {
            snprintf(reason, sizeof(reason), "pin P%c%u is too slow for %" PRIu64 " Hz (OSPEEDR %u: up to %" PRIu64 ")",
                     n6virt_port_letter(port), pin, hz, speed, limits[speed]);
            return reason;
        }
    }
    return NULL;
}

static uint32_t levels(uint32_t port)
{
    uint32_t driven = n6virt_get(port + N6_GPIO_ODR_OFFSET), value = 0;

    for (unsigned pin = 0; pin < 16; pin++) {
        uint32_t mode = n6virt_get(port + N6_GPIO_MODER_OFFSET) >> 2 * pin & 3;
        uint32_t pull = n6virt_get(port + N6_GPIO_PUPDR_OFFSET) >> 2 * pin & 3;

        uint32_t input = port == held.port && (held.pins >> pin & 1) ? held.level : pull == PULL_UP;

        value |= (mode == MODE_OUTPUT ? driven >> pin & 1 : input) << pin;
    }
    return value;
}

static uint32_t gpio_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    switch (offset) {
    case N6_GPIO_IDR_OFFSET:
        return levels(block->base);
    case N6_GPIO_BSRR_OFFSET:
    case N6_GPIO_BRR_OFFSET:
        return 0;
    default:
        return n6virt_get(block->base + offset);
    }
}

static void gpio_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    uint32_t output = block->base + N6_GPIO_ODR_OFFSET;

    switch (offset) {
    case N6_GPIO_BSRR_OFFSET: /* setting wins */
        n6virt_set(output, ((n6virt_get(output) & ~(value >> 16)) | value) & 0xffff);
        break;
    case N6_GPIO_BRR_OFFSET:
        n6virt_set(output, n6virt_get(output) & ~value);
        break;
    case N6_GPIO_IDR_OFFSET:
        break;
    default:
        n6virt_set(block->base + offset, value);
    }
}

/* The type is stored without effect; of the pull, a program notices only the level of an input. */
static const N6VirtModel gpio = {
    .read = gpio_read, .write = gpio_write,
    .attributes = (const uint32_t[]){N6_GPIO_SECCFGR_OFFSET, N6_GPIO_PRIVCFGR_OFFSET, N6VIRT_END},
    .registers = (const uint32_t[]){N6_GPIO_MODER_OFFSET, N6_GPIO_OTYPER_OFFSET, N6_GPIO_OSPEEDR_OFFSET, N6_GPIO_PUPDR_OFFSET,
                                    N6_GPIO_IDR_OFFSET, N6_GPIO_ODR_OFFSET, N6_GPIO_BSRR_OFFSET, N6_GPIO_LCKR_OFFSET,
                                    N6_GPIO_AFRL_OFFSET, N6_GPIO_AFRH_OFFSET, N6_GPIO_BRR_OFFSET, N6VIRT_END},
};

static void add_properties(Object *machine)
{
    static const N6VirtNumber numbers[] = {
        {"held-port", &held.port}, {"held-pins", &held.pins}, {"held-level", &held.level},
    };

    n6virt_number_properties(machine, numbers, ARRAY_SIZE(numbers));
}

static void start(void)
{
    n6virt_model_all("GPIO", &gpio);
}

static void reset(void)
{
    held.port = has_power ? 0 : held.port;
    has_power = true;
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = reset};
N6VIRT_MODULE(module)
