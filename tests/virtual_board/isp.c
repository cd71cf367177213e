/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads settings of the ISP, a window and a scene from stdin, writes the picture behind the ISP and the sums of the window.
 */
#include "n6virt_isp.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int32_t words[34];
    N6VirtSums sums = {0};

    if (fread(words, sizeof(words), 1, stdin) != 1) {
        return 1;
    }
    N6VirtIsp isp = {.has_colours = words[9], .pattern = (uint32_t)words[10], .has_matrix = words[11], .has_gamma = words[12]};
    for (int i = 0; i < N6VIRT_COLOURS; i++) {
        isp.black[i] = (uint32_t)words[i];
        isp.gain[i] = (uint32_t)words[3 + i];
        isp.shift[i] = (uint32_t)words[6 + i];
        isp.offset[i] = words[13 + i];
        for (int j = 0; j < N6VIRT_COLOURS; j++) {
            isp.factor[i][j] = words[16 + 3 * i + j];
        }
    }
    N6VirtSensor sensor = {(uint32_t)words[25], (uint32_t)words[26],
                           {(uint32_t)words[27], (uint32_t)words[28], (uint32_t)words[29]}};
    uint32_t width = (uint32_t)words[30], height = (uint32_t)words[31];
    N6VirtWindow window = {1, 1, (uint32_t)words[32], (uint32_t)words[33]};
    size_t bytes = 3 * (size_t)width * height;
    uint8_t *scene = malloc(bytes), *to = malloc(bytes);
    if (fread(scene, bytes, 1, stdin) != 1) {
        return 1;
    }
    n6virt_develop(&isp, &sensor, scene, width, height, &window, to, &sums);
    fwrite(to, bytes, 1, stdout);
    fwrite(&sums, sizeof(sums), 1, stdout);
    free(scene);
    free(to);
    return 0;
}
