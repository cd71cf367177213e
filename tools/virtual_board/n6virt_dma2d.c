/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * DMA2D: fills, copies, converts and blends rectangles of pixels. A job takes no time: it is done when START is written.
 * Not modelled, and reported: colour tables, L4, A4, YCbCr, line offsets in bytes, modes with a fixed colour.
 */
#include "n6virt.h"
#include "n6virt_pixels.h"

enum { COPY, CONVERT, BLEND, FILL };
/* CM of the foreground and the background: a pixel of 8 bits of alpha, whose colour is in FGCOLR or BGCOLR. */
#define ALPHA_8 9u
/* AM: what replaces a pixel's alpha. */
enum { KEEP_ALPHA, REPLACE_ALPHA, MULTIPLY_ALPHA };

#define DISTANCE (N6_DMA2D_BGMAR_OFFSET - N6_DMA2D_FGMAR_OFFSET)
#define FIELD(value, name, field) (((value) & N6_DMA2D_##name##_##field) >> N6_DMA2D_##name##_##field##_POS)

static uint32_t flags, started_at;
static const N6VirtPort port = {N6VIRT_MASTER_DMA2D, "DMA2D", "DMA2D"};
static const N6VirtFormat *const formats[] = {&n6virt_argb8888, &n6virt_rgb888, &n6virt_rgb565, &n6virt_argb1555, &n6virt_argb4444};

/* A source of pixels: foreground or background. */
typedef struct {
    uint32_t address, gap, control, colour;
} Source;

static const Source *source_of(bool background)
{
    static Source source;
    uint32_t more = background ? N6_DMA2D_BGPFCCR_OFFSET - N6_DMA2D_FGPFCCR_OFFSET : 0;

    source = (Source){
        .address = n6virt_get(N6_DMA2D_FGMAR + (background ? DISTANCE : 0)),
        .gap = n6virt_get(N6_DMA2D_FGOR + (background ? DISTANCE : 0)),
        .control = n6virt_get(N6_DMA2D_FGPFCCR + more),
        .colour = n6virt_get(N6_DMA2D_FGCOLR + more),
    };
    return &source;
}

static void update(void)
{
    uint32_t enabled = n6virt_get(N6_DMA2D_CR) >> N6_DMA2D_CR_TEIE_POS;

    n6virt_interrupt(N6_IRQ_DMA2D, flags & enabled);
}

static unsigned bytes_of(uint32_t format)
{
    return format < ARRAY_SIZE(formats) ? formats[format]->bytes : format == ALPHA_8 ? 1 : 0;
}

static uint32_t converted(const Source *source, const uint8_t *at)
{
    uint32_t format = FIELD(source->control, FGPFCCR, CM), own = FIELD(source->control, FGPFCCR, ALPHA);
    uint32_t pixel = format == ALPHA_8 ? (uint32_t)*at << 24 | (source->colour & 0xffffff) : n6virt_pixel(formats[format], at);
    uint32_t alpha = pixel >> 24;

    switch (FIELD(source->control, FGPFCCR, AM)) {
    case REPLACE_ALPHA:
        alpha = own;
        break;
    case MULTIPLY_ALPHA:
        alpha = alpha * own / 255;
        break;
    }
    alpha = source->control & N6_DMA2D_FGPFCCR_AI ? 255 - alpha : alpha;
    if (source->control & N6_DMA2D_FGPFCCR_RBS) {
        pixel = (pixel & 0xff00) | (pixel >> 16 & 0xff) | (pixel & 0xff) << 16;
    }
    return (pixel & 0xffffff) | alpha << 24;
}

static uint32_t blended(uint32_t over, uint32_t under)
{
    uint32_t a = over >> 24, b = under >> 24, both = a * b / 255, alpha = a + b - both, pixel = alpha << 24;

    for (unsigned shift = 0; shift < 24 && alpha; shift += 8) {
        uint32_t upper = over >> shift & 0xff, lower = under >> shift & 0xff;

        pixel |= MIN((upper * a + lower * b - lower * both) / alpha, 255) << shift;
    }
    return pixel;
}

static bool reads(const Source *source, uint32_t line, uint32_t width, uint8_t *to)
{
    uint32_t bytes = bytes_of(FIELD(source->control, FGPFCCR, CM));

    return n6virt_port_reads(&port, started_at, source->address + line * (width + source->gap) * bytes, to, width * bytes, "");
}

static const char *not_modelled(uint32_t mode)
{
    uint32_t output = FIELD(n6virt_get(N6_DMA2D_OPFCCR), OPFCCR, CM);

    if (mode > FILL) {
        return "modes with a fixed colour (CR MODE)";
    }
    if (output >= ARRAY_SIZE(formats)) {
        return "this output format (OPFCCR CM)";
    }
    if (mode != FILL && !bytes_of(FIELD(source_of(false)->control, FGPFCCR, CM))) {
        return "this format of the foreground (FGPFCCR CM)";
    }
    if (mode == BLEND && !bytes_of(FIELD(source_of(true)->control, FGPFCCR, CM))) {
        return "this format of the background (BGPFCCR CM)";
    }
    return n6virt_get(N6_DMA2D_CR) & 1u << 6 ? "line offsets in bytes (CR LOM)" : NULL;
}

