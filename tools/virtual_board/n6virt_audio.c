/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sound at the board's microphones: a recording that begins with the first sample that a program takes. Behind its last sample,
 * and without a recording, there is silence. A sample of the recording is the number that a filter outputs: a program's
 * handling of levels works on that number, and the original loudness is not modelled.
 *
 *   ,audio=FILE,audio-hz=N   signed numbers of 24 bits in 32, little endian, one channel; N: samples a second
 */
#include "n6virt.h"

#include "qapi/error.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"

static char *path;
static uint32_t file_hz;
static uint8_t *samples;
static uint64_t count;

static int64_t at(uint64_t number)
{
    return number < count ? sextract32(ldl_le_p(samples + 4 * number), 0, 24) : 0;
}

/* Interpolate linearly between two samples of the file, where the rates differ. */
int32_t n6virt_audio_sample(uint64_t number, uint64_t hz)
{
    uint64_t whole, rest;
    int64_t before;

    if (!count || !hz) {
        return 0;
    }
    whole = number / hz * file_hz + number % hz * file_hz / hz;
    rest = number % hz * file_hz % hz;
    before = at(whole);
    return before + (at(whole + 1) - before) * (int64_t)rest / (int64_t)hz;
}

static void add_properties(Object *machine)
{
    n6virt_text_property(machine, "audio", &path);
    object_property_add_uint32_ptr(machine, "audio-hz", &file_hz, OBJ_PROP_FLAG_READWRITE);
}

static void start(void)
{
    g_autoptr(GError) error = NULL;
    gsize bytes;

    if (!path || !*path) {
        return;
    }
    if (!file_hz) {
        error_report("Property audio needs property audio-hz");
        exit(1);
    }
    if (!g_file_get_contents(path, (gchar **)&samples, &bytes, &error)) {
        error_report("Cannot read the recording: %s", error->message);
        exit(1);
    }
    count = bytes / 4;
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start};
N6VIRT_MODULE(module)
