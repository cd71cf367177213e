/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Who looks on while networks run on the NPU: files that tell what it did, and tensors that are put into memory and taken from it.
 */
#ifndef N6VIRT_EPOCHS_H
#define N6VIRT_EPOCHS_H

#include "n6npu.h"

/* Of the block that has told last that it begins or has ended: by its place in the table of a network, by its index in the
 * application. */
typedef struct {
    bool is_known;
    uint32_t network, place;
} N6VirtPlace;

/* NULL: no program has told yet. */
const N6VirtPlace *n6virt_place(void);

/* A file that the board writes: opened where a path was given, or the emulator ends with a message; NULL without one. */
FILE *n6virt_open(const char *path, const char *mode, const char *what);

/* n6virt_record.c: what each epoch did. */
void n6virt_record_epoch(const N6Npu *npu, const N6NpuEpoch *epoch);

/* n6virt_trace.c: the order of events. */
void n6virt_trace_write(uint32_t offset, uint32_t value);
void n6virt_trace_blob(uint32_t address, const uint8_t *bytes, uint32_t words);
void n6virt_trace_epoch(const N6NpuEpoch *epoch);
void n6virt_trace_place(const N6VirtPlace *place);

/* n6virt_tensors.c: what is put before an epoch, and got after it. */
void n6virt_tensors_place_begins(const N6VirtPlace *place);
void n6virt_tensors_place_ends(const N6VirtPlace *place);
void n6virt_tensors_label_begins(const N6NpuEpoch *epoch);
void n6virt_tensors_label_ends(const N6NpuEpoch *epoch);

#endif
