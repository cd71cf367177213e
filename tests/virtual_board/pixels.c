/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads a path and a picture from stdin (13 words, then width, height and pixels of the picture), writes the picture at its end.
 */
#include "n6virt_pixels.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    uint32_t words[13], size[2], width, height;

    if (fread(words, sizeof(words), 1, stdin) != 1 || fread(size, sizeof(size), 1, stdin) != 1) {
        return 1;
    }
    N6VirtPath path = {words[0], words[1], words[2], words[3], words[4], words[5], words[6],
                       words[7], words[8], words[9], words[10], words[11], words[12]};
    uint8_t *from = malloc(3 * (size_t)size[0] * size[1]);
    if (fread(from, 3 * (size_t)size[0] * size[1], 1, stdin) != 1) {
        return 1;
    }
    n6virt_path_size(&path, &width, &height);
    uint8_t *to = malloc(3 * (size_t)width * height);
    n6virt_follow_path(&path, from, size[0], to);
    fwrite(to, 3 * (size_t)width * height, 1, stdout);
    free(from);
    free(to);
    return 0;
}
