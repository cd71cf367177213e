/* SPDX-License-Identifier: Apache-2.0
 *
 * One task runs inferences, another prints. The printing task has the higher priority, so a network does not hold it up.
 */
#include <stddef.h>

#include "FreeRTOS.h"
#include "n6_network.h"
#include "queue.h"
#include "sensor.h"
#include "task.h"
#include "uart.h"

#define LARGEST_INPUT 4096u
#define LARGEST_OUTPUT 16u
#define INFERENCES 3
#define STACK_WORDS 2048u
#define IMPATIENCE pdMS_TO_TICKS(10)

typedef struct {
    const char *wrong;
    uint32_t count;
    int8_t scores[LARGEST_OUTPUT];
} result_t;

static QueueHandle_t results;
static int8_t samples[LARGEST_INPUT];

/* Let other tasks run while the NPU works. */
void n6_network_wait(void)
{
    taskYIELD();
}

static result_t infer(void)
{
    result_t result = {"", 0, {0}};
    uint32_t bytes = n6_network_input_bytes(0), count;
    if (bytes > sizeof samples) {
        result.wrong = "the input is too large";
        return result;
    }
    sensor_read(samples, bytes);
    if (!n6_network_run(0, samples, bytes)) {
        result.wrong = "no result";
        return result;
    }
    const int8_t *scores = n6_network_output(0, NULL, &count);
    for (; result.count < count && result.count < LARGEST_OUTPUT; result.count++) {
        result.scores[result.count] = scores[result.count];
    }
    return result;
}

static void listen(void *unused)
{
    (void)unused;
    n6_network_result_t opened = n6_network_open();
    for (int number = 0; number < INFERENCES; number++) {
        result_t result = {opened.why, 0, {0}};
        if (opened.why[0] == '\0') {
            result = infer();
        }
        (void)xQueueSend(results, &result, portMAX_DELAY);
    }
    vTaskDelete(NULL);
}

static void print(const result_t *result)
{
    uart_write("host: scores");
    for (uint32_t i = 0; i < result->count; i++) {
        uart_write(" ");
        uart_write_number(result->scores[i]);
    }
    uart_write(result->wrong);
    uart_write("\r\n");
}

static void report(void *unused)
{
    (void)unused;
    for (int number = 0; number < INFERENCES;) {
        result_t result;
        if (xQueueReceive(results, &result, IMPATIENCE) == pdTRUE) {
            print(&result);
            number++;
        } else {
            uart_write("host: waiting\r\n");
        }
    }
    uart_write("host: done\r\n");
    vTaskDelete(NULL);
}

int main(void)
{
    results = xQueueCreate(1, sizeof(result_t));
    (void)xTaskCreate(listen, "listen", STACK_WORDS, NULL, 1, NULL);
    (void)xTaskCreate(report, "report", configMINIMAL_STACK_SIZE, NULL, 2, NULL);
    vTaskStartScheduler();
    return 0;
}
