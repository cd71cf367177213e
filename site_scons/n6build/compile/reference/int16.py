"""Parts that operators with int16 activations share.

They are the kinds of operators whose names end with int16. Zero points are 0. Weights are int8.
Biases and accumulators are int64.
"""

from __future__ import annotations

from n6build.compile.reference.descriptors import Member, Structure, reads, writes
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.fixed_point import ScaleError, quantize_multiplier
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, Parameter, fields_of
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.ranges import Activation, clamp_range
from n6build.compile.reference.weights import WEIGHTS, plain_bias, real_scales, scaling_of

INT16_MIN, INT16_MAX = -32768, 32767
# Limits of the reference resolver's 64-bit scaling.
_MAX_SHIFT = 7
_WHOLE = 0x7FFF0000

RANGE = Structure("n6k_output_int16_t", (Member("clamp_min", "int16_t"), Member("clamp_max", "int16_t")))
ENDS = (Member("input", reads("int16_t")), Member("output", writes("int16_t")))
# Members of a descriptor, in these orders.
WEIGHT_MEMBERS = (Member("weights", reads("int8_t")), Member("bias", reads("int64_t")))
SCALING_MEMBERS = (
    Member("multiplier", reads("int32_t"), note="of 15 bits"),
    Member("shift", reads("int32_t"), note="to the right"),
)


def output_range(output: Tensor, activation: Activation) -> Fields:
    """Return the member of type RANGE."""
    low, high = clamp_range(activation, required_quantisation(output), INT16_MIN, INT16_MAX)
    return fields_of(RANGE, {"clamp_min": low, "clamp_max": high})


def weight_arguments(operands: Operands, channel_axis: int) -> dict[str, Argument]:
    """Return the arguments for WEIGHT_MEMBERS."""
    bias = Constant("int64", plain_bias(operands, channel_axis))
    return {"weights": Parameter(operands.required(WEIGHTS), "weights"), "bias": bias}


def convolution_arguments(operands: Operands, channel_axis: int) -> dict[str, Argument]:
    """Return the arguments for WEIGHT_MEMBERS and SCALING_MEMBERS.

    Raises:
        ScaleError: The scale of an accumulator is too large.
    """
    scaling = scaling_of([_reduced(real) for real in real_scales(operands, channel_axis)])
    return {**weight_arguments(operands, channel_axis), **scaling}


def _reduced(real: float) -> tuple[int, int]:
    """Return (multiplier, shift) with real = multiplier / 2^shift.

    The multiplier has 15 bits, as in the reference resolver's scaling of 64-bit accumulators.
    """
    multiplier, shift = quantize_multiplier(real)
    if shift > _MAX_SHIFT:
        raise ScaleError(f"its accumulator would be scaled by {real:g}, more than 2^{_MAX_SHIFT}")
    return (multiplier + (1 << 15)) >> 16 if multiplier < _WHOLE else 0x7FFF, 15 - shift
