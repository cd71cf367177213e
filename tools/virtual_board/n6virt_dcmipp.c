/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * DCMIPP: pipes 1 and 2 write frames of the camera to memory, through crop, decimation, downsize, exchange of red and blue, and a
 * packer. If the camera sends finished pixels, the ISP in front of the crop is stored without effect, and its statistics report a
 * frame of the right exposure; raw pixels go through the ISP, with the settings at the frame's end. INFERRED: the settings of a frame are those at its start; a snapshot clears CPTREQ with
 * the frame's end; a picture is in memory at the end of the frame, not before. Not modelled: pipe 0 (raw data), the parallel
 * interface, YUV, line wrap, regions of interest, limits.
 */
#include "n6virt.h"
#include "n6virt_isp.h"
#include "n6virt_pixels.h"

#include "qemu/bitops.h"

#define PIPES 3
/* Registers of a pipe are after those of the pipe before; a frame's current values, after the registers. */
#define PIPE_BYTES (N6_DCMIPP_P2FSCR_OFFSET - N6_DCMIPP_P1FSCR_OFFSET)
#define CURRENT 0x200u
#define FLAGS_OF_A_PIPE 8
#define ALIGNMENT 16u
/* Flags of a pipe, in CMSR2 shifted by its number. */
enum { LINE = 1u, FRAME = 2u, VSYNC = 4u };
#define ALL_FLAGS 0xffu
/* The average of a channel that ST's automatic exposure leaves alone. */
#define RIGHT_AVERAGE 56u
#define ACCUMULATED 256u
/* A program that misses so many frames does not just begin in the middle of one. */
#define FRAMES_TO_MISS 3u

typedef struct {
    unsigned number;
    uint32_t control, enable, flags_enable; /* addresses of FCTCR, FSCR and IER */
    bool captures;                          /* the frame that the camera sends */
    uint32_t frames;                        /* captured ones */
    uint32_t pc;                            /* instruction that requested the capture */
    /* The last picture and what it was computed from, since a camera often sends the same again: */
    N6VirtPath path;
    const uint8_t *pixels;
    uint8_t *picture;
    /* The frame behind the ISP, if the camera sends raw pixels: */
    N6VirtIsp isp;
    const uint8_t *scene;
    uint8_t *developed;
} Pipe;

#define PIPE(n) {.number = n, .control = N6_DCMIPP_P##n##FCTCR, .enable = N6_DCMIPP_P##n##FSCR, .flags_enable = N6_DCMIPP_P##n##IER}
static Pipe pipes[PIPES] = {PIPE(0), PIPE(1), PIPE(2)};
static uint32_t flags;
static N6VirtSums sums; /* statistics of the last frame that was developed */
static uint32_t sent; /* frames of the camera since the last reset */
static const N6VirtPort port = {N6VIRT_MASTER_DCMIPP, "DCMIPP", "DCMIPP"};

/* Return a register of pipe 1 or 2, named as that of pipe 1: the value of the current frame. */
static uint32_t current(const Pipe *pipe, uint32_t address)
{
    return n6virt_get(address + (pipe->number - 1) * PIPE_BYTES + CURRENT);
}

