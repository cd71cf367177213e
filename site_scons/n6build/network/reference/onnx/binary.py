"""QLinearAdd, QLinearSub, QLinearMul: of elements in float32, with broadcasting."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.network.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.network.reference.epochs import Fields
from n6build.network.reference.graph import Tensor
from n6build.network.reference.kernel_call import Argument, KernelCall, Parameter, fields_of
from n6build.network.reference.onnx.limits import LimitOptions, limited_range
from n6build.network.reference.onnx.storage import Shape
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.ranges import RANGE
from n6build.network.reference.rules import INT8, Problem, Rule, shown

_RANK = 4
_STRIDES = Structure(
    "n6k_strides_t",
    tuple(Member(f"d{axis}", "uint32_t") for axis in range(_RANK)),
    doc="Of four dimensions, from the outermost on: sizes, or how many elements a step along each of them is.",
)
_BINARY = Structure(
    "n6k_qlinear_binary_t",
    (
        Member("a", reads("int8_t")),
        Member("b", reads("int8_t")),
        Member("output", writes("int8_t")),
        Member("sizes", _STRIDES),
        Member("a_strides", _STRIDES),
        Member("b_strides", _STRIDES),
        Member("a_scale", "float"),
        Member("b_scale", "float"),
        Member("output_scale", "float"),
        Member("a_zero_point", "int8_t"),
        Member("b_zero_point", "int8_t"),
        Member("range", RANGE),
    ),
    doc="(a - zero point) * scale with the same of b, in float32; the result divided by output_scale and rounded half to even. "
    "Strides of the last dimension are 0 or 1.",
)
_KERNELS = {name: Kernel(f"qlinear_{name.lower()}", _BINARY, in_place=("a", "b")) for name in ("Add", "Sub", "Mul")}


def merged_strides(output: Shape, a: Shape, b: Shape) -> tuple[list[int], list[int], list[int]] | None:
    """Sizes and the strides of both operands, with neighbouring dimensions made one where they can be; None where more than
    four are left. All shapes have the rank of the output."""
    sizes: list[int] = []
    steps: tuple[list[int], list[int]] = ([], [])
    ends = [1, 1]
    for axis in reversed(range(len(output))):
        size = output[axis]
        if size == 1:
            continue
        strides = [0 if shape[axis] == 1 else end for shape, end in zip((a, b), ends, strict=True)]
        ends = [end * shape[axis] for shape, end in zip((a, b), ends, strict=True)]
        # One step further along this dimension is what all of the one behind it are.
        if sizes and all(stride == before[0] * sizes[0] for stride, before in zip(strides, steps, strict=True)):
            sizes[0] *= size
            continue
        sizes.insert(0, size)
        for before, stride in zip(steps, strides, strict=True):
            before.insert(0, stride)
    missing = _RANK - len(sizes)
    if missing < 0:
        return None
    if not sizes:
        return [1] * _RANK, [0] * _RANK, [0] * _RANK
    return [1] * missing + sizes, [0] * missing + steps[0], [0] * missing + steps[1]


def _check(operands: Operands) -> Iterator[Problem]:
    if merged_strides(operands.output.shape, operands.first.shape, operands.required(1).shape) is None:
        what = f"tensors {shown(operands.first)} and {shown(operands.required(1))} are broadcast in too many dimensions"
        yield Problem("N6-NET-007", what, "expand one of them before")


def _lower(operands: Operands, kernel: Kernel) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, LimitOptions)
    a, b, output = operands.first, operands.required(1), operands.output
    strides = merged_strides(output.shape, a.shape, b.shape)
    assert strides is not None
    return KernelCall(
        kernel,
        {
            "a": _operand(a),
            "b": _operand(b),
            "output": output,
            **dict(zip(("sizes", "a_strides", "b_strides"), map(_fields, strides), strict=True)),
            "a_scale": required_quantisation(a).scale,
            "b_scale": required_quantisation(b).scale,
            "output_scale": required_quantisation(output).scale,
            "a_zero_point": required_quantisation(a).zero_point,
            "b_zero_point": required_quantisation(b).zero_point,
            "range": limited_range(output, options.low, options.high),
        },
    )


def _operand(tensor: Tensor) -> Argument:
    return tensor if tensor.data is None else Parameter(tensor, "constant")


def _fields(numbers: list[int]) -> Fields:
    return fields_of(_STRIDES, {f"d{axis}": number for axis, number in enumerate(numbers)})


def binary_operator(name: str) -> OperatorKind:
    """name: of the operator in ONNX."""
    kernel = _KERNELS[name]
    return OperatorKind(
        name=f"QLinear{name}",
        label=f"QLinear{name}",
        rule=Rule(inputs=(INT8, INT8), required=2, constants=(), output=INT8, check=_check, first_may_be_constant=True),
        lower=lambda operands: _lower(operands, kernel),
        kernels=(kernel,),
    )
