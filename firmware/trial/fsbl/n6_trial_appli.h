/* SPDX-License-Identifier: Apache-2.0
 *
 * Two flash slots of the Appli. The FSBL starts the newer Appli, on trial until it confirms itself; if it fails, the older one. If
 * the journal allows neither, it starts the newer valid one as the last resort.
 */
#ifndef N6_TRIAL_APPLI_H
#define N6_TRIAL_APPLI_H

#include <stdbool.h>

/* Load and verify the Appli to start, and count its start. Print the choice, and the reason for each refusal. Return false if
 * there is no usable Appli. The NOR must be mapped. */
bool n6_trial_load_appli(void);

#endif
