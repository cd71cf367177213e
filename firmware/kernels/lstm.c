/* SPDX-License-Identifier: Apache-2.0
 *
 * Long short-term memory over a sequence: int8 in and out, int16 inside.
 */
#include "dot.h"
#include "fixed16.h"
#include "helium.h"
#include "n6_kernels_plain.h"
#include "requantize.h"

enum { INPUT, FORGET, CELL, OUTPUT, GATES };

static void plain_gates(const n6k_lstm_t *op, const int8_t *input)
{
    for (uint32_t gate = 0; gate < GATES; gate++) {
        for (uint32_t cell = 0; cell < op->cells; cell++) {
            const uint32_t row = gate * op->cells + cell;
            int32_t sum = n6k_plain_dot(input, op->input_weights + row * op->inputs, op->inputs, op->input_bias[row]);
            const int32_t of_input = n6k_scale_double(sum, op->input_multiplier[gate], op->input_shift[gate]);
            sum = n6k_plain_dot(op->output_state, op->recurrent_weights + row * op->cells, op->cells,
                                op->recurrent_bias[row]);
            const int32_t of_state = n6k_scale_double(sum, op->recurrent_multiplier[gate], op->recurrent_shift[gate]);
            const int16_t x = (int16_t)n6k_saturate16(n6k_saturate16(of_input) + of_state);
            op->scratch[row] = gate == CELL ? n6k_tanh16(x, 3) : n6k_logistic16(x);
        }
    }
}

static void plain_update(const n6k_lstm_t *op, int8_t *output)
{
    const int16_t *gates = op->scratch;
    for (uint32_t i = 0; i < op->cells; i++) {
        const int32_t kept = n6k_rounding_divide(gates[FORGET * op->cells + i] * op->cell_state[i], 15);
        const int32_t product = gates[INPUT * op->cells + i] * gates[CELL * op->cells + i];
        const int32_t added = n6k_rounding_divide(product, 15 + op->cell_integer_bits);
        const int32_t limit = op->cell_clip;
        const int16_t state = (int16_t)n6k_clamp(n6k_saturate16(kept + added), limit > 0 ? -limit : INT16_MIN,
                                                 limit > 0 ? limit : INT16_MAX);
        const int32_t hidden = gates[OUTPUT * op->cells + i] * n6k_tanh16(state, op->cell_integer_bits);
        op->cell_state[i] = state;
        output[i] = n6k_to_output(n6k_scale_double(hidden, op->hidden_multiplier, op->hidden_shift), op->range);
        op->output_state[i] = output[i];
    }
}

void n6k_plain_lstm(const n6k_lstm_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    for (uint32_t step = 0; step < op->steps; step++, input += op->inputs, output += op->cells) {
        plain_gates(op, input);
        plain_update(op, output);
    }
}

#if defined(__ARM_FEATURE_MVE)

static inline int32x4_t saturate16_x4(int32x4_t x)
{
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX));
}

/* Compute the arguments of the functions of one gate, four cells at a time. */
static void gate_sums(const n6k_lstm_t *op, const int8_t *input, uint32_t gate)
{
    for (uint32_t cell = 0; cell < op->cells; cell += 4) {
        const uint32_t row = gate * op->cells + cell, count = op->cells - cell < 4 ? op->cells - cell : 4;
        const mve_pred16_t lanes = vctp32q(count);
        int32_t sums[4];
        vst1q_s32(sums, vldrwq_z_s32(op->input_bias + row, lanes));
        n6k_dot_rows(input, op->input_weights + row * op->inputs, op->inputs, count, op->inputs, sums);
        const int32x4_t of_input = n6k_scale_x4(vld1q_s32(sums), op->input_multiplier[gate], op->input_shift[gate]);
        vst1q_s32(sums, vldrwq_z_s32(op->recurrent_bias + row, lanes));
        n6k_dot_rows(op->output_state, op->recurrent_weights + row * op->cells, op->cells, count, op->cells, sums);
        const int32x4_t of_state = n6k_scale_x4(vld1q_s32(sums), op->recurrent_multiplier[gate], op->recurrent_shift[gate]);
        const int32x4_t sum = saturate16_x4(vqaddq_s32(saturate16_x4(of_input), of_state));
        vstrhq_p_s32(op->scratch + row, sum, lanes);
    }
}

