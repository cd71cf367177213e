"""QLinearGlobalAveragePool: the mean of each channel, its sum scaled in float32."""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.compile.reference.kernel_call import Argument, KernelCall
from n6build.compile.reference.onnx.limits import LimitOptions, limited_range
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, Rule, check_elements

_KERNEL = Kernel(
    "qlinear_global_average_pool",
    Structure(
        "n6k_qlinear_global_average_pool_t",
        (
            *ENDS,
            Member("pixels", "uint32_t"),
            Member("channels", "uint32_t"),
            Member("bias", "int32_t"),
            Member("scale", "float"),
            Member("range", RANGE),
        ),
        doc="The sum of all pixels of each channel, with the bias: -input zero point * pixels. It is converted to float32, "
        "multiplied by scale, input scale / (output scale * pixels), and rounded half to even.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, LimitOptions)
    channels = operands.first.shape[-1]
    pixels = operands.first.elements // channels
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    scale = np.float32(given.scale) / (np.float32(target.scale) * np.float32(pixels))
    ends: dict[str, Argument] = {"input": operands.first, "output": operands.output}
    sizes: dict[str, Argument] = {"pixels": pixels, "channels": channels}
    scaling: dict[str, Argument] = {"bias": -given.zero_point * pixels, "scale": float(scale)}
    limits = limited_range(operands.output, options.low, options.high)
    return KernelCall(_KERNEL, {**ends, **sizes, **scaling, "range": limits})


OPERATOR = OperatorKind(
    name="QLinearGlobalAveragePool",
    label="QLinearGlobalAveragePool",
    rule=Rule(
        inputs=(INT8,),
        required=1,
        constants=(),
        output=INT8,
        check=lambda operands: check_elements(operands.output, operands.first.shape[-1]),
    ),
    lower=_lower,
    kernels=(_KERNEL,),
)
