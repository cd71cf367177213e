/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of the console with a name and a number, for the tests that read it.
 */
#ifndef PUT_H
#define PUT_H

#include <stdint.h>

#include "n6_console.h"

static void put(const char *what, uint32_t value)
{
    n6_put(what);
    n6_put_hex32(value);
    n6_put_end();
}

#endif
