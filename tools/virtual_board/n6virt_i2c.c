/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * I2C1 to I2C4 as masters, and the board's devices on them: registers that a transfer writes and reads. A byte takes no time,
 * so a transfer waits only for the program. Slaves, SMBus and timings are stored without effect.
 *
 *   ,i2c-devices=I2C2:0x1a:1:2:0x0=0x8904!+0x4=0x18/I2C1:...
 *
 * Each device has: its bus, its address of 7 bits, the bytes of a register's number and of its value, most significant first,
 * and the registers that do not begin with 0. A ! marks a register that writes do not change. The number increments by itself.
 * An address without a device is not acknowledged.
 */
#include "n6virt.h"

#include "qemu/error-report.h"

#define BUSES 4
#define MAX_DEVICES 16
#define NUMBERS 0x10000u

typedef struct {
    unsigned bus; /* 0 for I2C1 */
    uint32_t address;
    unsigned number_bytes, value_bytes;
    uint32_t *values;
    bool *constant;
    bool unplugged;
    /* State of a transfer: */
    uint32_t number, value;
    unsigned number_left, byte; /* bytes of the number still to come; bytes of the value done */
} Device;

typedef struct {
    const N6VirtBlock *block;
    unsigned event_interrupt, rx_request, tx_request;
    uint32_t flags; /* of ISR, without the derived ones */
    Device *device; /* the addressed one */
    bool busy, reading, received;
    unsigned left; /* bytes left of NBYTES */
    uint8_t data;
} Bus;

static char *described;
static Device devices[MAX_DEVICES];
static unsigned device_count;
static Bus buses[BUSES];

static uint32_t mask_of(unsigned bytes)
{
    return bytes >= 4 ? UINT32_MAX : (1u << 8 * bytes) - 1;
}

/* Devices */

static void begin(Device *device, bool reading)
{
    device->byte = 0;
    if (!reading) {
        device->number_left = device->number_bytes;
    }
}

static void next_number(Device *device)
{
    device->byte = 0;
    device->number = (device->number + 1) & mask_of(device->number_bytes);
}

static void take(Device *device, uint8_t data)
{
    if (device->number_left) {
        device->number = (device->number << 8 | data) & mask_of(device->number_bytes);
        device->number_left--;
        return;
    }
    device->value = device->value << 8 | data;
    if (++device->byte == device->value_bytes) {
        if (!device->constant[device->number]) {
            device->values[device->number] = device->value & mask_of(device->value_bytes);
        }
        next_number(device);
    }
}

static uint8_t give(Device *device)
{
    uint8_t data = device->values[device->number] >> 8 * (device->value_bytes - 1 - device->byte);

    if (++device->byte == device->value_bytes) {
        next_number(device);
    }
    return data;
}

void n6virt_i2c_unplug(unsigned bus, uint32_t address)
{
    for (unsigned i = 0; i < device_count; i++) {
        devices[i].unplugged |= devices[i].bus == bus - 1 && devices[i].address == address;
    }
}

int64_t n6virt_i2c_value(unsigned bus, uint32_t address, uint32_t number)
{
    for (unsigned i = 0; i < device_count; i++) {
        if (devices[i].bus == bus - 1 && devices[i].address == address) {
            return devices[i].values[number & mask_of(devices[i].number_bytes)];
        }
    }
    return -1;
}

/* Controllers */

static uint32_t reg(const Bus *bus, uint32_t offset)
{
    return n6virt_get(bus->block->base + offset);
}

static bool waits_for_byte(const Bus *bus)
{
    return bus->busy && bus->device && !bus->reading && bus->left;
}

static uint32_t status(const Bus *bus)
{
    uint32_t value = bus->flags | N6_I2C_ISR_TXE;

    value |= waits_for_byte(bus) ? N6_I2C_ISR_TXIS : 0;
    value |= bus->received ? N6_I2C_ISR_RXNE : 0;
    return value | (bus->busy ? N6_I2C_ISR_BUSY : 0);
}

