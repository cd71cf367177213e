/* Which word is in a recording. */
#ifndef SPOTTER_H
#define SPOTTER_H

#include <stdint.h>

/* "" where all is well, else what is wrong. */
const char *spotter_open(void);

/* The number of the word; -1 where the recording has another length than the network takes. */
int spotter_hear(const int8_t *features, uint32_t count);

#endif
