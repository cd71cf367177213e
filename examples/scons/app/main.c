#include "n6_network.h"
#include "serial.h"
#include "spotter.h"

/* A product would take a recording from a microphone. */
static int8_t features[2048];

int main(void)
{
    serial_open();
    serial_write("spotter: " GREETING "\n");
    const char *wrong = spotter_open();
    if (wrong[0] != '\0') {
        serial_write("spotter: ");
        serial_write(wrong);
        serial_write("\nspotter: stopped\n");
        return 1;
    }
    uint32_t count = n6_network_input_bytes(0);
    for (uint32_t i = 0; i < count && i < sizeof features; i++) {
        features[i] = (int8_t)(i % 251u);
    }
    for (unsigned number = 1; number <= 3u; number++) {
        int word = spotter_hear(features, count < sizeof features ? count : sizeof features);
        serial_write("spotter: word ");
        serial_write_number((unsigned)word);
        serial_write("\n");
    }
    serial_write("spotter: done\n");
    return 0;
}
