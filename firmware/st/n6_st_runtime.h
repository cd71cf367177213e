/* SPDX-License-Identifier: Apache-2.0 */
#ifndef N6_ST_RUNTIME_H
#define N6_ST_RUNTIME_H

/* What ST's runtime expects of an application before its first network. The NPU and its cache have clocks. */
void n6_st_runtime_open(void);

/* In the object file of the system calls. */
extern const char n6_system_calls[];

#endif
