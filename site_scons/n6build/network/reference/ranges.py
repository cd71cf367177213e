"""The range of an operator's output, which an activation fused with the operator narrows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import tflite

from n6build.network.reference.descriptors import Member, Structure
from n6build.network.reference.epochs import Fields
from n6build.network.reference.fixed_point import INT8_MAX, INT8_MIN
from n6build.network.reference.graph import Quantisation, Tensor
from n6build.network.reference.kernel_call import fields_of
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.options import choice, names_in

Activation = Literal["NONE", "RELU", "RELU_N1_TO_1", "RELU6"]

RANGE = Structure(
    "n6k_output_t", (Member("zero_point", "int8_t"), Member("clamp_min", "int8_t"), Member("clamp_max", "int8_t"))
)

_LIMITS: dict[str, tuple[float | None, float | None]] = {
    "NONE": (None, None),
    "RELU": (0, None),
    "RELU6": (0, 6),
    "RELU_N1_TO_1": (-1, 1),
    "RELU_0_TO_1": (0, 1),
}
_NAMES = names_in(tflite.ActivationFunctionType)


@dataclass(frozen=True)
class ActivationOptions:
    """Of an operator whose only option is the fused activation."""

    activation: Activation = "NONE"


def read_activation(code: int) -> Activation:
    """code: of the schema's ActivationFunctionType. Raises DamagedError and UnsupportedError."""
    name: Any = choice(_NAMES, code, get_args(Activation), "activation")
    return name  # type: ignore[no-any-return]


def read_fused_activation(
    table: tflite.AddOptions | tflite.DivOptions | tflite.MulOptions | tflite.SubOptions,
) -> ActivationOptions:
    """The one option that counts here. Raises DamagedError and UnsupportedError."""
    return ActivationOptions(read_activation(table.FusedActivationFunction()))


def activation_of(operands: Operands) -> Activation:
    """NONE for an operator without that option."""
    options = operands.operator.options
    return options.activation if isinstance(options, ActivationOptions) else "NONE"


def real_limits(activation: Activation) -> tuple[float | None, float | None]:
    """Between which numbers an activation leaves its input as it is; None: without a limit."""
    return _LIMITS[activation]


def output_range(output: Tensor, activation: Activation) -> Fields:
    """The member of type RANGE for an int8 output."""
    quantisation = required_quantisation(output)
    low, high = clamp_range(activation, quantisation)
    return fields_of(RANGE, {"zero_point": quantisation.zero_point, "clamp_min": low, "clamp_max": high})


def clamp_range(
    activation: Activation | Literal["RELU_0_TO_1"],
    output: Quantisation,
    least: int = INT8_MIN,
    most: int = INT8_MAX,
) -> tuple[int, int]:
    """The part of the range from `least` to `most` that an activation leaves; its limits are quantised in float32, halves away
    from zero."""

    def quantise(limit: float) -> int:
        steps = np.float32(limit) / np.float32(output.scale)
        rounded = math.copysign(math.floor(abs(float(steps)) + 0.5), float(steps))
        return max(least, min(most, output.zero_point + int(rounded)))

    low, high = _LIMITS[activation]
    return least if low is None else quantise(low), most if high is None else quantise(high)
