/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_network.h"

#include <stddef.h>
#include <string.h>

#include "n6_inference.h"
#include "n6_memory.h"
#include "n6_network_buffers.h"
#include "n6_plan.h"
#include "n6_reg.h"

N6_WEAK bool n6_network_clocks(void)
{
    return true;
}

N6_WEAK void n6_network_print(const char *text)
{
    (void)text;
}

static void print_external_ram(uint32_t id, bool is_mapped)
{
    (void)id;
    n6_network_print(is_mapped ? "external RAM mapped\n" : "external RAM not mapped\n");
}

static void print_image(const n6_plan_image_t *image, uint32_t crc32)
{
    (void)crc32;
    n6_network_print("weights ");
    n6_network_print(image->pool);
    n6_network_print(image->destination != image->source ? " copied\n" : " in place\n");
}

n6_network_result_t n6_network_open(void)
{
    static const n6_memory_observer_t printer = {print_external_ram, print_image};
    if (!n6_network_clocks()) {
        return (n6_network_result_t){"N6-FW-035 the clocks do not run: ", "n6_network_clocks"};
    }
    n6_network_result_t result = n6_memory_open(&printer);
    for (uint32_t i = 0; i < n6_plan_network_count && result.why[0] == '\0'; i++) {
        if (!n6_inference_begin(&n6_plan_networks[i])) {
            result = (n6_network_result_t){"N6-FW-028 rejects its input and output buffers: ", n6_plan_networks[i].model};
        }
    }
    return result;
}

uint32_t n6_network_count(void)
{
    return n6_plan_network_count;
}

const char *n6_network_name(uint32_t network)
{
    return network < n6_plan_network_count ? n6_plan_networks[network].model : "";
}

uint32_t n6_network_input_bytes(uint32_t network)
{
    return network < n6_plan_network_count ? n6_inference_input_bytes(&n6_plan_networks[network]) : 0u;
}

uint32_t n6_network_output_bytes(uint32_t network)
{
    return network < n6_plan_network_count ? n6_inference_output_bytes(&n6_plan_networks[network]) : 0u;
}

bool n6_network_run(uint32_t network, const void *input, uint32_t input_bytes)
{
    return network < n6_plan_network_count && input != NULL &&
           n6_inference_compute(&n6_plan_networks[network], input, input_bytes) != 0;
}

const void *n6_network_output(uint32_t network, const char *name, uint32_t *bytes)
{
    *bytes = 0u;
    if (network >= n6_plan_network_count) {
        return NULL;
    }
    const LL_Buffer_InfoTypeDef *buffer = n6_network_outputs(n6_plan_networks[network].instance);
    while (buffer->name != NULL && name != NULL && strcmp(buffer->name, name) != 0) {
        buffer++;
    }
    if (buffer->name == NULL) {
        return NULL;
    }
    *bytes = LL_Buffer_len(buffer);
    return LL_Buffer_addr_start(buffer);
}
