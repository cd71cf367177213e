"""Resize with the mode linear, over height and width, in float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.descriptors import ENDS, SHAPE, kernel_with, of_type, reads
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, ends
from n6build.compile.reference.onnx.limits import REAL_MEMBERS, LimitOptions, real_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, Problem, Rule, check_nhwc
from n6build.compile.reference.windows import shape_of

_KERNEL = kernel_with(
    "real_resize",
    *ENDS,
    *of_type(SHAPE, "in", "out"),
    *of_type(reads("int32_t"), "rows", "columns"),
    *of_type(reads("float"), "row_weights", "column_weights"),
    *REAL_MEMBERS,
    doc="rows, columns: for each of the output the two of the input that it lies between, near and far; row_weights and "
    "column_weights: what they count. Four weights times four real numbers, added in the order near row near column, near "
    "far, far near, far far; divided by output_scale and rounded half to even.",
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
class ResizeOptions(LimitOptions):
    """Options of a linear Resize.

    Attributes:
        rows: Neighbours along the height.
        columns: Neighbours along the width.
    """

    rows: Between
    columns: Between


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_nhwc(operands.first, operands.output)


def neighbour_arguments(options: ResizeOptions) -> dict[str, Argument]:
    """Return the arguments from rows to column_weights."""
    return {
        "rows": Constant("int32", np.array(options.rows.places, np.int32)),
        "columns": Constant("int32", np.array(options.columns.places, np.int32)),
        "row_weights": Constant("float32", np.array(options.rows.weights, np.float32)),
        "column_weights": Constant("float32", np.array(options.columns.weights, np.float32)),
    }


def _lower(operands: Operands) -> KernelCall:
    options = operands.options(ResizeOptions)
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "in": shape_of(operands.first),
            "out": shape_of(operands.output),
            **neighbour_arguments(options),
            **real_arguments(operands),
        },
    )


OPERATORS = (
    OperatorKind(
        name="Resize",
        label="Resize",
        rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
