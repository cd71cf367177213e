/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * LTDC: two layers over a background on a panel, refreshed at the rate of its clock. A layer's registers take effect with a reload,
 * at once or at the vertical blanking. A picture counts as shown at the blanking that reloads something; it is composed then, and
 * kept (n6virt_pictures.c). INFERRED: blending divides by 255 and rounds down; the line interrupt comes with the blanking. Not
 * modelled: scaler, rotation, YUV, colour tables, colour keys, gamma.
 */
#include "n6virt.h"
#include "n6virt_pixels.h"

#include "qemu/timer.h"

#define LAYERS 2
#define LAYER_BYTES 0x100u
#define REGISTERS_OF_A_LAYER (LAYER_BYTES / 4)
/* BFCR: factors. */
#define BY_PIXEL 6u
#define MORE_OF_A_LINE 7u
#define MOST_PIXELS (4096u * 4096u)
/* CCIPR4 LTDCSEL */
enum { FROM_BUS, FROM_PER, FROM_IC16, FROM_HSI };
enum { FLEXIBLE = 7 };

typedef struct {
    uint32_t base; /* of its registers, minus the offsets of layer 1 */
    uint32_t active[REGISTERS_OF_A_LAYER];
    uint32_t pc; /* instruction that asked for the last reload */
    N6VirtPort port;
} Layer;

static Layer layers[LAYERS] = {
    {.base = N6_LTDC_BASE, .port = {N6VIRT_MASTER_LTDC1, "LTDC layer 1", "LTDC layer 1"}},
    {.base = N6_LTDC_BASE + LAYER_BYTES, .port = {N6VIRT_MASTER_LTDC2, "LTDC layer 2", "LTDC layer 2"}},
};
static uint32_t flags[2]; /* ISR, ISR2 */
static QEMUTimer *blanking;
static bool runs, is_new;

#define FIELD(value, name, field) (((value) & N6_LTDC_##name##_##field) >> N6_LTDC_##name##_##field##_POS)
#define ACTIVE(layer, name) ((layer)->active[(N6_LTDC_##name##_OFFSET - LAYER_BYTES) / 4])
#define PART(layer, name, field) FIELD(ACTIVE(layer, name), name, field)

static void update(void)
{
    static const uint32_t enables[2] = {N6_LTDC_IER, N6_LTDC_IER2};
    static const unsigned interrupts[2] = {N6_IRQ_LTDC_LO, N6_IRQ_LTDC_UP}, errors[2] = {N6_IRQ_LTDC_LO_ERR, N6_IRQ_LTDC_UP_ERR};
    uint32_t normal = N6_LTDC_ISR_LIF | N6_LTDC_ISR_RRIF;

    for (unsigned i = 0; i < 2; i++) {
        uint32_t pending = flags[i] & n6virt_get(enables[i]);

        n6virt_interrupt(interrupts[i], pending & normal);
        n6virt_interrupt(errors[i], pending & ~normal);
    }
}

static void set_flags(uint32_t which)
{
    flags[0] |= which;
    flags[1] |= which;
}

static void reload(Layer *layer)
{
    for (unsigned i = 0; i < REGISTERS_OF_A_LAYER; i++) {
        layer->active[i] = n6virt_get(layer->base + LAYER_BYTES + 4 * i);
    }
}

/* The picture */

/* Return the flexible format, or NULL if a channel does not fit. */
static const N6VirtFormat *flexible(const Layer *layer)
{
    static N6VirtFormat format;
    uint32_t bits = PART(layer, L1FPF1R, PSIZE) * 8;

    format = (N6VirtFormat){
        .bytes = PART(layer, L1FPF1R, PSIZE),
        .position = {PART(layer, L1FPF0R, APOS), PART(layer, L1FPF0R, RPOS), PART(layer, L1FPF1R, GPOS), PART(layer, L1FPF1R, BPOS)},
        .width = {PART(layer, L1FPF0R, ALEN), PART(layer, L1FPF0R, RLEN), PART(layer, L1FPF1R, GLEN), PART(layer, L1FPF1R, BLEN)},
    };
    for (unsigned i = 0; i < 4; i++) {
        if (format.width[i] > 8 || format.position[i] + format.width[i] > bits || bits > 32) {
            return NULL;
        }
    }
    return bits ? &format : NULL;
}

