/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pictures for the tool that started the board: what the camera's pipes wrote, and what the panel showed.
 *
 *   ,pictures=FILE   records: source (0: the panel, 1 to 3: pipes 0 to 2), frame of the camera, width and height, 4 bytes each,
 *                    guest time, 8 bytes, all little endian; then rows of R, G, B
 *   ,shown=N         the N-th picture that the panel shows ends the run, with "ended": "until"
 */
#include "n6virt.h"

#include "qemu/bswap.h"
#include "qemu/error-report.h"

#define HEAD 24u

static char *path;
static uint32_t most_shown, shown;
static FILE *file;

bool n6virt_keeps_pictures(void)
{
    return file;
}

void n6virt_keep_picture(unsigned source, uint32_t frame, uint32_t width, uint32_t height, const uint8_t *pixels)
{
    uint8_t head[HEAD];

    if (!file) {
        return;
    }
    stl_le_p(head, source);
    stl_le_p(head + 4, frame);
    stl_le_p(head + 8, width);
    stl_le_p(head + 12, height);
    stq_le_p(head + 16, n6virt_now());
    if (fwrite(head, HEAD, 1, file) != 1 || fwrite(pixels, 3 * (size_t)width * height, 1, file) != 1 || fflush(file)) {
        error_report("Cannot write the pictures: %s", strerror(errno));
        exit(1);
    }
}

void n6virt_was_shown(void)
{
    if (++shown == most_shown) {
        n6virt_end("until");
    }
}

static void add_properties(Object *machine)
{
    static const N6VirtNumber number = {"shown", &most_shown};

    n6virt_text_property(machine, "pictures", &path);
    n6virt_number_properties(machine, &number, 1);
}

static void start(void)
{
    file = n6virt_open(path, "wb", "the file of pictures");
}

static const N6VirtModule module = {.add_properties = add_properties, .start = start};
N6VIRT_MODULE(module)
