/* Recognition of the word in a recording. */
#ifndef SPOTTER_H
#define SPOTTER_H

#include <stdint.h>

/* Open the network. Return "", or the reason of a failure. */
const char *spotter_open(void);

/* Return the number of the word; -1 if the recording's length is not that of the network's input. */
int spotter_hear(const int8_t *features, uint32_t count);

#endif
