/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_confine_gate.h"

#include "n6_confine.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define OPERATORS 16

/* The members are in the order of the table below. */
_Static_assert(sizeof(ll_aton_reloc_callbacks) == (7u + OPERATORS) * sizeof(uint32_t), "of 32-bit pointers");

/* The gate, a separate region of the MPU. Models may maintain cache lines of their own memory only. Calls for the NPU's cache do
 * nothing, since no epoch of this runtime uses it. All other callbacks end as a fault. */
__asm(".pushsection .text.n6_confine_gate, \"ax\", %progbits\n"
      ".balign 32\n"
      ".global n6_gate_start\n"
      "n6_gate_start:\n"
      ".thumb_func\n.global n6_gate_enter\n.type n6_gate_enter, %function\n"
      "n6_gate_enter:\n"
      "    msr control, r4\n"
      "    isb\n"
      "    adr lr, n6_gate_return\n"
      "    orr lr, lr, #1\n"
      "    bx r3\n"
      ".balign 4\n"
      ".thumb_func\nn6_gate_return:\n"
      "    svc #0\n"
      ".thumb_func\nn6_gate_trap:\n"
      "    udf #0\n"
      ".thumb_func\nn6_gate_clean:\n"
      "    svc #1\n"
      "    bx lr\n"
      ".thumb_func\nn6_gate_invalidate:\n"
      "    svc #2\n"
      "    bx lr\n"
      ".thumb_func\nn6_gate_clean_invalidate:\n"
      "    svc #3\n"
      ".thumb_func\nn6_gate_nothing:\n"
      "    bx lr\n"
      ".balign 4\n"
      ".global n6_confine_callbacks\n"
      "n6_confine_callbacks:\n"
      "    .word n6_gate_trap, n6_gate_trap\n"
      "    .word n6_gate_clean, n6_gate_invalidate, n6_gate_clean_invalidate\n"
      "    .word n6_gate_nothing, n6_gate_nothing\n"
      "    .rept " TEXT(OPERATORS) "\n"
      "    .word n6_gate_trap\n"
      "    .endr\n"
      ".balign 32\n"
      ".global n6_gate_end\n"
      "n6_gate_end:\n"
      ".popsection");
