"""Resize with the mode linear, over height and width, in float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.descriptors import ENDS, SHAPE, Kernel, Member, Structure, reads
from n6build.compile.reference.kernel_call import Constant, KernelCall
from n6build.compile.reference.onnx.real_ends import REAL_MEMBERS, ends, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, Problem, Rule, check_nhwc
from n6build.compile.reference.windows import shape_of

_KERNEL = Kernel(
    "real_resize",
    Structure(
        "n6k_real_resize_t",
        (
            *ENDS,
            Member("in", SHAPE),
            Member("out", SHAPE),
            Member("rows", reads("int32_t")),
            Member("columns", reads("int32_t")),
            Member("row_weights", reads("float")),
            Member("column_weights", reads("float")),
            *REAL_MEMBERS,
        ),
        doc="rows, columns: for each of the output the two of the input that it lies between, near and far; row_weights and "
        "column_weights: what they count. Four weights times four real numbers, added in the order near row near column, near "
        "far, far near, far far; divided by output_scale and rounded half to even.",
    ),
)


@dataclass(frozen=True)
class Between:
    """Neighbours of the places of the output along one dimension.

    Attributes:
        places: The two places of the input on both sides, for each place of the output.
        weights: Weights of both.
    """

    places: tuple[tuple[int, int], ...]
    weights: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class ResizeOptions:
    """Options of a linear Resize.

    Attributes:
        rows: Neighbours along the height.
        columns: Neighbours along the width.
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
    """

    rows: Between
    columns: Between
    low: float
    high: float


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_nhwc(operands.first, operands.output)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, ResizeOptions)
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "in": shape_of(operands.first),
            "out": shape_of(operands.output),
            "rows": Constant("int32", np.array(options.rows.places, np.int32)),
            "columns": Constant("int32", np.array(options.columns.places, np.int32)),
            "row_weights": Constant("float32", np.array(options.rows.weights, np.float32)),
            "column_weights": Constant("float32", np.array(options.columns.weights, np.float32)),
            **real_arguments(operands, options.low, options.high),
        },
    )


OPERATOR = OperatorKind(
    name="Resize",
    label="Resize",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
