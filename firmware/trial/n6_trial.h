/* SPDX-License-Identifier: Apache-2.0
 *
 * Trials of new images. A new image is started a few times with the watchdog running, until it is confirmed. An image that
 * resets, hangs or faults is not started again; the program uses the older one. Without N6_TRIAL the starts are not limited.
 */
#ifndef N6_TRIAL_H
#define N6_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

/* The subject of an image: this value, or the CRC-32 of a model's name. */
#define N6_TRIAL_APPLI 0u

#ifndef N6_TRIAL
#define N6_TRIAL 0
#endif

/* The address of the second slot of the Appli; 0: no second slot. */
#ifndef N6_TRIAL_APPLI_ADDRESS
#define N6_TRIAL_APPLI_ADDRESS 0u
#endif

#if N6_TRIAL

/* Read the journal, once, before the other functions. Print a message if the watchdog ended the last start. Return true if the
 * watchdog or the program itself did. The NOR is mapped. */
bool n6_trial_open(void);

/* In the Appli: do the same as n6_trial_open(), and continue the trial of the Appli itself if the FSBL began one. */
void n6_trial_resume(void);

/* In the FSBL, after n6_trial_begin(): record the image of the Appli to start, after its copy to RAM. */
void n6_trial_hand_over(uint32_t image);

/* Remove images of a subject that no longer exist. */
void n6_trial_keep(uint32_t subject, const uint32_t *images, uint32_t count);

/* In the FSBL, after n6_trial_hand_over(): return true if this Appli has confirmed that it works. */
bool n6_trial_is_confirmed(void);

/* Record the start of an image and start the watchdog, unless the image is confirmed. Call it before the start. name: for the
 * console. Return "", or an error (id and text) if the image must not be started. */
const char *n6_trial_begin(uint32_t subject, const char *name, uint32_t image);

/* The last resort, if the journal allows no image that is valid: start this one, uncounted and with the watchdog. The journal is
 * not signed, so it must not keep a board from starting. If the image is confirmed, the journal allows it again. */
void n6_trial_begin_anyway(uint32_t subject, const char *name, uint32_t image);

/* Mark an image as failed, so that it is not started again. No effect if it is not on trial. */
void n6_trial_reject(uint32_t subject, uint32_t image);

/* Confirm all images on trial in this start. The watchdog continues with its longest period: call n6_watchdog_feed(). Return
 * false, after a message, if the journal cannot be written: the images are then on trial again. */
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

static inline void n6_trial_begin_anyway(uint32_t subject, const char *name, uint32_t image)
{
    (void)subject;
    (void)name;
    (void)image;
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
