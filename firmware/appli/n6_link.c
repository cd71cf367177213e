/* SPDX-License-Identifier: Apache-2.0 */
#include "n6_link.h"

#include <stddef.h>

#include "n6_board_clock.h"
#include "n6_frame.h"
#include "n6_inference.h"
#if N6_TRIAL || N6_ON_REQUEST
#include "n6_watchdog.h"
#endif

#define DATA_MAX N6_LINK_DATA_MAX
#define CRC_BYTES N6_LINK_CRC_BYTES

/* Add a member to an answer, in the order of its struct. */
#define ADD(answer, type, member, value) n6_frame_add(answer, value, sizeof(((type *)0)->member))
/* The offset of a member after the index of a request. Every request but HELLO begins with the index. */
#define BEHIND_INDEX(type, member) (offsetof(type, member) - sizeof(((type *)0)->index))
/* The bytes of a request after its index, without the data that follows its struct. */
#define REST(type) (sizeof(type) - sizeof(((type *)0)->index))

#if N6_TRIAL || N6_ON_REQUEST
#define IDLE n6_watchdog_feed
#else
#define IDLE NULL
#endif

/* The state kept from one request to the next. */
typedef struct {
    uint32_t run_sequence; /* of the last inference; above 255: none yet */
    uint32_t run_cycles;
} server_t;

static uint32_t run_once(server_t *server, const n6_plan_network_t *network, uint32_t sequence)
{
    if (server->run_sequence != sequence) {
        server->run_cycles = n6_inference_execute(network);
        server->run_sequence = sequence;
    }
    return server->run_cycles;
}

static n6_link_status_t serve_network(server_t *server, const n6_message_t *request, n6_message_t *answer, const n6_plan_network_t *network)
{
    const uint8_t *payload = request->data + 3; /* after the index */
    uint32_t bytes = request->bytes - 3u;
    switch (request->data[0]) {
    case N6_LINK_NETWORK:
        ADD(answer, n6_link_network_answer_t, input_bytes, n6_inference_input_bytes(network));
        ADD(answer, n6_link_network_answer_t, output_bytes, n6_inference_output_bytes(network));
        ADD(answer, n6_link_network_answer_t, epochs, n6_inference_epochs(network->instance->exec_state.first_epoch_block));
        n6_frame_add_text(answer, network->model);
        return N6_LINK_OK;
    case N6_LINK_INPUT:
        /* The inputs have changed: the next inference is new, even if its number is the same. */
        server->run_sequence = UINT32_MAX;
        return bytes >= REST(n6_link_input_request_t) &&
                       n6_inference_write_input(network, n6_frame_word(payload + BEHIND_INDEX(n6_link_input_request_t, offset)),
                                                payload + REST(n6_link_input_request_t), bytes - REST(n6_link_input_request_t))
                   ? N6_LINK_OK
                   : N6_LINK_RANGE;
    case N6_LINK_RUN:
        ADD(answer, n6_link_run_answer_t, cycles, run_once(server, network, request->data[1]));
        return N6_LINK_OK;
    case N6_LINK_RESTART:
        server->run_sequence = UINT32_MAX;
        n6_inference_restart(network);
        return N6_LINK_OK;
    case N6_LINK_OUTPUT: {
        const uint32_t rest = REST(n6_link_output_request_t);
        uint32_t size = bytes >= rest ? payload[BEHIND_INDEX(n6_link_output_request_t, size)] : 0u;
        if (size > DATA_MAX || bytes < rest ||
            !n6_inference_read_output(network, n6_frame_word(payload + BEHIND_INDEX(n6_link_output_request_t, offset)),
                                      answer->data + answer->bytes, size)) {
            return N6_LINK_RANGE;
        }
        answer->bytes += size;
        return N6_LINK_OK;
    }
    case N6_LINK_EPOCHS: {
        const uint32_t rest = REST(n6_link_epochs_request_t);
        uint32_t first = bytes >= rest ? (uint32_t)payload[0] | (uint32_t)payload[1] << 8 : UINT32_MAX; /* the only member */
        uint32_t count = n6_inference_epochs(network->instance->exec_state.first_epoch_block);
        for (uint32_t i = first; i < count && answer->bytes + sizeof(n6_link_epoch_t) + CRC_BYTES <= DATA_MAX; i++) {
            n6_epoch_cycles_t cycles = n6_inference_epoch_cycles(i);
            ADD(answer, n6_link_epoch_t, start, cycles.start);
            ADD(answer, n6_link_epoch_t, core, cycles.core);
            ADD(answer, n6_link_epoch_t, end, cycles.end);
        }
        return bytes >= rest ? N6_LINK_OK : N6_LINK_RANGE;
    }
    default:
        return N6_LINK_UNKNOWN;
    }
}

_Noreturn void n6_link_serve(n6_network_at_t *network_at, uint32_t count)
{
    static n6_message_t request, answer;
    server_t server = {UINT32_MAX, 0u};
    for (;;) {
        n6_frame_receive(&request, IDLE);
        uint32_t type = request.data[0];
        n6_frame_answer(&answer, &request, N6_LINK_OK);
        if (type == N6_LINK_HELLO) {
            ADD(&answer, n6_link_hello_answer_t, version, N6_LINK_VERSION);
            ADD(&answer, n6_link_hello_answer_t, networks, count);
            ADD(&answer, n6_link_hello_answer_t, cpu_hz, N6_CPU_HZ);
        } else if (request.bytes < 3u || request.data[2] >= count) {
            answer.data[2] = N6_LINK_UNKNOWN;
        } else {
            answer.data[2] = (uint8_t)serve_network(&server, &request, &answer, network_at(request.data[2]));
        }
        n6_frame_send(&answer);
    }
}
