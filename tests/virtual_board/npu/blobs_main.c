/* SPDX-License-Identifier: Apache-2.0
 *
 * Run blobs in the model of the NPU, one after the other: a program for sanitizers that a Python process cannot load.
 *
 *     blobs_main FILE
 *
 * FILE has the size of memory and its content, then for each blob its address, the number of its words, the words; all numbers
 * have 32 bits, in the host's byte order. Each blob starts with the same memory. The program prints a line for each blob:
 * microseconds of processor time, then "ran" or the reason of a failure. The last line is the peak memory of the process, in
 * KiB.
 */
#define _POSIX_C_SOURCE 200809L
#include "n6npu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EPOCHCTRL 0x1E000u

typedef struct {
    uint8_t *bytes;
    uint32_t size;
} Memory;

static bool is_inside(const Memory *memory, uint32_t address, uint32_t bytes)
{
    return bytes <= memory->size && address <= memory->size - bytes;
}

static bool read_memory(void *opaque, uint32_t address, void *to, uint32_t bytes)
{
    const Memory *memory = opaque;

    if (!is_inside(memory, address, bytes)) {
        return false;
    }
    memcpy(to, memory->bytes + address, bytes);
    return true;
}

static bool write_memory(void *opaque, uint32_t address, const void *from, uint32_t bytes)
{
    const Memory *memory = opaque;

    if (!is_inside(memory, address, bytes)) {
        return false;
    }
    memcpy(memory->bytes + address, from, bytes);
    return true;
}

static bool next(FILE *file, uint32_t *number)
{
    return fread(number, sizeof(*number), 1, file) == 1;
}

static long processor_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Run a blob. Return NULL, or the reason of a failure. */
static const char *run_blob(N6Npu *npu, uint32_t address)
{
    n6npu_reset(npu);
    n6npu_write(npu, EPOCHCTRL + 8, address);
    n6npu_write(npu, EPOCHCTRL, 1);
    return n6npu_run(npu);
}

/* Return the peak memory in KiB. getrusage() is no use here: its value survives exec(), so it would be that of the process
 * which started this one. */
static long most_memory(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    long found = -1;

    while (status && found < 0 && fgets(line, sizeof(line), status)) {
        sscanf(line, "VmHWM: %ld kB", &found);
    }
    if (status) {
        fclose(status);
    }
    return found;
}

int main(int count, char **arguments)
{
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    uint32_t size, address, words;
    Memory memory;
    uint8_t *before;
    N6Npu *npu;

    if (!file || !next(file, &size)) {
        return EXIT_FAILURE;
    }
    memory = (Memory){malloc(size), size};
    before = malloc(size);
    npu = n6npu_new(&(N6NpuMemory){read_memory, write_memory, &memory});
    if (!memory.bytes || !before || !npu || fread(before, 1, size, file) != size) {
        return EXIT_FAILURE;
    }
    while (next(file, &address) && next(file, &words)) {
        long started;
        const char *reason;

        memcpy(memory.bytes, before, size);
        if (!is_inside(&memory, address, 4 * words) || fread(memory.bytes + address, 4, words, file) != words) {
            return EXIT_FAILURE;
        }
        started = processor_time();
        reason = run_blob(npu, address);
        printf("%ld %s\n", processor_time() - started, reason ? reason : "ran");
        fflush(stdout);
    }
    printf("%ld\n", most_memory());
    n6npu_free(npu);
    free(memory.bytes);
    free(before);
    fclose(file);
    return EXIT_SUCCESS;
}
