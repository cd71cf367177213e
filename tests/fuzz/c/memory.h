/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a board on the host, at its own addresses. Bytes that are not opened are poison to the address sanitizer. */
#ifndef MEMORY_H
#define MEMORY_H

#define _GNU_SOURCE
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void map_memory(uintptr_t address, size_t bytes)
{
    void *mapped = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped != (void *)address) {
        perror("mmap");
        exit(2);
    }
    __asan_poison_memory_region(mapped, bytes);
}

/* Allow access to [address, address + bytes) only, of `room` bytes there. */
static void open_only(uintptr_t address, size_t bytes, size_t room)
{
    __asan_poison_memory_region((void *)address, room);
    __asan_unpoison_memory_region((void *)address, bytes);
}

#endif