static void update(const Bus *bus)
{
    static const uint32_t events[][2] = {
        {N6_I2C_CR1_TXIE, N6_I2C_ISR_TXIS},     {N6_I2C_CR1_RXIE, N6_I2C_ISR_RXNE},   {N6_I2C_CR1_NACKIE, N6_I2C_ISR_NACKF},
        {N6_I2C_CR1_STOPIE, N6_I2C_ISR_STOPF}, {N6_I2C_CR1_TCIE, N6_I2C_ISR_TC | N6_I2C_ISR_TCR},
    };
    uint32_t control = reg(bus, N6_I2C_CR1_OFFSET), now = status(bus);
    bool pending = false;

    for (unsigned i = 0; i < ARRAY_SIZE(events); i++) {
        pending |= control & events[i][0] && now & events[i][1];
    }
    n6virt_interrupt(bus->event_interrupt, pending);
    n6virt_dma_request(bus->tx_request, control & N6_I2C_CR1_TXDMAEN && now & N6_I2C_ISR_TXIS);
    n6virt_dma_request(bus->rx_request, control & N6_I2C_CR1_RXDMAEN && now & N6_I2C_ISR_RXNE);
}

static void stop(Bus *bus)
{
    bus->flags = (bus->flags & ~(N6_I2C_ISR_TC | N6_I2C_ISR_TCR)) | N6_I2C_ISR_STOPF;
    bus->busy = false;
    bus->device = NULL;
    bus->left = 0;
}

/* End a transfer whose NBYTES are done. */
static void finish(Bus *bus)
{
    uint32_t control = reg(bus, N6_I2C_CR2_OFFSET);

    if (control & N6_I2C_CR2_RELOAD) {
        bus->flags |= N6_I2C_ISR_TCR;
    } else if (control & N6_I2C_CR2_AUTOEND) {
        stop(bus);
    } else {
        bus->flags |= N6_I2C_ISR_TC;
    }
}

/* Receive the next byte, if there is room for it. */
static void receive(Bus *bus)
{
    if (!bus->busy || !bus->device || !bus->reading || !bus->left || bus->received) {
        return;
    }
    bus->data = give(bus->device);
    bus->received = true;
    if (--bus->left == 0) {
        finish(bus);
    }
}

static Device *addressed(const Bus *bus, uint32_t control)
{
    uint32_t address = ((control & N6_I2C_CR2_SADD) >> N6_I2C_CR2_SADD_POS) >> 1;

    for (unsigned i = 0; i < device_count && !(control & N6_I2C_CR2_ADD10); i++) {
        if (devices[i].bus == bus - buses && devices[i].address == (address & 0x7f) && !devices[i].unplugged) {
            return &devices[i];
        }
    }
    return NULL;
}

static void set_left(Bus *bus, uint32_t control)
{
    bus->left = (control & N6_I2C_CR2_NBYTES) >> N6_I2C_CR2_NBYTES_POS;
    if (bus->left) {
        receive(bus);
    } else {
        finish(bus);
    }
}

static void start_transfer(Bus *bus, uint32_t control)
{
    bus->flags &= ~(N6_I2C_ISR_TC | N6_I2C_ISR_TCR);
    bus->busy = true;
    bus->reading = control & N6_I2C_CR2_RD_WRN;
    bus->device = addressed(bus, control);
    if (!bus->device) {
        bus->flags |= N6_I2C_ISR_NACKF;
        stop(bus);
        return;
    }
    begin(bus->device, bus->reading);
    set_left(bus, control);
}

static void control_transfer(Bus *bus, uint32_t value)
{
    bool has_bytes = value & N6_I2C_CR2_NBYTES;

    n6virt_set(bus->block->base + N6_I2C_CR2_OFFSET, value & ~(N6_I2C_CR2_START | N6_I2C_CR2_STOP));
    if (!(reg(bus, N6_I2C_CR1_OFFSET) & N6_I2C_CR1_PE)) {
        return;
    }
    if (value & N6_I2C_CR2_START) {
        start_transfer(bus, value);
    } else if (value & N6_I2C_CR2_STOP && bus->busy) {
        stop(bus);
    } else if (bus->flags & N6_I2C_ISR_TCR && has_bytes) {
        bus->flags &= ~N6_I2C_ISR_TCR;
        set_left(bus, value);
    }
}

static Bus *bus_of(const N6VirtBlock *block)
{
    for (unsigned i = 0; i < BUSES; i++) {
        if (buses[i].block == block) {
            return &buses[i];
        }
    }
    g_assert_not_reached();
}

static uint32_t i2c_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    Bus *bus = bus_of(block);
    uint32_t value;

    switch (offset) {
    case N6_I2C_ISR_OFFSET:
        return status(bus);
    case N6_I2C_RXDR_OFFSET:
        value = bus->data;
        bus->received = false;
        receive(bus);
        update(bus);
        return value;
    default:
        return n6virt_get(block->base + offset);
    }
}

