/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A functional model of the NPU: its units, the streams between them, its epoch controller. The model does not depend on the
 * emulator: the board supplies memory access and findings as functions. An epoch is computed at once when it has been started;
 * the chip's timing is not modelled.
 *
 * An unmodelled setting ends the run with a message that names unit, register, field and value. The model never guesses.
 */
#ifndef N6NPU_H
#define N6NPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct N6Npu N6Npu;

typedef struct {
    /* Read or write bytes of memory as the NPU sees it. Return false where nothing answers. */
    bool (*read)(void *opaque, uint32_t address, void *to, uint32_t bytes);
    bool (*write)(void *opaque, uint32_t address, const void *from, uint32_t bytes);
    void *opaque;
} N6NpuMemory;

/* Work of all epochs since n6npu_new. */
typedef struct {
    uint64_t macs;
    uint32_t epochs;
} N6NpuWork;

/* Work of one unit in the latest epoch. */
typedef struct {
    uint64_t macs;
    uint64_t elements;      /* made by the unit, or moved by an engine */
    uint64_t reads, writes; /* bytes of memory, engines only */
    uint32_t first, end;    /* addresses that an engine touched, end exclusive; 0, 0: none */
    uint32_t frames;
} N6NpuUnitWork;

/* Values of a channel that the format of a unit's output did not hold in the latest epoch. Lost are those which the epoch's
 * output of one byte shows, open those that leave the epoch in more bytes. Formats of one byte lose none: they are the
 * quantisation of the model. */
typedef struct {
    uint32_t below, above, lost, open;
    int64_t lowest, highest; /* the furthest of them, 0 if there is none on that side */
} N6NpuSaturated;

/* An epoch's origin, and its label in the blob; without a blob the label is 0. */
typedef struct {
    bool by_blob;
    uint32_t label;
} N6NpuEpoch;

/* Callbacks during n6npu_run. Each may be NULL. */
typedef struct {
    /* Called before a blob runs, with its words as in memory: little endian, starting with the magic. */
    void (*blob)(void *opaque, uint32_t address, const uint8_t *bytes, uint32_t words);
    /* Called before an epoch is computed, and after it, while its units are still configured. */
    void (*begins)(void *opaque, const N6NpuEpoch *epoch);
    void (*computed)(void *opaque, const N6NpuEpoch *epoch);
    /* Called when the blob reaches another label or its end. */
    void (*label_ends)(void *opaque, const N6NpuEpoch *epoch);
    void *opaque;
} N6NpuWatch;

N6Npu *n6npu_new(const N6NpuMemory *memory);
void n6npu_free(N6Npu *npu);
/* Set all registers to their reset values. */
void n6npu_reset(N6Npu *npu);

/* Read or write a register. offset: from the NPU's base, a multiple of 4. */
uint32_t n6npu_read(N6Npu *npu, uint32_t offset);
void n6npu_write(N6Npu *npu, uint32_t offset, uint32_t value);
/* Return whether a stream engine or the epoch controller has been started and its work is not computed yet. */
bool n6npu_has_work(const N6Npu *npu);
/* Compute the started work. Return NULL, or the reason why that is impossible; the text is valid until the next call. */
const char *n6npu_run(N6Npu *npu);
/* Return the level of one of the four interrupt lines. */
bool n6npu_line(const N6Npu *npu, unsigned line);
/* Return the label that the running blob has given its epoch; 0 without a blob. */
uint32_t n6npu_label(const N6Npu *npu);
const N6NpuWork *n6npu_work(const N6Npu *npu);

void n6npu_watch(N6Npu *npu, const N6NpuWatch *watch);
/* Return a unit's name, such as CONVACC2. Units have the chip's numbers, in the order of their registers. */
const char *n6npu_unit_name(unsigned unit);
/* Return the first unit from `unit` on that moves or computes data and is on; UINT32_MAX after the last one. */
uint32_t n6npu_next_unit(const N6Npu *npu, uint32_t unit);
const N6NpuUnitWork *n6npu_unit_work(const N6Npu *npu, unsigned unit);
/* Return the first channel from `channel` on with values that the unit's format did not hold; UINT32_MAX after the last one. The
 * channel is the number of the kernel or of the coefficient; 0 for a unit without them. */
uint32_t n6npu_next_saturated(const N6Npu *npu, unsigned unit, uint32_t channel, N6NpuSaturated *found);
/* Return the bytes of the format of a unit's output. */
unsigned n6npu_out_bytes(const N6Npu *npu, unsigned unit);
/* Describe a unit's configuration briefly: "3x3 stride 2x2, 8 kernels of 8". */
void n6npu_describe(const N6Npu *npu, unsigned unit, char *text, size_t bytes);

#endif