/* Make a line of the output. Return false where a source is no memory. */
static bool make_line(uint32_t mode, uint32_t line, uint32_t width, uint8_t *out)
{
    const N6VirtFormat *format = formats[FIELD(n6virt_get(N6_DMA2D_OPFCCR), OPFCCR, CM)];
    g_autofree uint8_t *upper = g_malloc(4 * (size_t)width), *lower = g_malloc(4 * (size_t)width);
    const Source front = *source_of(false), back = *source_of(true);
    uint32_t colour = n6virt_get(N6_DMA2D_OCOLR);

    if (mode == FILL) {
        for (uint32_t x = 0; x < width; x++) {
            for (unsigned i = 0; i < format->bytes; i++) {
                out[x * format->bytes + i] = colour >> 8 * i;
            }
        }
        return true;
    }
    if (!reads(&front, line, width, upper) || (mode == BLEND && !reads(&back, line, width, lower))) {
        return false;
    }
    if (mode == COPY) {
        memcpy(out, upper, (size_t)width * format->bytes);
        return true;
    }
    for (uint32_t x = 0; x < width; x++) {
        uint32_t pixel = converted(&front, upper + x * bytes_of(FIELD(front.control, FGPFCCR, CM)));

        if (mode == BLEND) {
            pixel = blended(pixel, converted(&back, lower + x * bytes_of(FIELD(back.control, FGPFCCR, CM))));
        }
        n6virt_put_pixel(format, out + x * format->bytes, pixel);
    }
    return true;
}

/* Do the job. Return the flag that it ends with. */
static uint32_t run(uint32_t mode)
{
    uint32_t size = n6virt_get(N6_DMA2D_NLR), width = FIELD(size, NLR, PL), height = FIELD(size, NLR, NL);
    uint32_t address = n6virt_get(N6_DMA2D_OMAR), gap = n6virt_get(N6_DMA2D_OOR);
    unsigned bytes;

    if (not_modelled(mode)) {
        n6virt_finding("dma2d", N6_DMA2D_CR, "DMA2D does nothing: the virtual board does not model %s", not_modelled(mode));
        return N6_DMA2D_ISR_TCIF;
    }
    /* INFERRED from other STM32. */
    if (!width || !height) {
        n6virt_finding("dma2d", N6_DMA2D_NLR, "DMA2D does nothing: its rectangle has %u x %u pixels (NLR)", width, height);
        return N6_DMA2D_ISR_CEIF;
    }
    bytes = bytes_of(FIELD(n6virt_get(N6_DMA2D_OPFCCR), OPFCCR, CM));
    g_autofree uint8_t *line = g_malloc((size_t)width * bytes);
    for (uint32_t y = 0; y < height; y++) {
        uint32_t at = address + y * (width + gap) * bytes;

        if (!make_line(mode, y, width, line) || !n6virt_port_writes(&port, started_at, at, line, width * bytes, "")) {
            n6virt_finding("dma2d", at, "DMA2D stops at line %u: there is no memory at a source, or at 0x%08x", y, at);
            return N6_DMA2D_ISR_TEIF;
        }
    }
    if (mode == FILL) {
        n6virt_keep_fill(&(N6VirtSurface){address, (width + gap) * bytes, bytes}, width, height, n6virt_get(N6_DMA2D_OCOLR));
    }
    return N6_DMA2D_ISR_TCIF;
}

static uint32_t dma2d_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    return offset == N6_DMA2D_ISR_OFFSET ? flags : n6virt_get(block->base + offset);
}

static void dma2d_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    if (offset == N6_DMA2D_IFCR_OFFSET) {
        flags &= ~value;
    } else if (offset == N6_DMA2D_CR_OFFSET) {
        n6virt_set(block->base + offset, value & ~(N6_DMA2D_CR_START | N6_DMA2D_CR_ABORT));
        if (value & N6_DMA2D_CR_START) {
            started_at = n6virt_pc();
            flags |= run(FIELD(value, CR, MODE));
        }
    } else {
        n6virt_set(block->base + offset, value);
    }
    update();
}

static const uint32_t registers[] = {
    N6_DMA2D_CR_OFFSET, N6_DMA2D_ISR_OFFSET, N6_DMA2D_IFCR_OFFSET, N6_DMA2D_FGMAR_OFFSET, N6_DMA2D_FGOR_OFFSET,
    N6_DMA2D_BGMAR_OFFSET, N6_DMA2D_BGOR_OFFSET, N6_DMA2D_FGPFCCR_OFFSET, N6_DMA2D_FGCOLR_OFFSET, N6_DMA2D_BGPFCCR_OFFSET,
    N6_DMA2D_BGCOLR_OFFSET, N6_DMA2D_OPFCCR_OFFSET, N6_DMA2D_OCOLR_OFFSET, N6_DMA2D_OMAR_OFFSET, N6_DMA2D_OOR_OFFSET,
    N6_DMA2D_NLR_OFFSET, N6_DMA2D_LWR_OFFSET, N6_DMA2D_AMTCR_OFFSET, N6VIRT_END,
};
static const N6VirtModel model = {.read = dma2d_read, .write = dma2d_write, .registers = registers};

static void start(void)
{
    n6virt_model(N6_DMA2D_BASE, &model);
}

static void reset(void)
{
    flags = 0;
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
