/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for the model of the NPU outside of the emulator: regions by address.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REGIONS 8u

static struct {
    uint32_t address, bytes;
    uint8_t *data;
} regions[REGIONS];

/* bytes 0: none. */
void bench_region(uint32_t index, uint32_t address, uint32_t bytes, uint8_t *data)
{
    regions[index % REGIONS].address = address;
    regions[index % REGIONS].bytes = bytes;
    regions[index % REGIONS].data = data;
}

static uint8_t *at(uint32_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < REGIONS; i++) {
        uint32_t offset = address - regions[i].address;

        if (offset < regions[i].bytes && bytes <= regions[i].bytes - offset) {
            return regions[i].data + offset;
        }
    }
    return NULL;
}

bool bench_read(void *opaque, uint32_t address, void *to, uint32_t bytes)
{
    const uint8_t *from = at(address, bytes);

    (void)opaque;
    if (from) {
        memcpy(to, from, bytes);
    }
    return from;
}

bool bench_write(void *opaque, uint32_t address, const void *from, uint32_t bytes)
{
    uint8_t *to = at(address, bytes);

    (void)opaque;
    if (to) {
        memcpy(to, from, bytes);
    }
    return to;
}
