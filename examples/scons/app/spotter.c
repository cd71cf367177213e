#include "spotter.h"

#include <stddef.h>

#include "n6_network.h"

const char *spotter_open(void)
{
    return n6_network_open().why;
}

int spotter_hear(const int8_t *features, uint32_t count)
{
    uint32_t words = 0;
    if (!n6_network_run(0, features, count)) {
        return -1;
    }
    const int8_t *likely = n6_network_output(0, NULL, &words);
    uint32_t best = 0;
    for (uint32_t word = 1; word < words; word++) {
        best = likely[word] > likely[best] ? word : best;
    }
    return (int)best;
}
