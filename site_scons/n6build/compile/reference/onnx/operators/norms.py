"""Rows or channels with mean 0 and deviation 1, in float32, scaled and shifted.

LayerNormalization has rows of neighbouring elements, InstanceNormalization channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import ENDS, ROWS, Kernel, Member, kernel_with, of_type, reads
from n6build.compile.reference.kernel_call import Argument, KernelCall, Parameter, ends
from n6build.compile.reference.onnx.limits import REAL_MEMBERS, LimitOptions, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT8, Problem, Rule, check_elements, check_elementwise

_SCALE, _BIAS = 1, 2
# Members of a descriptor, in this order.
_SCALING_MEMBERS = (*of_type(reads("float"), "scale", "bias"), Member("epsilon", "float"), *REAL_MEMBERS)

_INSTANCE = kernel_with(
    "real_instance_norm",
    *ENDS,
    *of_type("uint32_t", "pixels", "channels"),
    *_SCALING_MEMBERS,
    doc="Channel by channel: x * factor + (bias - mean * factor), divided by output_scale and rounded half to even. factor: "
    "scale / sqrt(variance + epsilon). The sums are those of real_mean with in_vectors; that of the squares begins with a "
    "vector in each channel.",
)
_LAYER = kernel_with(
    "real_layer_norm",
    *ROWS,
    *_SCALING_MEMBERS,
    doc="Row by row: (x - mean) / sqrt(variance + epsilon) * scale + bias, divided by output_scale and rounded half to even. "
    "scale, bias: one for each element of a row.",
)


@dataclass(frozen=True)
class NormOptions(LimitOptions):
    """Options of a normalisation.

    Attributes:
        depth: Elements of a row, or channels.
        epsilon: Number that is added to the variance.
    """

    depth: int
    epsilon: float


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    for position in (_SCALE, _BIAS):
        yield from check_elements(operands.required(position), operands.options(NormOptions).depth)


def _norm(name: str, kernel: Kernel, counts: str, depth: str) -> OperatorKind:
    """Return an operator.

    Args:
        name: Name of the operator.
        kernel: Kernel of the operator.
        counts: Member for the number of elements, divided by `NormOptions.depth`.
        depth: Member for `NormOptions.depth`.
    """

    def lower(operands: Operands) -> KernelCall:
        options = operands.options(NormOptions)
        arguments: dict[str, Argument] = {
            **ends(operands),
            counts: operands.first.elements // options.depth,
            depth: options.depth,
            "scale": Parameter(operands.required(_SCALE), "scale"),
            "bias": Parameter(operands.required(_BIAS), "bias"),
            "epsilon": options.epsilon,
            **real_arguments(operands),
        }
        return KernelCall(kernel, arguments)

    rule = Rule((INT8, FLOAT32, FLOAT32), 3, (_SCALE, _BIAS), INT8, _check)
    return OperatorKind(name, name, rule, lower, (kernel,))


OPERATORS = (
    _norm("InstanceNormalization", _INSTANCE, "pixels", "channels"),
    _norm("LayerNormalization", _LAYER, "rows", "depth"),
)
