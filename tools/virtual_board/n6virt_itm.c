/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The ITM's stimulus port at which an Appli reports the running epoch block (n6_epoch_marker.h). All other registers of the ITM
 * behave as without a debugger: writes are ignored, reads are zero.
 */
#include "n6virt.h"
#include "n6virt_epochs.h"

#include "n6_epoch_marker.h"

#define PORT_BYTES 4

static MemoryRegion port;
static N6VirtPlace place;

const N6VirtPlace *n6virt_place(void)
{
    return place.is_known ? &place : NULL;
}

static uint64_t port_read(void *opaque, hwaddr offset, unsigned size)
{
    return 0;
}

static void port_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    N6VirtPlace told = {
        .is_known = true,
        .network = value >> N6_EPOCH_MARKER_NETWORK_POS & N6_EPOCH_MARKER_NETWORK_MAX,
        .place = value & N6_EPOCH_MARKER_PLACE_MAX,
    };

    if (size != PORT_BYTES) {
        return;
    }
    place = told;
    if (value & N6_EPOCH_MARKER_ENDED) {
        n6virt_tensors_place_ends(&place);
    } else {
        n6virt_trace_place(&place);
        n6virt_tensors_place_begins(&place);
    }
}

static const MemoryRegionOps port_ops = {.read = port_read, .write = port_write, .endianness = DEVICE_LITTLE_ENDIAN};

static void start(void)
{
    n6virt_add_io(&port, n6virt_processor_region(), &port_ops, "n6.epoch-marker", N6_ITM_STIM0 + PORT_BYTES * N6_EPOCH_MARKER_PORT,
                  PORT_BYTES, 10);
}

static void reset(void)
{
    place.is_known = false;
}

static const N6VirtModule module = {.start = start, .reset = reset};
N6VIRT_MODULE(module)
