/* SPDX-License-Identifier: Apache-2.0
 *
 * Two flash slots of the Appli: the newer one is started, on trial until it has confirmed itself; then the older one.
 */
#ifndef N6_TRIAL_APPLI_H
#define N6_TRIAL_APPLI_H

#include <stdbool.h>

/* Loads the Appli that is to be started, verified and with its start counted; the console says which, and why another is not. False
 * where there is none. The NOR is mapped. */
bool n6_trial_load_appli(void);

#endif
