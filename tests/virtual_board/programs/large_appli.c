/* SPDX-License-Identifier: Apache-2.0
 *
 * An Appli of more than 64 KB: a table at its end.
 */
#include "n6_console.h"

const char n6_program[] = "appli";

/* Volatile and initialised, so that the table is in the image; in the code's section, which comes last there. */
__attribute__((section(".text.table"))) static volatile uint8_t table[100000] = {[0] = 1, [99999] = 42};

int main(void)
{
    n6_console_open();
    n6_put("last=");
    n6_put_u32(table[99999]);
    n6_put_end();
    n6_put("end");
    n6_put_end();
    return 0;
}