#define PART(pipe, name, field) \
    ((current(pipe, N6_DCMIPP_P1##name) & N6_DCMIPP_P1##name##_##field) >> N6_DCMIPP_P1##name##_##field##_POS)

static uint32_t flags_of(const Pipe *pipe)
{
    return flags >> (FLAGS_OF_A_PIPE * (pipe->number + 1)) & ALL_FLAGS;
}

static void set_flags(const Pipe *pipe, uint32_t which)
{
    flags |= which << (FLAGS_OF_A_PIPE * (pipe->number + 1));
}

static void update(void)
{
    bool pending = flags & n6virt_get(N6_DCMIPP_CMIER);

    for (unsigned i = 0; i < PIPES; i++) {
        pending |= flags_of(&pipes[i]) & n6virt_get(pipes[i].flags_enable);
    }
    n6virt_interrupt(N6_IRQ_DCMIPP, pending);
}

/* Settings */

static uint32_t least_one(uint32_t value)
{
    return value ? value : 1;
}

static N6VirtPath path_of(const Pipe *pipe, const N6VirtFrameSent *frame)
{
    N6VirtPath path = {.width = frame->width, .height = frame->height, .keep_x = 1, .keep_y = 1};

    if (PART(pipe, CRSZR, ENABLE)) {
        path.left = MIN(PART(pipe, CRSTR, HSTART), frame->width - 1);
        path.top = MIN(PART(pipe, CRSTR, VSTART), frame->height - 1);
        path.width = MIN(least_one(PART(pipe, CRSZR, HSIZE)), frame->width - path.left);
        path.height = MIN(least_one(PART(pipe, CRSZR, VSIZE)), frame->height - path.top);
    }
    if (PART(pipe, DCCR, ENABLE)) {
        path.keep_x = 1u << PART(pipe, DCCR, HDEC);
        path.keep_y = 1u << PART(pipe, DCCR, VDEC);
    }
    if (PART(pipe, DSCR, ENABLE)) {
        path.scales = true;
        path.ratio_x = least_one(PART(pipe, DSRTIOR, HRATIO));
        path.ratio_y = least_one(PART(pipe, DSRTIOR, VRATIO));
        path.divisor_x = PART(pipe, DSCR, HDIV);
        path.divisor_y = PART(pipe, DSCR, VDIV);
        path.out_width = least_one(PART(pipe, DSSZR, HSIZE));
        path.out_height = least_one(PART(pipe, DSSZR, VSIZE));
    }
    return path;
}

/* Return the packer's format in memory, or NULL. Red and blue are exchanged in front of it. */
static const N6VirtFormat *format_of(const Pipe *pipe)
{
    static const N6VirtFormat *const formats[] = {&n6virt_rgb888, &n6virt_rgb565, &n6virt_argb8888, &n6virt_rgba8888};
    static const N6VirtFormat *const exchanged[] = {&n6virt_bgr888, &n6virt_bgr565, &n6virt_abgr8888, &n6virt_bgra8888};
    uint32_t format = PART(pipe, PPCR, FORMAT);

    if (format >= ARRAY_SIZE(formats)) {
        return NULL;
    }
    return PART(pipe, PPCR, SWAPRB) ? exchanged[format] : formats[format];
}

/* Return the reason why the virtual board cannot make the picture, or NULL. */
static const char *not_modelled(const Pipe *pipe)
{
    if (!pipe->number) {
        return "pipe 0, which writes raw data";
    }
    if (!format_of(pipe)) {
        return "this format of PPCR";
    }
    if (PART(pipe, PPCR, LMAWE)) {
        return "line wrap (PPCR LMAWE)";
    }
    if (n6virt_camera_raw() && n6virt_get(N6_DCMIPP_P1DECR) & (N6_DCMIPP_P1DECR_HDEC | N6_DCMIPP_P1DECR_VDEC)) {
        return "decimation of raw pixels (DECR)";
    }
    if (pipe->number == 1 && PART(pipe, YUVCR, ENABLE)) {
        return "conversion to YUV (YUVCR)";
    }
    return NULL;
}

/* Report settings that lose data on a chip. */
static void check_settings(const Pipe *pipe, const N6VirtPath *path, uint32_t address, uint32_t pitch, uint32_t row)
{
    uint32_t width = (path->width + path->keep_x - 1) / path->keep_x, height = (path->height + path->keep_y - 1) / path->keep_y;

    if (address % ALIGNMENT || pitch % ALIGNMENT) {
        n6virt_finding_at(pipe->pc, "capture-unaligned", address,
                          "Pipe %u of DCMIPP writes to 0x%08x with a pitch of %u bytes: both have to be multiples of %u", pipe->number,
                          address, pitch, ALIGNMENT);
    }
    if (pitch < row) {
        n6virt_finding_at(pipe->pc, "capture-pitch", address,
                          "Pipe %u of DCMIPP has a pitch of %u bytes, but a line of its picture has %u: lines overwrite each other",
                          pipe->number, pitch, row);
    }
    if (path->scales && ((uint64_t)(path->out_width - 1) * path->ratio_x / 8192 >= width ||
                         (uint64_t)(path->out_height - 1) * path->ratio_y / 8192 >= height)) {
        n6virt_finding_at(pipe->pc, "capture-scale", address,
                          "Pipe %u of DCMIPP makes %u x %u pixels of %u x %u with ratios of %u and %u: its windows begin behind the "
                          "picture (DSSZR, DSRTIOR)", pipe->number, path->out_width, path->out_height, width, height, path->ratio_x,
                          path->ratio_y);
    }
}

/* The ISP */

#define ISP(name, field) n6virt_field(N6_DCMIPP_P1##name, N6_DCMIPP_P1##name##_##field, N6_DCMIPP_P1##name##_##field##_POS)
#define SIGNED(name, field, bits) sextract32(ISP(name, field), 0, bits)
#define ROW(C) {SIGNED(CC##C##R1, C##R, 11), SIGNED(CC##C##R1, C##G, 11), SIGNED(CC##C##R2, C##B, 11)}

static N6VirtIsp isp_of(const Pipe *pipe)
{
    N6VirtIsp isp = {
        .gain = {128, 128, 128},
        .has_colours = ISP(DMCR, ENABLE),
        .pattern = ISP(DMCR, TYPE),
        .has_matrix = ISP(CCCR, ENABLE),
        .factor = {ROW(R), ROW(G), ROW(B)},
        .offset = {SIGNED(CCRR2, RA, 10), SIGNED(CCGR2, GA, 10), SIGNED(CCBR2, BA, 10)},
        .has_gamma = n6virt_has(N6_DCMIPP_P1GMCR + (pipe->number - 1) * PIPE_BYTES, N6_DCMIPP_P1GMCR_ENABLE),
    };

    if (ISP(BLCCR, ENABLE)) {
        isp.black[N6VIRT_R] = ISP(BLCCR, BLCR);
        isp.black[N6VIRT_G] = ISP(BLCCR, BLCG);
        isp.black[N6VIRT_B] = ISP(BLCCR, BLCB);
    }
    if (ISP(EXCR1, ENABLE)) {
        isp.gain[N6VIRT_R] = ISP(EXCR1, MULTR);
        isp.gain[N6VIRT_G] = ISP(EXCR2, MULTG);
        isp.gain[N6VIRT_B] = ISP(EXCR2, MULTB);
        isp.shift[N6VIRT_R] = ISP(EXCR1, SHFR);
        isp.shift[N6VIRT_G] = ISP(EXCR2, SHFG);
        isp.shift[N6VIRT_B] = ISP(EXCR2, SHFB);
    }
    return isp;
}

static N6VirtWindow statistics_window(void)
{
    return (N6VirtWindow){ISP(STSTR, HSTART), ISP(STSTR, VSTART), ISP(STSZR, HSIZE), ISP(STSZR, VSIZE)};
}

/* Return the frame behind the ISP. */
static const uint8_t *developed(Pipe *pipe, const N6VirtFrameSent *frame)
{
    const N6VirtSensor *sensor = n6virt_camera_raw();
    N6VirtWindow window = statistics_window();
    N6VirtIsp isp;

    if (!sensor) {
        return frame->pixels;
    }
    isp = isp_of(pipe);
    if (pipe->scene != frame->pixels || memcmp(&isp, &pipe->isp, sizeof(isp))) {
        pipe->isp = isp;
        pipe->scene = frame->pixels;
        pipe->pixels = NULL;
        pipe->developed = g_realloc(pipe->developed, N6VIRT_COLOURS * (size_t)frame->width * frame->height);
        sums = (N6VirtSums){0};
        n6virt_develop(&isp, sensor, frame->pixels, frame->width, frame->height, &window, pipe->developed, &sums);
    }
    return pipe->developed;
}

/* Capture */

static void follow_path(Pipe *pipe, const N6VirtPath *path, const N6VirtFrameSent *frame, uint32_t width, uint32_t height)
{
    const uint8_t *from = developed(pipe, frame);

    if (pipe->picture && pipe->pixels == from && !memcmp(path, &pipe->path, sizeof(*path))) {
        return;
    }
    pipe->path = *path;
    pipe->pixels = from;
    pipe->picture = g_realloc(pipe->picture, 3 * (size_t)width * height);
    n6virt_follow_path(path, from, frame->width, pipe->picture);
}

static void write_picture(Pipe *pipe, const N6VirtFrameSent *frame)
{
    const N6VirtFormat *format = format_of(pipe);
    N6VirtPath path = path_of(pipe, frame);
    bool second = PART(pipe, PPCR, DBM) && pipe->frames % 2;
    uint32_t address = current(pipe, second ? N6_DCMIPP_P1PPM0AR2 : N6_DCMIPP_P1PPM0AR1), pitch = PART(pipe, PPM0PR, PITCH);
    uint32_t width, height;

    n6virt_path_size(&path, &width, &height);
    check_settings(pipe, &path, address, pitch, width * format->bytes);
    follow_path(pipe, &path, frame, width, height);
    g_autofree uint8_t *line = g_malloc((size_t)width * format->bytes);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t *at = pipe->picture + 3 * ((size_t)y * width + x);

            n6virt_put_pixel(format, line + (size_t)x * format->bytes, 0xff000000u | at[0] << 16 | at[1] << 8 | at[2]);
        }
        if (!n6virt_port_writes(&port, pipe->pc, address + y * pitch, line, width * format->bytes, "")) {
            n6virt_finding_at(pipe->pc, "capture-nowhere", address + y * pitch,
                              "Pipe %u of DCMIPP cannot write line %u of its picture to 0x%08x: there is no memory", pipe->number, y,
                              address + y * pitch);
            flags |= N6_DCMIPP_CMSR2_ATXERRF;
            return;
        }
    }
    n6virt_set(N6_DCMIPP_P1STM0AR + (pipe->number - 1) * PIPE_BYTES, address);
    n6virt_keep_picture(N6VIRT_PIPE_0 + pipe->number, frame->number, width, height, pipe->picture);
}

static void latch(const Pipe *pipe)
{
    uint32_t first = pipe->number == 1 ? N6_DCMIPP_P1FSCR : N6_DCMIPP_P2FSCR;

    for (uint32_t offset = 0; pipe->number && offset < N6_DCMIPP_P1STM0AR - N6_DCMIPP_P1FSCR; offset += 4) {
        n6virt_set(first + offset + CURRENT, n6virt_get(first + offset));
    }
}

/* Return the reason why DCMIPP does not receive the camera, or NULL. */
static const char *source_objection(void)
{
    return n6virt_has(N6_DCMIPP_CMCR, N6_DCMIPP_CMCR_INSEL) ? n6virt_csi_objection(0) : "DCMIPP takes the parallel interface (CMCR INSEL)";
}

static void start_frame(const N6VirtFrameSent *frame)
{
    sent++;
    if (source_objection()) {
        return;
    }
    n6virt_set(N6_DCMIPP_CMFRCR, frame->number);
    for (unsigned i = 0; i < PIPES; i++) {
        Pipe *pipe = &pipes[i];
        uint32_t control = n6virt_get(pipe->control), rate = control & N6_DCMIPP_P0FCTCR_FRATE;

        if (!n6virt_has(pipe->enable, N6_DCMIPP_P0FSCR_PIPEN)) {
            continue;
        }
        latch(pipe);
        set_flags(pipe, VSYNC);
        pipe->captures = control & N6_DCMIPP_P0FCTCR_CPTREQ && !((frame->number - 1) % (1u << rate));
        if (pipe->captures && not_modelled(pipe)) {
            n6virt_finding_at(pipe->pc, "dcmipp", pipe->control,
                              "Pipe %u of DCMIPP captures nothing: the virtual board does not model %s", i, not_modelled(pipe));
            pipe->captures = false;
        }
    }
    update();
}

static void end_frame(const N6VirtFrameSent *frame)
{
    for (unsigned i = 0; i < PIPES; i++) {
        Pipe *pipe = &pipes[i];

        if (!pipe->captures) {
            continue;
        }
        pipe->captures = false;
        write_picture(pipe, frame);
        pipe->frames++;
        set_flags(pipe, FRAME | LINE);
        if (n6virt_has(pipe->control, N6_DCMIPP_P0FCTCR_CPTMODE)) {
            n6virt_set(pipe->control, n6virt_get(pipe->control) & ~N6_DCMIPP_P0FCTCR_CPTREQ);
        }
    }
    update();
}

/* Registers */

static uint32_t active(void)
{
    uint32_t bits = 0;

    for (unsigned i = 0; i < PIPES; i++) {
        bits |= pipes[i].captures ? 1u << (FLAGS_OF_A_PIPE * (i + 1) + 7) : 0;
    }
    return bits;
}

/* Sources of statistics: red, green and blue before the black level, then their luminance; the same of developed pixels. */
#define LUMINANCE 3u
#define OF_DEVELOPED 4u

/* Return the sum of one of the three modules. */
static uint32_t statistics(unsigned module)
{
    N6VirtWindow window = statistics_window();
    uint32_t control = n6virt_get(N6_DCMIPP_P1ST1CR + 4 * module);
    uint32_t source = (control & N6_DCMIPP_P1ST1CR_SRC) >> N6_DCMIPP_P1ST1CR_SRC_POS;
    const uint64_t *of = source < OF_DEVELOPED ? sums.raw : sums.developed;

    if (!n6virt_camera_raw()) {
        return (uint64_t)window.width * window.height * RIGHT_AVERAGE / ACCUMULATED;
    }
    if (source % OF_DEVELOPED == LUMINANCE) {
        return (sums.developed[N6VIRT_R] * 299 + sums.developed[N6VIRT_G] * 587 + sums.developed[N6VIRT_B] * 114) / 1000 / ACCUMULATED;
    }
    return of[source % OF_DEVELOPED] / ACCUMULATED;
}

static uint32_t dcmipp_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    static const uint32_t status[PIPES] = {N6_DCMIPP_P0SR_OFFSET, N6_DCMIPP_P1SR_OFFSET, N6_DCMIPP_P2SR_OFFSET};

    for (unsigned i = 0; i < PIPES; i++) {
        if (offset == status[i]) {
            return flags_of(&pipes[i]) | (pipes[i].captures ? N6_DCMIPP_P0SR_CPTACT : 0);
        }
    }
    switch (offset) {
    case N6_DCMIPP_CMSR1_OFFSET:
        return active();
    case N6_DCMIPP_CMSR2_OFFSET:
        return flags;
    case N6_DCMIPP_P1ST1SR_OFFSET:
        return statistics(0);
    case N6_DCMIPP_P1ST2SR_OFFSET:
        return statistics(1);
    case N6_DCMIPP_P1ST3SR_OFFSET:
        return statistics(2);
    default:
        return n6virt_get(block->base + offset);
    }
}