static const N6VirtFormat *format_of(const Layer *layer)
{
    static const N6VirtFormat *const formats[] = {&n6virt_argb8888, &n6virt_abgr8888, &n6virt_rgba8888, &n6virt_bgra8888,
                                                  &n6virt_rgb565, &n6virt_bgr565, &n6virt_rgb888};
    uint32_t format = PART(layer, L1PFCR, PF);

    return format == FLEXIBLE ? flexible(layer) : formats[format];
}

static const char *not_modelled(const Layer *layer)
{
    if (!format_of(layer)) {
        return "its flexible format (FPF0R, FPF1R)";
    }
    return ACTIVE(layer, L1CR) & (N6_LTDC_L1CR_CLUTEN | N6_LTDC_L1CR_CKEN) ? "colour tables and keys (CR)" : NULL;
}

static uint32_t blended(uint32_t over, uint32_t under, uint32_t own, uint32_t other)
{
    return MIN((own * over + other * under) / 255, 255);
}

/* Blend a line of a layer over a line of the panel. */
static void blend_line(const Layer *layer, const N6VirtFormat *format, const uint8_t *from, uint8_t *to, uint32_t pixels)
{
    uint32_t constant = PART(layer, L1CACR, CONSTA);
    bool own_by_pixel = PART(layer, L1BFCR, BF1) == BY_PIXEL, other_by_pixel = PART(layer, L1BFCR, BF2) == BY_PIXEL + 1;

    for (uint32_t x = 0; x < pixels; x++, from += format->bytes, to += 3) {
        uint32_t pixel = n6virt_pixel(format, from), alpha = constant * (pixel >> 24) / 255;
        uint32_t own = own_by_pixel ? alpha : constant, other = 255 - (other_by_pixel ? alpha : constant);

        for (unsigned i = 0; i < 3; i++) {
            to[i] = blended(pixel >> (16 - 8 * i) & 0xff, to[i], own, other);
        }
    }
}

/* Report lines that are shorter than the window's, and fewer. CFBLL counts seven bytes more, as ST's HAL sets it. */
static void check_lines(const Layer *layer, uint32_t bytes, uint32_t height)
{
    uint32_t length = PART(layer, L1CFBLR, CFBLL), lines = PART(layer, L1CFBLNR, CFBLNBR);

    if (length < bytes + MORE_OF_A_LINE) {
        n6virt_finding_at(layer->pc, "ltdc", layer->base, "%s fetches %d bytes of a line (CFBLR CFBLL), but a line of its window has %u",
                          layer->port.name, (int)(length - MORE_OF_A_LINE), bytes);
    }
    if (lines < height) {
        n6virt_finding_at(layer->pc, "ltdc", layer->base, "%s fetches %u lines (CFBLNR), but its window has %u", layer->port.name, lines,
                          height);
    }
}

/* Compose a layer: its window counts from the first pixel behind synchronisation and back porch. */
static void compose_layer(Layer *layer, uint8_t *panel, uint32_t width, uint32_t height)
{
    uint32_t ahbp = n6virt_field(N6_LTDC_BPCR, N6_LTDC_BPCR_AHBP, N6_LTDC_BPCR_AHBP_POS) + 1;
    uint32_t avbp = n6virt_field(N6_LTDC_BPCR, N6_LTDC_BPCR_AVBP, N6_LTDC_BPCR_AVBP_POS) + 1;
    uint32_t left = PART(layer, L1WHPCR, WHSTPOS) - ahbp, right = PART(layer, L1WHPCR, WHSPPOS) - ahbp + 1;
    uint32_t top = PART(layer, L1WVPCR, WVSTPOS) - avbp, bottom = PART(layer, L1WVPCR, WVSPPOS) - avbp + 1;
    const N6VirtFormat *format = format_of(layer);
    uint32_t address = ACTIVE(layer, L1CFBAR), pitch = PART(layer, L1CFBLR, CFBP), lines = PART(layer, L1CFBLNR, CFBLNBR);

    if (not_modelled(layer)) {
        n6virt_finding_at(layer->pc, "ltdc", layer->base, "%s shows nothing: the virtual board does not model %s", layer->port.name,
                          not_modelled(layer));
        return;
    }
    if (left >= right || top >= bottom || right > width || bottom > height) {
        n6virt_finding_at(layer->pc, "ltdc", layer->base, "The window of %s, %d..%d x %d..%d, is not on the panel of %u x %u",
                          layer->port.name, (int)left, (int)right - 1, (int)top, (int)bottom - 1, width, height);
        return;
    }
    check_lines(layer, (right - left) * format->bytes, bottom - top);
    n6virt_keep_layer(&(N6VirtSurface){address, pitch, format->bytes}, layer - layers + 1, left, top);
    g_autofree uint8_t *line = g_malloc((right - left) * format->bytes);
    for (uint32_t y = 0; y < MIN(bottom - top, lines); y++) {
        if (!n6virt_port_reads(&layer->port, layer->pc, address + y * pitch, line, (right - left) * format->bytes, "")) {
            n6virt_finding_at(layer->pc, "ltdc", address + y * pitch, "%s reads from 0x%08x, where there is no memory", layer->port.name,
                              address + y * pitch);
            set_flags(N6_LTDC_ISR_TERRIF);
            return;
        }
        blend_line(layer, format, line, panel + 3 * ((size_t)(top + y) * width + left), right - left);
    }
}

