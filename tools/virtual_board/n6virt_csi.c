/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * CSI-2 host: it receives the camera's frames on virtual channel 0, and marks their start and end. Its PHY's registers are stored.
 * A faultless camera causes no errors. Not modelled: counters of lines and bytes, timers, watchdog.
 */
#include "n6virt.h"

#define CHANNELS 4
#define BITS_OF_A_CHANNEL 4

static uint32_t flags, lane_flags;

static void update(void)
{
    n6virt_interrupt(N6_IRQ_CSI, (flags & n6virt_get(N6_CSI_IER0)) || (lane_flags & n6virt_get(N6_CSI_IER1)));
}

const char *n6virt_csi_objection(unsigned channel)
{
    if (!n6virt_has(N6_CSI_CR, N6_CSI_CR_CSIEN)) {
        return "CSI is off (CSI CR CSIEN)";
    }
    return flags & N6_CSI_SR0_VC0STATEF << channel ? NULL : "its virtual channel is not started (CSI CR VCxSTART)";
}

/* Report settings that do not fit to the camera, by which a chip receives nothing or noise. Data of these widths is in CDTFT as
 * a number: 0 for 6 bits, then 7, 8, 10, 12 and so on. */
static void check_settings(void)
{
    static const unsigned widths[] = {6, 7, 8, 10, 12, 14, 16};
    uint32_t lanes = n6virt_field(N6_CSI_LMCFGR, N6_CSI_LMCFGR_LANENB, N6_CSI_LMCFGR_LANENB_POS);
    uint32_t width = n6virt_field(N6_CSI_VC0CFGR1, N6_CSI_VC0CFGR1_CDTFT, N6_CSI_VC0CFGR1_CDTFT_POS);

    if (lanes != n6virt_camera_lanes()) {
        n6virt_finding("csi-lanes", N6_CSI_LMCFGR, "CSI receives %u lanes (LMCFGR LANENB), but the camera sends %u", lanes,
                       n6virt_camera_lanes());
    }
    if (width >= ARRAY_SIZE(widths) || widths[width] != n6virt_camera_bits()) {
        n6virt_finding("csi-width", N6_CSI_VC0CFGR1, "CSI unpacks format %u (VC0CFGR1 CDTFT), but a pixel of the camera has %u bits",
                       width, n6virt_camera_bits());
    }
    if (!n6virt_has(N6_CSI_PRCR, N6_CSI_PRCR_PEN) || !n6virt_has(N6_CSI_PCR, N6_CSI_PCR_PWRDOWN | N6_CSI_PCR_CLEN | N6_CSI_PCR_DL0EN)) {
        n6virt_finding("csi-phy", N6_CSI_PRCR, "The PHY of CSI is off (PRCR PEN; PCR PWRDOWN, CLEN, DL0EN), but the camera sends");
    }
}

static void start_frame(const N6VirtFrameSent *frame)
{
    if (!n6virt_csi_objection(0)) {
        check_settings();
        flags |= N6_CSI_SR0_SOF0F;
        update();
    }
}

static void end_frame(const N6VirtFrameSent *frame)
{
    if (!n6virt_csi_objection(0)) {
        flags |= N6_CSI_SR0_EOF0F;
        update();
    }
}

static uint32_t csi_read(const N6VirtBlock *block, uint32_t offset, unsigned size)
{
    switch (offset) {
    case N6_CSI_SR0_OFFSET:
        return flags;
    case N6_CSI_SR1_OFFSET:
        return lane_flags;
    default:
        return n6virt_get(block->base + offset);
    }
}

static void csi_write(const N6VirtBlock *block, uint32_t offset, uint32_t value, unsigned size)
{
    switch (offset) {
    case N6_CSI_FCR0_OFFSET:
        flags &= ~value | N6_CSI_SR0_VC0STATEF * ((1u << CHANNELS) - 1);
        break;
    case N6_CSI_FCR1_OFFSET:
        lane_flags &= ~value;
        break;
    case N6_CSI_CR_OFFSET:
        for (unsigned i = 0; i < CHANNELS; i++) {
            flags |= value & N6_CSI_CR_VC0START << BITS_OF_A_CHANNEL * i ? N6_CSI_SR0_VC0STATEF << i : 0;
            flags &= value & N6_CSI_CR_VC0STOP << BITS_OF_A_CHANNEL * i ? ~(N6_CSI_SR0_VC0STATEF << i) : UINT32_MAX;
        }
        /* INFERRED: the bits that start and stop read 0. */
        value &= N6_CSI_CR_CSIEN;
        /* fall through */
    default:
        n6virt_set(block->base + offset, value);
    }
    update();
}

static const uint32_t registers[] = {
    N6_CSI_CR_OFFSET, N6_CSI_PCR_OFFSET, N6_CSI_VC0CFGR1_OFFSET, N6_CSI_LMCFGR_OFFSET, N6_CSI_IER0_OFFSET, N6_CSI_IER1_OFFSET,
    N6_CSI_SR0_OFFSET, N6_CSI_SR1_OFFSET, N6_CSI_FCR0_OFFSET, N6_CSI_FCR1_OFFSET, N6_CSI_PRCR_OFFSET, N6_CSI_PMCR_OFFSET,
    N6_CSI_PFCR_OFFSET, N6_CSI_PTCR0_OFFSET, N6_CSI_PTCR1_OFFSET, N6_CSI_PTSR_OFFSET, N6VIRT_END,
};
static const N6VirtModel model = {.read = csi_read, .write = csi_write, .registers = registers};
static const N6VirtReceiver receiver = {.start = start_frame, .end = end_frame};

static void start(void)
{
    n6virt_model(N6_CSI_BASE, &model);
    n6virt_camera_connect(&receiver);
}

static void reset(void)
{
    flags = lane_flags = 0;
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
