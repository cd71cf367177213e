"""InstanceNormalization: channels with mean 0 and deviation 1, in float32.

Then they are scaled and shifted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import KernelCall, Parameter
from n6build.compile.reference.onnx.real_ends import REAL_MEMBERS, ends, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT8, Problem, Rule, check_elements, check_elementwise

_SCALE, _BIAS = 1, 2

_KERNEL = Kernel(
    "real_instance_norm",
    Structure(
        "n6k_real_instance_norm_t",
        (
            *ENDS,
            Member("pixels", "uint32_t"),
            Member("channels", "uint32_t"),
            Member("scale", reads("float")),
            Member("bias", reads("float")),
            Member("epsilon", "float"),
            *REAL_MEMBERS,
        ),
        doc="Channel by channel: x * factor + (bias - mean * factor), divided by output_scale and rounded half to even. factor: "
        "scale / sqrt(variance + epsilon). The sums are those of real_mean with in_vectors; that of the squares begins with a "
        "vector in each channel.",
    ),
)


@dataclass(frozen=True)
class InstanceNormOptions:
    """Options of an InstanceNormalization.

    Attributes:
        epsilon: Number that is added to the variance.
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
    """

    epsilon: float
    low: float
    high: float


def _options(operands: Operands) -> InstanceNormOptions:
    options = operands.operator.options
    assert isinstance(options, InstanceNormOptions)
    return options


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    for position in (_SCALE, _BIAS):
        yield from check_elements(operands.required(position), operands.first.shape[-1])


def _lower(operands: Operands) -> KernelCall:
    options, channels = _options(operands), operands.first.shape[-1]
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "pixels": operands.first.elements // channels,
            "channels": channels,
            "scale": Parameter(operands.required(_SCALE), "scale"),
            "bias": Parameter(operands.required(_BIAS), "bias"),
            "epsilon": options.epsilon,
            **real_arguments(operands, options.low, options.high),
        },
    )


OPERATOR = OperatorKind(
    name="InstanceNormalization",
    label="InstanceNormalization",
    rule=Rule(inputs=(INT8, FLOAT32, FLOAT32), required=3, constants=(_SCALE, _BIAS), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