static void forget(Bus *bus)
{
    bus->flags = 0;
    bus->busy = bus->received = false;
    bus->device = NULL;
    bus->left = 0;
}

static void i2c_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    Bus *bus = bus_of(block);

    switch (offset) {
    case N6_I2C_CR1_OFFSET:
        n6virt_set(block->base + offset, value);
        if (!(value & N6_I2C_CR1_PE)) {
            forget(bus);
        }
        break;
    case N6_I2C_CR2_OFFSET:
        control_transfer(bus, value);
        break;
    case N6_I2C_ICR_OFFSET:
        bus->flags &= ~(value & (N6_I2C_ISR_NACKF | N6_I2C_ISR_STOPF));
        break;
    case N6_I2C_TXDR_OFFSET:
        if (waits_for_byte(bus)) {
            take(bus->device, value);
            if (--bus->left == 0) {
                finish(bus);
            }
        }
        break;
    case N6_I2C_ISR_OFFSET:
    case N6_I2C_RXDR_OFFSET:
        break;
    default:
        n6virt_set(block->base + offset, value);
    }
    update(bus);
}

static const N6VirtModel model = {
    .read = i2c_read, .write = i2c_write,
    .registers = (const uint32_t[]){N6_I2C_CR1_OFFSET, N6_I2C_CR2_OFFSET, N6_I2C_OAR1_OFFSET, N6_I2C_OAR2_OFFSET,
                                    N6_I2C_TIMINGR_OFFSET, N6_I2C_TIMEOUTR_OFFSET, N6_I2C_ISR_OFFSET, N6_I2C_ICR_OFFSET,
                                    N6_I2C_RXDR_OFFSET, N6_I2C_TXDR_OFFSET, N6VIRT_END},
};

/* The board */

static _Noreturn void refuse(const char *entry)
{
    error_report("Property i2c-devices: '%s' does not describe a device", entry);
    exit(1);
}

static void add_values(Device *device, const char *entry)
{
    g_auto(GStrv) values = g_strsplit(entry, "+", -1);

    device->values = g_new0(uint32_t, NUMBERS);
    device->constant = g_new0(bool, NUMBERS);
    for (gchar **value = values; *value && **value; value++) {
        char *end;
        unsigned long number = strtoul(*value, &end, 0);

        if (*end != '=' || number > mask_of(device->number_bytes)) {
            refuse(*value);
        }
        device->values[number] = strtoul(end + 1, &end, 0);
        device->constant[number] = *end == '!';
    }
}

static void add_device(const char *entry)
{
    g_auto(GStrv) fields = g_strsplit(entry, ":", -1);
    Device *device = &devices[device_count];

    if (g_strv_length(fields) != 5 || device_count == MAX_DEVICES || !g_str_has_prefix(fields[0], "I2C")) {
        refuse(entry);
    }
    device->bus = strtoul(fields[0] + strlen("I2C"), NULL, 10) - 1;
    device->address = strtoul(fields[1], NULL, 0);
    device->number_bytes = strtoul(fields[2], NULL, 0);
    device->value_bytes = strtoul(fields[3], NULL, 0);
    if (device->bus >= BUSES || device->number_bytes - 1 > 1 || device->value_bytes - 1 > 3) {
        refuse(entry);
    }
    add_values(device, fields[4]);
    device_count++;
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "i2c-devices", &described);
}

#define CONTROLLER(index, name) \
    buses[index] = (Bus){ \
        .block = n6virt_block_at(N6_##name##_BASE), .event_interrupt = N6_IRQ_##name##_EV, \
        .rx_request = N6_DMA_REQUEST_##name##_RX, .tx_request = N6_DMA_REQUEST_##name##_TX, \
    }; \
    n6virt_model(N6_##name##_BASE, &model)

static void start(void)
{
    g_auto(GStrv) entries = g_strsplit(described ? described : "", "/", -1);

    CONTROLLER(0, I2C1);
    CONTROLLER(1, I2C2);
    CONTROLLER(2, I2C3);
    CONTROLLER(3, I2C4);
    for (gchar **entry = entries; *entry && **entry; entry++) {
        add_device(*entry);
    }
}

static void reset(void)
{
    for (unsigned i = 0; i < BUSES; i++) {
        forget(&buses[i]);
    }
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .reset = reset};
N6VIRT_MODULE(module)
