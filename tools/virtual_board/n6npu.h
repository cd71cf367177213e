/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A functional model of the NPU: its units, the streams between them, its epoch controller. It knows nothing of the emulator: memory
 * and findings are functions that the board gives it. An epoch is computed at once when it has been started; how long the chip
 * would take is not modelled.
 *
 * What it does not model ends a run with words that name unit, register, field and value. It never guesses.
 */
#ifndef N6NPU_H
#define N6NPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct N6Npu N6Npu;

typedef struct {
    /* Bytes of memory as the NPU sees it; false where nothing answers. */
    bool (*read)(void *opaque, uint32_t address, void *to, uint32_t bytes);
    bool (*write)(void *opaque, uint32_t address, const void *from, uint32_t bytes);
    void *opaque;
} N6NpuMemory;

/* Of all epochs since n6npu_new. */
typedef struct {
    uint64_t macs;
    uint32_t epochs;
} N6NpuWork;

/* Of a unit in the latest epoch. */
typedef struct {
    uint64_t macs;
    uint64_t elements;      /* that it made, or an engine moved */
    uint64_t reads, writes; /* bytes of memory, by an engine */
    uint32_t first, end;    /* addresses that an engine touched, to behind the last one; 0, 0: none */
    uint32_t frames;
} N6NpuUnitWork;

/* What a blob calls an epoch; without a blob the label is 0. */
typedef struct {
    bool by_blob;
    uint32_t label;
} N6NpuEpoch;

/* Who looks on while n6npu_run computes. Each may be NULL. */
typedef struct {
    /* A blob is about to run: its words as they are in memory, little endian, from the magic on. */
    void (*blob)(void *opaque, uint32_t address, const uint8_t *bytes, uint32_t words);
    /* An epoch is about to be computed; has been computed, and its units are still set. */
    void (*begins)(void *opaque, const N6NpuEpoch *epoch);
    void (*computed)(void *opaque, const N6NpuEpoch *epoch);
    /* The blob has come to another label, or to its end. */
    void (*label_ends)(void *opaque, const N6NpuEpoch *epoch);
    void *opaque;
} N6NpuWatch;

N6Npu *n6npu_new(const N6NpuMemory *memory);
void n6npu_free(N6Npu *npu);
/* All registers as after a reset. */
void n6npu_reset(N6Npu *npu);

/* offset: from the NPU's base, a multiple of 4. */
uint32_t n6npu_read(N6Npu *npu, uint32_t offset);
void n6npu_write(N6Npu *npu, uint32_t offset, uint32_t value);
/* Whether a stream engine or the epoch controller has been started, and nothing of it has been computed. */
bool n6npu_has_work(const N6Npu *npu);
/* Computes it. NULL, or why it cannot be computed: the text lives until the next call. */
const char *n6npu_run(N6Npu *npu);
/* Level of one of the four interrupt lines. */
bool n6npu_line(const N6Npu *npu, unsigned line);
/* The number that the running blob has given its epoch; 0 without. */
uint32_t n6npu_label(const N6Npu *npu);
const N6NpuWork *n6npu_work(const N6Npu *npu);

void n6npu_watch(N6Npu *npu, const N6NpuWatch *watch);
/* Units are numbered as the chip does, by their registers. CONVACC2 */
const char *n6npu_unit_name(unsigned unit);
/* The next unit from `unit` on that moves or computes data and is on; UINT32_MAX behind the last. */
uint32_t n6npu_next_unit(const N6Npu *npu, uint32_t unit);
const N6NpuUnitWork *n6npu_unit_work(const N6Npu *npu, unsigned unit);
/* What it is set to, in a few words: "3x3 stride 2x2, 8 kernels of 8". */
void n6npu_describe(const N6Npu *npu, unsigned unit, char *text, size_t bytes);

#endif
