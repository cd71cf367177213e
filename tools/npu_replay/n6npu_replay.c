/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Runs blobs in the model of the NPU without an emulator, and exchanges memory with them between epochs.
 *
 *     n6npu_replay < request > answer
 *
 * Numbers of 32 bits, little endian. The request: the number of regions, of each its address, size and content. Then commands:
 *
 *     0               the end of the request
 *     1 A N bytes     N bytes go to memory at A
 *     2 A             the blob at A runs; between its epochs the next commands 3 are carried out
 *     3 L A N K bytes behind epoch L of the next blob the N bytes at A are part of the answer; then, if K is N and not 0, the K bytes
 *                     given here go there
 *     4 A N           N bytes at A are part of the answer
 *
 * The answer: for each blob a number: 0, or the length of the reason why it did not run, with the reason, which nothing follows; then
 * what 3 and 4 ask for, in order.
 */
#include "n6npu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPOCHCTRL 0x1E000u
#define MOST_REGIONS 64u
#define MOST_BYTES (256u << 20)

typedef struct {
    uint32_t address, size;
    uint8_t *bytes;
} Region;

/* bytes: to be put there, and then what was there. */
typedef struct {
    uint32_t label, address, size;
    bool puts;
    uint8_t *bytes;
} Exchange;

typedef struct {
    Region regions[MOST_REGIONS];
    uint32_t count;
    Exchange *waiting;
    uint32_t waiting_count, next;
} Memory;

static uint8_t *memory_at(const Memory *memory, uint32_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        const Region *region = &memory->regions[i];
        if (address >= region->address && bytes <= region->size && address - region->address <= region->size - bytes) {
            return region->bytes + (address - region->address);
        }
    }
    return NULL;
}

static bool read_memory(void *opaque, uint32_t address, void *to, uint32_t bytes)
{
    const uint8_t *part = memory_at(opaque, address, bytes);

    if (part) {
        memcpy(to, part, bytes);
    }
    return part != NULL;
}

static bool write_memory(void *opaque, uint32_t address, const void *from, uint32_t bytes)
{
    uint8_t *part = memory_at(opaque, address, bytes);

    if (part) {
        memcpy(part, from, bytes);
    }
    return part != NULL;
}

static void fail(const char *why)
{
    fprintf(stderr, "n6npu_replay: %s\n", why);
    exit(EXIT_FAILURE);
}

static uint32_t number(void)
{
    uint8_t bytes[4];

    if (fread(bytes, 1, sizeof(bytes), stdin) != sizeof(bytes)) {
        fail("the request is cut off");
    }
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_number(uint32_t value)
{
    uint8_t bytes[4] = {value, value >> 8, value >> 16, value >> 24};

    fwrite(bytes, 1, sizeof(bytes), stdout);
}

static uint8_t *content(uint32_t size)
{
    uint8_t *bytes = size <= MOST_BYTES ? malloc(size ? size : 1) : NULL;

    if (!bytes) {
        fail("not enough memory");
    }
    if (fread(bytes, 1, size, stdin) != size) {
        fail("the request is cut off");
    }
    return bytes;
}

static void answer(const Memory *memory, uint32_t address, uint32_t size)
{
    const uint8_t *part = memory_at(memory, address, size);

    if (!part) {
        fail("it asks for memory that there is not");
    }
    fwrite(part, 1, size, stdout);
}

static void exchange(Memory *memory, const Exchange *one)
{
    uint8_t *part = memory_at(memory, one->address, one->size);

    for (uint32_t i = 0; i < one->size; i++) {
        uint8_t found = part[i];

        part[i] = one->puts ? one->bytes[i] : found;
        one->bytes[i] = found;
    }
}

static void on_label_end(void *opaque, const N6NpuEpoch *epoch)
{
    Memory *memory = opaque;

    while (memory->next < memory->waiting_count && memory->waiting[memory->next].label == epoch->label) {
        exchange(memory, &memory->waiting[memory->next++]);
    }
}

/* Whether it ran; what waited for epochs that there are not is an error of the request. */
static bool run(N6Npu *npu, Memory *memory, uint32_t address)
{
    const char *reason;

    n6npu_reset(npu);
    n6npu_write(npu, EPOCHCTRL + 8, address);
    n6npu_write(npu, EPOCHCTRL, 1);
    reason = n6npu_run(npu);
    put_number(reason ? strlen(reason) : 0);
    if (reason) {
        fwrite(reason, 1, strlen(reason), stdout);
        return false;
    }
    if (memory->next != memory->waiting_count) {
        fail("it waits for an epoch that the blob does not have");
    }
    for (uint32_t i = 0; i < memory->waiting_count; i++) {
        fwrite(memory->waiting[i].bytes, 1, memory->waiting[i].size, stdout);
        free(memory->waiting[i].bytes);
    }
    memory->next = memory->waiting_count = 0;
    return true;
}

static void wait_for(Memory *memory)
{
    Exchange one = {.label = number()};
    uint32_t given;

    one.address = number();
    one.size = number();
    given = number();
    if (!memory_at(memory, one.address, one.size) || (given && given != one.size)) {
        fail("it asks for memory that there is not");
    }
    one.puts = given != 0;
    one.bytes = given ? content(given) : calloc(1, one.size + 1);
    memory->waiting = realloc(memory->waiting, (memory->waiting_count + 1) * sizeof(one));
    if (!memory->waiting || !one.bytes) {
        fail("not enough memory");
    }
    memory->waiting[memory->waiting_count++] = one;
}

static void put(const Memory *memory, uint32_t address, uint32_t size)
{
    uint8_t *bytes = content(size), *part = memory_at(memory, address, size);

    if (!part) {
        fail("it writes to memory that there is not");
    }
    memcpy(part, bytes, size);
    free(bytes);
}

static bool carry_out(N6Npu *npu, Memory *memory, uint32_t command)
{
    uint32_t address;

    switch (command) {
    case 1:
        address = number();
        put(memory, address, number());
        return true;
    case 2:
        return run(npu, memory, number());
    case 3:
        wait_for(memory);
        return true;
    case 4:
        address = number();
        answer(memory, address, number());
        return true;
    default:
        fail("it has an unknown command");
        return false;
    }
}

int main(void)
{
    static Memory memory;
    N6Npu *npu = n6npu_new(&(N6NpuMemory){read_memory, write_memory, &memory});
    uint32_t command;

    memory.count = number();
    if (!npu || memory.count > MOST_REGIONS) {
        fail("too many regions");
    }
    for (uint32_t i = 0; i < memory.count; i++) {
        memory.regions[i].address = number();
        memory.regions[i].size = number();
        memory.regions[i].bytes = content(memory.regions[i].size);
    }
    n6npu_watch(npu, &(N6NpuWatch){.label_ends = on_label_end, .opaque = &memory});
    while ((command = number()) != 0) {
        if (!carry_out(npu, &memory, command)) {
            break;
        }
    }
    return EXIT_SUCCESS;
}