static void dcmipp_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    static const uint32_t clear[PIPES] = {N6_DCMIPP_P0FCR_OFFSET, N6_DCMIPP_P1FCR_OFFSET, N6_DCMIPP_P2FCR_OFFSET};
    bool is_clear = offset == N6_DCMIPP_CMFCR_OFFSET;

    flags &= is_clear ? ~value : UINT32_MAX;
    for (unsigned i = 0; i < PIPES; i++) {
        if (offset == clear[i]) {
            flags &= ~((value & ALL_FLAGS) << FLAGS_OF_A_PIPE * (i + 1));
            is_clear = true;
        } else if (block->base + offset == pipes[i].control && value & N6_DCMIPP_P0FCTCR_CPTREQ) {
            pipes[i].pc = n6virt_pc();
        }
    }
    if (offset == N6_DCMIPP_PRCR_OFFSET && value & N6_DCMIPP_PRCR_ENABLE) {
        n6virt_finding("dcmipp", block->base + offset, "The virtual board does not model the parallel interface of DCMIPP (PRCR)");
    }
    if (!is_clear) {
        n6virt_set(block->base + offset, value);
    }
    update();
}

/* Summary: the first reason why no frame has come to memory. */

static void summarise(GString *summary)
{
    const Pipe *enabled = NULL, *asked = NULL;
    const char *why = source_objection();

    for (unsigned i = 0; i < PIPES; i++) {
        if (pipes[i].frames) {
            return;
        }
        enabled = n6virt_has(pipes[i].enable, N6_DCMIPP_P0FSCR_PIPEN) ? &pipes[i] : enabled;
        asked = n6virt_has(pipes[i].control, N6_DCMIPP_P0FCTCR_CPTREQ) ? &pipes[i] : asked;
    }
    if (asked && !sent && n6virt_camera_rests()) {
        n6virt_finding_at(asked->pc, "camera", asked->control, "Pipe %u of DCMIPP waits for a frame, but the camera sends none: it is in "
                          "standby", asked->number);
    }
    if (!why) {
        why = enabled ? "no pipe has a request (PxFCTCR CPTREQ)" : "no pipe is on (PxFSCR PIPEN)";
    }
    if (sent >= FRAMES_TO_MISS) {
        n6virt_finding_at(asked ? asked->pc : n6virt_pc(), "camera", asked ? asked->control : N6_DCMIPP_CMCR,
                          "The camera has sent %u frames, and DCMIPP has captured none: %s", sent, why);
    }
}

/* The model covers the whole block: registers of the ISP are stored. */
static const N6VirtModel model = {.read = dcmipp_read, .write = dcmipp_write};
static const N6VirtReceiver receiver = {.start = start_frame, .end = end_frame};

static void start(void)
{
    n6virt_model(N6_DCMIPP_BASE, &model);
    n6virt_camera_connect(&receiver);
}

static void reset(void)
{
    flags = sent = 0;
    for (unsigned i = 0; i < PIPES; i++) {
        pipes[i].captures = false;
        pipes[i].frames = 0;
    }
}

static const N6VirtModule module = {.start = start, .reset = reset, .summarise = summarise};
N6VIRT_MODULE(module)
