/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_ST_RUNTIME_H
#define N6_ST_RUNTIME_H

/* Prepare ST's runtime before the first network. The NPU and its cache must have clocks. */
void n6_st_runtime_open(void);

/* A symbol in the object file of the system calls. */
extern const char n6_system_calls[];

#endif
