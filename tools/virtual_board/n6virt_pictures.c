/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pictures for the tool that started the board: what the camera's pipes wrote, and what the panel showed.
 *
 *   ,pictures=FILE   records: source, frame of the camera, width and height, 4 bytes each, guest time, 8 bytes, all little
 *                    endian. Sources 0 (the panel) and 1 to 3 (pipes 0 to 2) have rows of R, G, B behind that. Source 4 is a
 *                    rectangle that DMA2D filled, with its colour for the frame; source 5 is a layer of the picture that follows,
 *                    with its number for the frame, and its place for width and height: both have address, pitch and bytes of
 *                    a pixel behind that, 4 bytes each
 *   ,shown=N         the N-th picture that the panel shows ends the run, with "ended": "until"
 */
#include "n6virt.h"

#include "qemu/bswap.h"
#include "qemu/error-report.h"

#define HEAD 24u
/* A run that never ends must not fill the disk. */
#define MOST_BYTES (1ull << 30)

static char *path;
static uint32_t most_shown, shown;
static FILE *file;
static uint64_t kept;

bool n6virt_keeps_pictures(void)
{
    return file;
}

static void keep(unsigned source, uint32_t frame, uint32_t width, uint32_t height, const void *content, size_t bytes)
{
    uint8_t head[HEAD];

    if (!file || kept > MOST_BYTES) {
        return;
    }
    kept += HEAD + bytes;
    stl_le_p(head, source);
    stl_le_p(head + 4, frame);
    stl_le_p(head + 8, width);
    stl_le_p(head + 12, height);
    stq_le_p(head + 16, n6virt_now());
    if (fwrite(head, HEAD, 1, file) != 1 || fwrite(content, bytes, 1, file) != 1 || fflush(file)) {
        error_report("Cannot write the pictures: %s", strerror(errno));
        exit(1);
    }
}

void n6virt_keep_picture(unsigned source, uint32_t frame, uint32_t width, uint32_t height, const uint8_t *pixels)
{
    keep(source, frame, width, height, pixels, 3 * (size_t)width * height);
}

static void keep_surface(unsigned source, uint32_t what, uint32_t width, uint32_t height, const N6VirtSurface *surface)
{
    uint8_t content[12];

    stl_le_p(content, surface->address);
    stl_le_p(content + 4, surface->pitch);
    stl_le_p(content + 8, surface->bytes);
    keep(source, what, width, height, content, sizeof(content));
}

void n6virt_keep_fill(const N6VirtSurface *surface, uint32_t width, uint32_t height, uint32_t colour)
{
    keep_surface(N6VIRT_FILL, colour, width, height, surface);
}

void n6virt_keep_layer(const N6VirtSurface *surface, unsigned number, uint32_t left, uint32_t top)
{
    keep_surface(N6VIRT_LAYER, number, left, top, surface);
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
