/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a correct program before the NPU reads its weights. Each faulty variant omits one step, by a -D.
 */
#ifndef STEPS_H
#define STEPS_H

#ifndef OMIT_MAP
#define OMIT_MAP 0
#endif
#ifndef OMIT_POWER
#define OMIT_POWER 0
#endif
#ifndef OMIT_CLEAN
#define OMIT_CLEAN 0
#endif
#ifndef OMIT_RIF
#define OMIT_RIF 0
#endif
#ifndef WRONG_ALIAS
#define WRONG_ALIAS 0
#endif
#ifndef EARLY_SWITCH
#define EARLY_SWITCH 0
#endif
#ifndef EARLY_BUSES
#define EARLY_BUSES 0
#endif

#endif
