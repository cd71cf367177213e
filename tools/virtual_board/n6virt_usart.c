/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * USART1, the board's console: a terminal at the board's pins and rate. A byte that the terminal could not read there is not
 * printed, or printed as garbage. Bytes from the terminal wait until the program reads them: the time at which the host sends
 * them is no property of the board, so nothing overruns. They are fetched in large pieces, since each piece needs a turn of the
 * host's main loop, which has to wait for it on a busy host. Bytes to the terminal wait, too: for the end of their line, and no
 * longer than a moment of guest time. A call of the host for each byte would take half of the time of a long result.
 *
 *   ,console-port=ADDRESS,console-tx=PIN,console-alternate=N,console-baud=N   without them every pin and rate is accepted
 */
#include "n6virt.h"
#include "n6virt_qemu.h"

#include "chardev/char-fe.h"
#include "qapi/error.h"
#include "qemu/timer.h"

/* A receiver samples in the middle of a bit: after ten bits it may be off by half of one. */
#define TOLERANCE_PERCENT 5
#define GARBAGE 0xfe
/* Guest time that a byte to the terminal waits at most. */
#define SENT_WITHIN 100000

/* RCC CCIPR13 USART1SEL */
enum { FROM_PCLK2, FROM_PER, FROM_IC9, FROM_IC14, FROM_LSE, FROM_MSI, FROM_HSI };

static CharBackend console;
/* Bytes from the terminal, from first to end; the size is a power of two. */
static uint8_t waiting[4096];
static uint32_t first, end;
/* Bytes for the terminal. */
static uint8_t leaving[4096];
static uint32_t leaving_count;
static QEMUTimer *leaves;
/* The value that was read last from RDR; a further read gives it again. */
static uint8_t received;
static uint32_t port, tx, alternate, baud;

static bool has_received(void)
{
    return first != end;
}

static uint32_t reg(uint32_t offset)
{
    return n6virt_get(N6_USART1_BASE + offset);
}

static uint64_t kernel_hz(void)
{
    switch (n6virt_field(N6_RCC_CCIPR13, N6_RCC_CCIPR13_USART1SEL, N6_RCC_CCIPR13_USART1SEL_POS)) {
    case FROM_PCLK2:
        return n6virt_apb_hz(2);
    case FROM_IC9:
        return n6virt_ic_hz(9);
    case FROM_IC14:
        return n6virt_ic_hz(14);
    case FROM_MSI:
        return n6virt_oscillator_hz(N6_RCC_CR_MSION);
    case FROM_HSI:
        return n6virt_oscillator_hz(N6_RCC_CR_HSION);
    case FROM_PER:
        return n6virt_per_hz();
    default: /* LSE is not modelled */
        return 0;
    }
}

/* Return the bits per second; 0 if USART1 does not run. */
static uint64_t rate(void)
{
    static const uint16_t dividers[] = {1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256};
    uint32_t prescaler = reg(N6_USART1_PRESC_OFFSET) & 15, divisor = reg(N6_USART1_BRR_OFFSET) & 0xffff;
    uint64_t hz = kernel_hz() / dividers[MIN(prescaler, ARRAY_SIZE(dividers) - 1)];

    if (reg(N6_USART1_CR1_OFFSET) & N6_USART1_CR1_OVER8) {
        divisor = (divisor & 0xfff0) | (divisor & 7) << 1;
        hz *= 2;
    }
    return divisor >= 16 ? hz / divisor : 0;
}

/* Return whether a port that is not the NOR's or the PSRAM's has a pin in alternate mode. */
static bool any_pin(void)
{
#define HAS_PIN(letter, base, enable) \
    { \
        uint32_t mode = n6virt_get(base + N6_GPIO_MODER_OFFSET); \
        if (!n6virt_nor_uses_port(base) && !n6virt_psram_uses_port(base) && mode >> 1 & ~mode & 0x55555555) { \
            return true; \
        } \
    }
    N6VIRT_PORTS(HAS_PIN)
    return false;
}

static bool has_pin(void)
{
    return port ? n6virt_pin_is(port, tx, alternate) : any_pin();
}

static void deliver(void *opaque)
{
    if (leaving_count) {
        qemu_chr_fe_write_all(&console, leaving, leaving_count);
        leaving_count = 0;
        timer_del(leaves);
    }
}

static void wait_for_line(uint8_t character)
{
    if (!leaving_count) {
        timer_mod(leaves, n6virt_now() + SENT_WITHIN);
    }
    leaving[leaving_count++] = character;
    if (character == '\n' || leaving_count == sizeof(leaving)) {
        deliver(NULL);
    }
}