static uint32_t last_frame;

static void compose(void)
{
    uint32_t ahbp = n6virt_field(N6_LTDC_BPCR, N6_LTDC_BPCR_AHBP, N6_LTDC_BPCR_AHBP_POS);
    uint32_t avbp = n6virt_field(N6_LTDC_BPCR, N6_LTDC_BPCR_AVBP, N6_LTDC_BPCR_AVBP_POS);
    uint32_t width = n6virt_field(N6_LTDC_AWCR, N6_LTDC_AWCR_AAW, N6_LTDC_AWCR_AAW_POS) - ahbp;
    uint32_t height = n6virt_field(N6_LTDC_AWCR, N6_LTDC_AWCR_AAH, N6_LTDC_AWCR_AAH_POS) - avbp;
    uint32_t background = n6virt_get(N6_LTDC_BCCR);

    if (!n6virt_keeps_pictures() || (uint64_t)width * height > MOST_PIXELS || !width || !height) {
        return;
    }
    g_autofree uint8_t *panel = g_malloc(3 * (size_t)width * height);
    for (size_t i = 0; i < (size_t)width * height; i++) {
        panel[3 * i] = background >> 16;
        panel[3 * i + 1] = background >> 8;
        panel[3 * i + 2] = background;
    }
    for (unsigned i = 0; i < LAYERS; i++) {
        if (ACTIVE(&layers[i], L1CR) & N6_LTDC_L1CR_LEN) {
            compose_layer(&layers[i], panel, width, height);
        }
    }
    n6virt_keep_picture(N6VIRT_PANEL, last_frame, width, height, panel);
}

/* Time */

static uint64_t pixel_hz(void)
{
    switch (n6virt_field(N6_RCC_CCIPR4, N6_RCC_CCIPR4_LTDCSEL, N6_RCC_CCIPR4_LTDCSEL_POS)) {
    case FROM_BUS:
        return n6virt_apb_hz(5);
    case FROM_PER:
        return n6virt_per_hz();
    case FROM_IC16:
        return n6virt_ic_hz(16);
    default:
        return n6virt_oscillator_hz(N6_RCC_CR_HSION);
    }
}

static void wait_for_blanking(void)
{
    uint64_t pixels = (uint64_t)(n6virt_field(N6_LTDC_TWCR, N6_LTDC_TWCR_TOTALW, N6_LTDC_TWCR_TOTALW_POS) + 1) *
                      (n6virt_field(N6_LTDC_TWCR, N6_LTDC_TWCR_TOTALH, N6_LTDC_TWCR_TOTALH_POS) + 1);
    uint64_t hz = pixel_hz();

    if (!hz) {
        n6virt_finding("ltdc", N6_LTDC_GCR, "The panel is not refreshed: the kernel clock of LTDC does not run (RCC CCIPR4, DIVENR)");
        runs = false;
        return;
    }
    timer_mod(blanking, n6virt_now() + MAX((int64_t)(pixels * n6virt_cpu_hz() / hz), 1));
}

/* Clear the requests that a reload has fulfilled. */
static void answer(uint32_t address, uint32_t request)
{
    n6virt_set(address, n6virt_get(address) & ~request);
}

static bool reload_at_blanking(void)
{
    bool all = n6virt_has(N6_LTDC_SRCR, N6_LTDC_SRCR_VBR), any = all;

    for (unsigned i = 0; i < LAYERS; i++) {
        uint32_t own = n6virt_get(layers[i].base + N6_LTDC_L1RCR_OFFSET);

        if (own & N6_LTDC_L1RCR_VBR || (all && !(own & N6_LTDC_L1RCR_GRMSK))) {
            reload(&layers[i]);
            answer(layers[i].base + N6_LTDC_L1RCR_OFFSET, N6_LTDC_L1RCR_VBR);
            any = true;
        }
    }
    answer(N6_LTDC_SRCR, N6_LTDC_SRCR_VBR);
    return any;
}