static void apply_functions(const n6k_lstm_t *op)
{
    for (uint32_t gate = 0; gate < GATES; gate++) {
        for (uint32_t cell = 0; cell < op->cells; cell += 8) {
            const mve_pred16_t lanes = vctp16q(op->cells - cell);
            int16_t *at = op->scratch + gate * op->cells + cell;
            const int16x8_t x = vldrhq_z_s16(at, lanes);
            vstrhq_p_s16(at, gate == CELL ? n6k_tanh16_x8(x, 3) : n6k_logistic16_x8(x), lanes);
        }
    }
}

/* Compute the new states of the cells, and store their hyperbolic tangents in place of the input gate. */
static void update_cells(const n6k_lstm_t *op)
{
    int16_t *gates = op->scratch;
    const int32x4_t by_15 = vdupq_n_s32(-15), by_more = vdupq_n_s32(-15 - op->cell_integer_bits);
    const int16_t high = (int16_t)(op->cell_clip > 0 ? op->cell_clip : INT16_MAX);
    const int16_t low = (int16_t)(op->cell_clip > 0 ? -op->cell_clip : INT16_MIN);
    for (uint32_t i = 0; i < op->cells; i += 4) {
        const mve_pred16_t lanes = vctp32q(op->cells - i);
        const int32x4_t forget = vldrhq_z_s32(gates + FORGET * op->cells + i, lanes);
        const int32x4_t state = vldrhq_z_s32(op->cell_state + i, lanes);
        const int32x4_t input = vldrhq_z_s32(gates + INPUT * op->cells + i, lanes);
        const int32x4_t cell = vldrhq_z_s32(gates + CELL * op->cells + i, lanes);
        const int32x4_t kept = n6k_rounding_divide_x4(vmulq_s32(forget, state), by_15);
        const int32x4_t added = n6k_rounding_divide_x4(vmulq_s32(input, cell), by_more);
        const int32x4_t sum = vminq_s32(vmaxq_s32(vaddq_s32(kept, added), vdupq_n_s32(low)), vdupq_n_s32(high));
        vstrhq_p_s32(op->cell_state + i, sum, lanes);
    }
    for (uint32_t i = 0; i < op->cells; i += 8) {
        const mve_pred16_t lanes = vctp16q(op->cells - i);
        const int16x8_t state = vldrhq_z_s16(op->cell_state + i, lanes);
        vstrhq_p_s16(gates + INPUT * op->cells + i, n6k_tanh16_x8(state, op->cell_integer_bits), lanes);
    }
}

static void write_output(const n6k_lstm_t *op, int8_t *output)
{
    const int16_t *gates = op->scratch;
    for (uint32_t i = 0; i < op->cells; i += 4) {
        const mve_pred16_t lanes = vctp32q(op->cells - i);
        const int32x4_t gate = vldrhq_z_s32(gates + OUTPUT * op->cells + i, lanes);
        const int32x4_t state = vldrhq_z_s32(gates + INPUT * op->cells + i, lanes);
        int32x4_t hidden = n6k_scale_x4(vmulq_s32(gate, state), op->hidden_multiplier, op->hidden_shift);
        hidden = n6k_to_output_x4(hidden, op->range);
        vstrbq_p_s32(output + i, hidden, lanes);
        vstrbq_p_s32(op->output_state + i, hidden, lanes);
    }
}

void n6k_lstm(const n6k_lstm_t *op)
{
    const int8_t *input = op->input;
    int8_t *output = op->output;
    for (uint32_t step = op->steps; step > 0; step--, input += op->inputs, output += op->cells) {
        for (uint32_t gate = 0; gate < GATES; gate++) {
            gate_sums(op, input, gate);
        }
        apply_functions(op);
        update_cells(op);
        write_output(op, output);
    }
}

#else

void n6k_lstm(const n6k_lstm_t *op)
{
    n6k_plain_lstm(op);
}

#endif
