/* SPDX-License-Identifier: Apache-2.0
 *
 * The way back over the console: the FSBL waits for a release, with the messages of n6_recovery_format.h. It writes everything
 * but itself, and starts nothing: after a reset the FSBL checks what it finds as at any start.
 */
#ifndef N6_RECOVERY_H
#define N6_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

/* Return true if the pin of board.yaml has the level that asks for a release; false for a board without such a pin. */
bool n6_recovery_is_held(void);

/* Answer requests until one of them resets the chip. is_held: the reason, for the host. The NOR must be mapped. */
_Noreturn void n6_recovery_serve(bool is_held);

#endif
