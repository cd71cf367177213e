"""LayerNormalization: rows with mean 0 and deviation 1, in float32.

Then they are scaled and shifted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import ROWS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import KernelCall, Parameter
from n6build.compile.reference.onnx.real_ends import REAL_MEMBERS, ends, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT8, Problem, Rule, check_elements, check_elementwise

_SCALE, _BIAS = 1, 2

_KERNEL = Kernel(
    "real_layer_norm",
    Structure(
        "n6k_real_layer_norm_t",
        (
            *ROWS,
            Member("scale", reads("float")),
            Member("bias", reads("float")),
            Member("epsilon", "float"),
            *REAL_MEMBERS,
        ),
        doc="Row by row: (x - mean) / sqrt(variance + epsilon) * scale + bias, divided by output_scale and rounded half to even. "
        "scale, bias: one for each element of a row.",
    ),
)


@dataclass(frozen=True)
class LayerNormOptions:
    """Options of a LayerNormalization.

    Attributes:
        depth: Elements of a row.
        epsilon: Number that is added to the variance.
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
    """

    depth: int
    epsilon: float
    low: float
    high: float


def _options(operands: Operands) -> LayerNormOptions:
    options = operands.operator.options
    assert isinstance(options, LayerNormOptions)
    return options


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    for position in (_SCALE, _BIAS):
        yield from check_elements(operands.required(position), _options(operands).depth)


def _lower(operands: Operands) -> KernelCall:
    options = _options(operands)
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "rows": operands.first.elements // options.depth,
            "depth": options.depth,
            "scale": Parameter(operands.required(_SCALE), "scale"),
            "bias": Parameter(operands.required(_BIAS), "bias"),
            "epsilon": options.epsilon,
            **real_arguments(operands, options.low, options.high),
        },
    )


OPERATOR = OperatorKind(
    name="LayerNormalization",
    label="LayerNormalization",
    rule=Rule(inputs=(INT8, FLOAT32, FLOAT32), required=3, constants=(_SCALE, _BIAS), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
