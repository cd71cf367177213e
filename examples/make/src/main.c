/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_network.h"
#include "sensor.h"
#include "uart.h"

#define LARGEST_INPUT 262144u

static int8_t samples[LARGEST_INPUT];

static int strongest(const int8_t *scores, uint32_t count)
{
    int best = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (scores[i] > scores[best]) {
            best = (int)i;
        }
    }
    return best;
}

int main(void)
{
    uart_write("host: hello\r\n");
    n6_network_result_t opened = n6_network_open();
    uint32_t bytes = n6_network_input_bytes(0);
    if (opened.why[0] != '\0' || bytes > sizeof(samples)) {
        uart_write("host: no network: ");
        uart_write(opened.why);
        uart_write(opened.what);
        uart_write("\r\n");
        return 1;
    }
    sensor_read(samples, bytes);
    uint32_t count;
    if (!n6_network_run(0, samples, bytes)) {
        uart_write("host: no result\r\n");
        return 1;
    }
    const int8_t *scores = n6_network_output(0, 0, &count);
    uart_write("host: ");
    uart_write(n6_network_name(0));
    uart_write(" says ");
    uart_write_number(strongest(scores, count));
    uart_write(" of ");
    uart_write_number((int32_t)count);
    uart_write("\r\n");
    uart_write("host: done\r\n");
    return 0;
}