static void transmit(uint8_t character)
{
    uint32_t enabled = N6_USART1_CR1_UE | N6_USART1_CR1_TE;
    uint64_t bits = rate();

    if ((reg(N6_USART1_CR1_OFFSET) & enabled) != enabled || !reg(N6_USART1_BRR_OFFSET)) {
        n6virt_finding("console", N6_USART1_TDR, "USART1 is written before it is enabled (CR1 UE and TE, BRR)");
        return;
    }
    if (!has_pin()) {
        if (port) {
            n6virt_finding("console", N6_USART1_TDR, "USART1 is written while P%c%u, the board's TX pin, is not set to it (alternate "
                           "function %u)", n6virt_port_letter(port), tx, alternate);
        } else {
            n6virt_finding("console", N6_USART1_TDR, "USART1 is written while no pin is set to it (GPIO MODER, AFRL or AFRH)");
        }
        return;
    }
    if (baud && (bits * 100 > baud * (100ull + TOLERANCE_PERCENT) || bits * 100 < baud * (100ull - TOLERANCE_PERCENT))) {
        n6virt_finding("console", N6_USART1_TDR, "USART1 sends %" PRIu64 " bits a second, but the terminal reads %u: garbage (BRR, PRESC, "
                       "RCC CCIPR13 USART1SEL)", bits, baud);
        character = GARBAGE;
    }
    wait_for_line(character);
    n6virt_not_silent();
    n6virt_said(character);
}

static uint32_t status(void)
{
    uint32_t control = reg(N6_USART1_CR1_OFFSET), value = N6_USART1_ISR_TXE | N6_USART1_ISR_TC;

    value |= control & N6_USART1_CR1_TE ? N6_USART1_ISR_TEACK : 0;
    value |= control & N6_USART1_CR1_RE ? N6_USART1_ISR_REACK : 0;
    return value | (has_received() ? N6_USART1_ISR_RXNE : 0);
}

static void update_interrupt(void)
{
    uint32_t control = reg(N6_USART1_CR1_OFFSET);

    n6virt_interrupt(N6_IRQ_USART1, (control & N6_USART1_CR1_RXNEIE && has_received()) ||
                                        control & (N6_USART1_CR1_TXEIE | N6_USART1_CR1_TCIE));
}

static uint32_t usart_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    switch (offset) {
    case N6_USART1_ISR_OFFSET:
        return status();
    case N6_USART1_RDR_OFFSET:
        if (has_received()) {
            received = waiting[first++ % sizeof(waiting)];
            n6virt_not_silent();
            update_interrupt();
            if (!has_received()) {
                qemu_chr_fe_accept_input(&console);
            }
        }
        return received;
    default:
        return n6virt_get(block->base + offset);
    }
}

static void usart_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    n6virt_set(block->base + offset, value);
    if (offset == N6_USART1_TDR_OFFSET) {
        transmit(value);
    }
    update_interrupt();
}

static const N6VirtModel usart = {
    .read = usart_read, .write = usart_write,
    .registers = (const uint32_t[]){N6_USART1_CR1_OFFSET, N6_USART1_CR2_OFFSET, N6_USART1_CR3_OFFSET, N6_USART1_BRR_OFFSET,
                                    N6_USART1_RQR_OFFSET, N6_USART1_ISR_OFFSET, N6_USART1_ICR_OFFSET, N6_USART1_RDR_OFFSET,
                                    N6_USART1_TDR_OFFSET, N6_USART1_PRESC_OFFSET, N6VIRT_END},
};

static int can_receive(void *opaque)
{
    return sizeof(waiting) - (end - first);
}

static void receive(void *opaque, const uint8_t *data, int size)
{
    for (int i = 0; i < size; i++) {
        waiting[end++ % sizeof(waiting)] = data[i];
    }
    n6virt_not_silent();
    update_interrupt();
}

static void add_properties(Object *machine)
{
    object_property_add_uint32_ptr(machine, "console-port", &port, OBJ_PROP_FLAG_READWRITE);
    object_property_add_uint32_ptr(machine, "console-tx", &tx, OBJ_PROP_FLAG_READWRITE);
    object_property_add_uint32_ptr(machine, "console-alternate", &alternate, OBJ_PROP_FLAG_READWRITE);
    object_property_add_uint32_ptr(machine, "console-baud", &baud, OBJ_PROP_FLAG_READWRITE);
}

/* The program stops for a debugger, or the emulator is about to end, and the terminal is still there. */
static void on_state(void *opaque, bool is_running, RunState state)
{
    if (!is_running) {
        deliver(NULL);
    }
}

static void start(void)
{
    leaves = timer_new_ns(QEMU_CLOCK_VIRTUAL, deliver, NULL);
    qemu_add_vm_change_state_handler(on_state, NULL);
    n6virt_model(N6_USART1_BASE, &usart);
    if (qemu_chr_fe_init(&console, serial_hd(0), &error_fatal)) {
        qemu_chr_fe_set_handlers(&console, can_receive, receive, NULL, NULL, NULL, NULL, true);
    }
}

/* The emulator ends at once. */
static void summarise(GString *summary)
{
    deliver(NULL);
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start, .summarise = summarise};
N6VIRT_MODULE(module)
