/* SPDX-License-Identifier: Apache-2.0
 *
 * An Appli whose code, including its very first instruction, is more than 64 KB behind the Appli's start.
 */
#include "n6_console.h"

const char n6_program[] = "appli";

__asm(".section .text.in_front,\"ax\",%progbits\n"
      "in_front: .fill 100000, 1, 0x55\n"
      ".text\n");
extern const uint8_t in_front[];

int main(void)
{
    n6_console_open();
    n6_put_u32(in_front[99999]);
    n6_put_end();
    n6_put("end");
    n6_put_end();
    return 0;
}