static void on_blanking(void *opaque)
{
    if (!runs) {
        return;
    }
    set_flags(N6_LTDC_ISR_LIF);
    if (reload_at_blanking()) {
        set_flags(N6_LTDC_ISR_RRIF);
        compose();
        is_new = false;
        update();
        n6virt_was_shown();
    }
    update();
    wait_for_blanking();
}

/* Registers */

static uint32_t ltdc_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    switch (offset) {
    case N6_LTDC_ISR_OFFSET:
        return flags[0];
    case N6_LTDC_ISR2_OFFSET:
        return flags[1];
    default:
        return n6virt_get(block->base + offset);
    }
}

static void reload_now(uint32_t offset)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        bool own = offset == N6_LTDC_L1RCR_OFFSET + i * LAYER_BYTES;
        bool all = offset == N6_LTDC_SRCR_OFFSET && !n6virt_has(layers[i].base + N6_LTDC_L1RCR_OFFSET, N6_LTDC_L1RCR_GRMSK);

        if (own || all) {
            layers[i].pc = n6virt_pc();
            reload(&layers[i]);
        }
    }
    set_flags(N6_LTDC_ISR_RRIF);
    is_new = true;
}

static void note_reload(uint32_t offset)
{
    for (unsigned i = 0; i < LAYERS; i++) {
        if (offset == N6_LTDC_SRCR_OFFSET || offset == N6_LTDC_L1RCR_OFFSET + i * LAYER_BYTES) {
            layers[i].pc = n6virt_pc();
        }
    }
}

static void ltdc_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    bool enabled;

    switch (offset) {
    case N6_LTDC_ICR_OFFSET:
        flags[0] &= ~value;
        break;
    case N6_LTDC_ICR2_OFFSET:
        flags[1] &= ~value;
        break;
    case N6_LTDC_SRCR_OFFSET:
    case N6_LTDC_L1RCR_OFFSET:
    case N6_LTDC_L1RCR_OFFSET + LAYER_BYTES:
        note_reload(offset);
        n6virt_set(block->base + offset, value & ~N6_LTDC_L1RCR_IMR);
        if (value & N6_LTDC_L1RCR_IMR) {
            reload_now(offset);
        }
        break;
    case N6_LTDC_GCR_OFFSET:
        n6virt_set(block->base + offset, value);
        enabled = value & N6_LTDC_GCR_LTDCEN;
        if (enabled != runs) {
            runs = enabled;
            if (enabled) {
                wait_for_blanking();
            }
        }
        break;
    default:
        n6virt_set(block->base + offset, value);
    }
    update();
}

/* The model covers the whole block: what has no effect is stored. */
static const N6VirtModel model = {.read = ltdc_read, .write = ltdc_write};

static void note_frame(const N6VirtFrameSent *frame)
{
    last_frame = frame->number;
}

static const N6VirtReceiver receiver = {.start = note_frame, .end = note_frame};

static void start(void)
{
    n6virt_model(N6_LTDC_BASE, &model);
    n6virt_camera_connect(&receiver);
    blanking = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_blanking, NULL);
}

static void reset(void)
{
    flags[0] = flags[1] = 0;
    runs = is_new = false;
    timer_del(blanking);
    for (unsigned i = 0; i < LAYERS; i++) {
        memset(layers[i].active, 0, sizeof(layers[i].active));
        layers[i].pc = 0;
    }
}

/* A program that reloads at once, and never at the blanking, shows its last picture at least. */
static void summarise(GString *summary)
{
    if (runs && is_new) {
        compose();
    }
    for (unsigned i = 0; runs && i < LAYERS; i++) {
        if (!layers[i].pc && n6virt_has(layers[i].base + N6_LTDC_L1CR_OFFSET, N6_LTDC_L1CR_LEN)) {
            n6virt_finding("ltdc", layers[i].base, "%s is on (CR LEN), but shows nothing: its registers were never reloaded (RCR, SRCR)",
                           layers[i].port.name);
        }
    }
}

static const N6VirtModule module = {.start = start, .reset = reset, .summarise = summarise};
N6VIRT_MODULE(module)
