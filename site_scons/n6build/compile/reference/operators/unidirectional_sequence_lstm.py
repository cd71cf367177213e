"""UNIDIRECTIONAL_SEQUENCE_LSTM: int8 with an int16 cell state.

Only the basic form is supported: four gates, neither peepholes nor projection nor layer
normalisation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tflite

from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.graph import Quantisation, Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, Scratch, fields_of
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.reference_options import DamagedError, OptionsReader, UnsupportedError
from n6build.compile.reference.rules import CONVERT, INT8, INT16, INT32, QUANTISE, Problem, Rule, check_shape, shown
from n6build.compile.reference.weights import check_symmetric, folded_bias

# Positions of inputs, for the gates input, forget, cell and output in turn.
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS, _BIASES = range(1, 5), range(5, 9), range(12, 16)
_OUTPUT_STATE, _CELL_STATE = 18, 19
_FURTHER = {9: "peepholes", 10: "peepholes", 11: "peepholes", 16: "a projection", 17: "a projection"}
_FURTHER |= dict.fromkeys(range(20, 24), "layer normalisation")
_HIDDEN = 4  # index of the intermediate tensor that the output gate makes
_GATE_SCALE = np.float32(2**-12)  # scale of the inputs of the gates' functions, Q3.12
# A cell state is Q<bits>.<15 - bits>.
_MAX_INTEGER_BITS = 6

_SCALES = tuple(
    Member(f"{of}_{what}", reads("int32_t")) for of in ("input", "recurrent") for what in ("multiplier", "shift")
)
_KERNEL = kernel_with(
    "lstm",
    *ENDS,
    Member("output_state", writes("int8_t")),
    Member("cell_state", writes("int16_t")),
    *of_type(reads("int8_t"), "input_weights", "recurrent_weights"),
    *of_type(reads("int32_t"), "input_bias", "recurrent_bias"),
    *_SCALES,
    Member("scratch", writes("int16_t")),
    *of_type("uint32_t", "steps", "inputs", "cells"),
    *of_type("int32_t", "hidden_multiplier", "hidden_shift", "cell_integer_bits", "cell_clip"),
    Member("range", RANGE),
    doc="input [steps][inputs], output [steps][cells]; weights [4][cells][inputs] and [4][cells][cells], biases [4][cells], "
    "multipliers and shifts [4], of the gates input, forget, cell, output. cell_clip: 0 for none. scratch: N6K_LSTM_SCRATCH "
    "bytes. Rounding: double; the gates' functions in 16-bit fixed point.",
    definitions="#define N6K_LSTM_SCRATCH(cells) (4 * (cells) * 2)\n",
)


@dataclass(frozen=True)
class _Options:
    cell_clip: float
    time_major: bool


def _read(table: tflite.UnidirectionalSequenceLSTMOptions) -> _Options:
    if table.FusedActivationFunction() != tflite.ActivationFunctionType.TANH:
        raise UnsupportedError("its activation is not TANH", "use the default activations of an LSTM")
    clip = float(table.CellClip())
    if not math.isfinite(clip) or clip < 0:
        raise DamagedError(f"an LSTM clips its cells at {clip}")
    return _Options(clip, bool(table.TimeMajor()))


def _check(operands: Operands) -> Iterator[Problem]:
    for place, what in _FURTHER.items():
        if operands.optional(place) is not None:
            yield Problem(
                "N6-NET-007", f"has {what}", "use a basic LSTM, for example the one that keras.layers.LSTM converts to"
            )
    missing = [place for place in (*_BIASES, _OUTPUT_STATE, _CELL_STATE) if operands.optional(place) is None]
    if missing:
        yield Problem("N6-NET-007", f"has no input {missing[0]}", CONVERT)
        return
    shape = operands.first.shape
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[1 if operands.options(_Options).time_major else 0] != 1):
        yield Problem(
            "N6-NET-005",
            f"tensor {shown(operands.first)} has the shape {list(shape)}, not one sequence of vectors",
            "convert the model with batch 1",
        )
        return
    if len(shape) == 2 and shape[0] != 1:
        yield Problem("N6-NET-005", f"tensor {shown(operands.first)} has a batch of {shape[0]}", "convert with batch 1")
    yield from _check_shapes(operands)
    yield from _check_scales(operands)


def _check_shapes(operands: Operands) -> Iterator[Problem]:
    weights = operands.required(_INPUT_WEIGHTS[0])
    inputs, cells = operands.first.shape[-1], weights.shape[0] if weights.shape else 0
    yield from check_shape(operands.output, (*operands.first.shape[:-1], cells))
    for place in _INPUT_WEIGHTS:
        yield from check_shape(operands.required(place), (cells, inputs))
    for place in _RECURRENT_WEIGHTS:
        yield from check_shape(operands.required(place), (cells, cells))
    for place in _BIASES:
        yield from check_shape(operands.required(place), (cells,))
    for place in (_OUTPUT_STATE, _CELL_STATE):
        yield from check_shape(operands.required(place), (1, cells))


def _check_scales(operands: Operands) -> Iterator[Problem]:
    for place in (*_INPUT_WEIGHTS, *_RECURRENT_WEIGHTS):
        yield from check_symmetric(operands.required(place))
    cell_state = operands.required(_CELL_STATE)
    mantissa, exponent = math.frexp(required_quantisation(cell_state).scale)
    if mantissa != 0.5 or not -15 <= exponent - 1 <= _MAX_INTEGER_BITS - 15:
        yield Problem(
            "N6-NET-006",
            f"tensor {shown(cell_state)} has the scale {required_quantisation(cell_state).scale:g}; a cell state has a power of "
            f"two from 2^-15 to 2^{_MAX_INTEGER_BITS - 15}",
            "quantise the model again: calibration data out of range gives such a scale",
        )
    if _hidden(operands) is None:
        yield Problem("N6-NET-006", "has no scale for the result of its output gate (intermediate tensor 4)", QUANTISE)


def _hidden(operands: Operands) -> Quantisation | None:
    intermediates = operands.operator.intermediates
    quantisation = intermediates[_HIDDEN] if len(intermediates) > _HIDDEN else None
    if quantisation is None or len(quantisation.scales) != 1 or not -128 <= quantisation.zero_point <= 127:
        return None
    return quantisation if math.isfinite(quantisation.scale) and quantisation.scale > 0 else None


def _of_gates(operands: Operands, places: range, source: Tensor) -> dict[str, Argument]:
    """Return multipliers and shifts of the gates for values from `source`.

    Scales are computed in float32, as in the reference resolver.
    """
    given = np.float32(required_quantisation(source).scale)
    weights = [np.float32(required_quantisation(operands.required(place)).scale) for place in places]
    pairs = [accumulator_multiplier(float(scale * given / _GATE_SCALE)) for scale in weights]
    name = "input" if places is _INPUT_WEIGHTS else "recurrent"
    multipliers, shifts = zip(*pairs, strict=True)
    return {
        f"{name}_multiplier": Constant("int32", np.array(multipliers, np.int32)),
        f"{name}_shift": Constant("int32", np.array(shifts, np.int32)),
    }


def _stacked(operands: Operands, places: range) -> Constant:
    return Constant("int8", np.stack([_data(operands, place) for place in places]))


def _data(operands: Operands, place: int) -> np.ndarray:
    data = operands.required(place).data
    assert data is not None
    return data


def _lower(operands: Operands) -> KernelCall:
    source, output_state, cell_state = operands.first, operands.required(_OUTPUT_STATE), operands.required(_CELL_STATE)
    cells, inputs = operands.required(_INPUT_WEIGHTS[0]).shape
    steps = source.elements // inputs
    input_bias = [
        folded_bias(operands.required(weights), operands.required(bias), zero_point_of(source))
        for weights, bias in zip(_INPUT_WEIGHTS, _BIASES, strict=True)
    ]
    recurrent_bias = [
        folded_bias(operands.required(weights), None, zero_point_of(output_state)) for weights in _RECURRENT_WEIGHTS
    ]
    hidden = _hidden(operands)
    assert hidden is not None
    hidden_multiplier, hidden_shift = accumulator_multiplier(float(np.float32(2**-15 / hidden.scale * 2**-15)))
    cell_scale = required_quantisation(cell_state).scale
    clip = np.float32(operands.options(_Options).cell_clip) / np.float32(cell_scale)
    return KernelCall(
        _KERNEL,
        {
            "input": source,
            "output": operands.output,
            "output_state": output_state,
            "cell_state": cell_state,
            "input_weights": _stacked(operands, _INPUT_WEIGHTS),
            "recurrent_weights": _stacked(operands, _RECURRENT_WEIGHTS),
            "input_bias": Constant("int32", np.stack(input_bias)),
            "recurrent_bias": Constant("int32", np.stack(recurrent_bias)),
            **_of_gates(operands, _INPUT_WEIGHTS, source),
            **_of_gates(operands, _RECURRENT_WEIGHTS, output_state),
            "scratch": Scratch(4 * cells * 2, least=f"N6K_LSTM_SCRATCH({cells})"),
            "steps": steps,
            "inputs": inputs,
            "cells": cells,
            "hidden_multiplier": hidden_multiplier,
            "hidden_shift": hidden_shift,
            "cell_integer_bits": 15 + round(math.log2(cell_scale)),
            "cell_clip": int(min(clip, np.float32(32767))),
            "range": fields_of(RANGE, {"zero_point": hidden.zero_point, "clamp_min": -128, "clamp_max": 127}),
        },
        macs=steps * 4 * cells * (inputs + cells),
    )


OPERATORS = (
    OperatorKind(
        name="UNIDIRECTIONAL_SEQUENCE_LSTM",
        label="Lstm",
        options=OptionsReader(tflite.UnidirectionalSequenceLSTMOptions, _read),
        rule=Rule(
            inputs=(*[INT8] * 9, *[INT16] * 3, *[INT32] * 4, *(INT8, INT32), *(INT8, INT16), *[INT16] * 4),
            required=9,
            constants=(*range(1, 18), *range(20, 24)),
            output=INT8,
            check=_check,
            states=(_OUTPUT_STATE, _CELL_STATE),
        ),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
