/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Observers of networks on the NPU: files that record its work, and tensors that are put into memory and read from it.
 */
#ifndef N6VIRT_EPOCHS_H
#define N6VIRT_EPOCHS_H

#include "n6npu.h"

/* The epoch block that last reported its begin or end: its place in the table of a network, and the network's index in the
 * application. */
typedef struct {
    bool is_known;
    uint32_t network, place;
} N6VirtPlace;

/* Return the last reported place; NULL if no program has reported one. */
const N6VirtPlace *n6virt_place(void);

/* n6virt_record.c: the work of each epoch. */
void n6virt_record_epoch(const N6Npu *npu, const N6NpuEpoch *epoch);

/* n6virt_trace.c: the order of events. */
void n6virt_trace_write(uint32_t offset, uint32_t value);
void n6virt_trace_blob(uint32_t address, const uint8_t *bytes, uint32_t words);
void n6virt_trace_epoch(const N6NpuEpoch *epoch);
void n6virt_trace_place(const N6VirtPlace *place);

/* n6virt_tensors.c: tensors that are put before an epoch, and got after it. place: the last reported one, or NULL. */
void n6virt_tensors_place_begins(const N6VirtPlace *place);
void n6virt_tensors_place_ends(const N6VirtPlace *place);
void n6virt_tensors_label_begins(const N6VirtPlace *place, const N6NpuEpoch *epoch);
void n6virt_tensors_label_ends(const N6VirtPlace *place, const N6NpuEpoch *epoch);

#endif
