/* SPDX-License-Identifier: Apache-2.0
 *
 * Trials of new images: started a few times with the watchdog running, until they are confirmed. One that resets, hangs or faults is not
 * started again, and the program takes the older one. Without N6_TRIAL every image is started as often as one wants.
 */
#ifndef N6_TRIAL_H
#define N6_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

/* What images are of: this, or the CRC-32 of a model's name. */
#define N6_TRIAL_APPLI 0u

#ifndef N6_TRIAL
#define N6_TRIAL 0
#endif

/* Of the second slot of the Appli; 0: there is none. */
#ifndef N6_TRIAL_APPLI_ADDRESS
#define N6_TRIAL_APPLI_ADDRESS 0u
#endif

#if N6_TRIAL

/* Reads what was remembered, once, before the other functions; the console tells of a start that the watchdog ended. The NOR is mapped. */
void n6_trial_open(void);

/* In the Appli: as n6_trial_open(), and goes on with the trial of the Appli itself, where the FSBL has begun one. */
void n6_trial_resume(void);

/* In the FSBL, behind n6_trial_begin(): which Appli is started. It has been copied to its place. */
void n6_trial_hand_over(uint32_t image);

/* Forgets images of a subject that are no longer there. */
void n6_trial_keep(uint32_t subject, const uint32_t *images, uint32_t count);

/* Before an image is started: remembers that, and starts the watchdog, unless it was confirmed. name: for the console. Returns "", or why
 * it is not to be started: id and words. */
const char *n6_trial_begin(uint32_t subject, const char *name, uint32_t image);

/* It is not to be started again: it was seen not to work. Nothing where it is not on trial. */
void n6_trial_reject(uint32_t subject, uint32_t image);

/* All that this start tries out works. The watchdog goes on, with the longest time that it has: n6_watchdog_feed(). False where that
 * cannot be remembered, which the console says: it is tried out again. */
bool n6_trial_confirm(void);

#else

static inline void n6_trial_resume(void)
{
}

static inline void n6_trial_keep(uint32_t subject, const uint32_t *images, uint32_t count)
{
    (void)subject;
    (void)images;
    (void)count;
}

static inline const char *n6_trial_begin(uint32_t subject, const char *name, uint32_t image)
{
    (void)subject;
    (void)name;
    (void)image;
    return "";
}

static inline void n6_trial_reject(uint32_t subject, uint32_t image)
{
    (void)subject;
    (void)image;
}

static inline bool n6_trial_confirm(void)
{
    return true;
}

#endif

#endif
