"""Ranges of operators' outputs, which fused activations narrow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import tflite

from n6build.compile.reference.descriptors import Member, Structure
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.fixed_point import INT8_MAX, INT8_MIN
from n6build.compile.reference.graph import Quantisation, Tensor
from n6build.compile.reference.kernel_call import fields_of
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.reference_options import choice, names_in

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
    """Options of an operator that has only the fused activation."""

    activation: Activation = "NONE"


def read_activation(code: int) -> Activation:
    """Return the activation of a code.

    Args:
        code: Code in the schema's ActivationFunctionType.

    Raises:
        DamagedError: The code does not exist.
        UnsupportedError: The activation is not supported.
    """
    name: Any = choice(_NAMES, code, get_args(Activation), "activation")
    return name  # type: ignore[no-any-return]


def read_fused_activation(
    table: tflite.AddOptions | tflite.DivOptions | tflite.MulOptions | tflite.SubOptions,
) -> ActivationOptions:
    """Read the fused activation, which is the only option that counts here.

    Raises:
        DamagedError: Its code does not exist.
        UnsupportedError: The activation is not supported.
    """
    return ActivationOptions(read_activation(table.FusedActivationFunction()))


def activation_of(operands: Operands) -> Activation:
    """Return the fused activation, NONE for an operator without that option."""
    options = operands.operator.options
    return options.activation if isinstance(options, ActivationOptions) else "NONE"


def real_limits(activation: Activation) -> tuple[float | None, float | None]:
    """Return the limits between which an activation keeps its input; None: no limit."""
    return _LIMITS[activation]


def output_range(output: Tensor, activation: Activation) -> Fields:
    """Return the member of type RANGE for an int8 output."""
    quantisation = required_quantisation(output)
    low, high = clamp_range(activation, quantisation)
    return fields_of(RANGE, {"zero_point": quantisation.zero_point, "clamp_min": low, "clamp_max": high})


def clamp_range(
    activation: Activation | Literal["RELU_0_TO_1"],
    output: Quantisation,
    least: int = INT8_MIN,
    most: int = INT8_MAX,
) -> tuple[int, int]:
    """Return the part of an integer range that an activation leaves.

    The activation's limits are quantised in float32, with halves rounded away from zero.

    Args:
        activation: The activation.
        output: Quantisation of the output.
        least: Start of the integer range.
        most: End of the integer range, included.
    """

    def quantise(limit: float) -> int:
        steps = np.float32(limit) / np.float32(output.scale)
        rounded = math.copysign(math.floor(abs(float(steps)) + 0.5), float(steps))
        return max(least, min(most, output.zero_point + int(rounded)))

    low, high = _LIMITS[activation]
    return least if low is None else quantise(low), most if high is None else quantise(high)
