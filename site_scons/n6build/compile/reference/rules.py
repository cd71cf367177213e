"""Rules for the tensors of operators, and checks that operators' modules share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from n6build.compile.reference.graph import DType, Quantisation, Tensor
from n6build.compile.reference.operands import Operands

# Outside these limits a scale is not the result of a calibration; its fixed-point multiplier would lose all precision.
MIN_SCALE, MAX_SCALE = 1e-9, 1e4
_LIMITS: dict[DType, tuple[int, int]] = {"int8": (-128, 127), "uint8": (0, 255), "int16": (0, 0)}

INT8: tuple[DType, ...] = ("int8",)
INT16: tuple[DType, ...] = ("int16",)
INT32: tuple[DType, ...] = ("int32",)
INT64: tuple[DType, ...] = ("int64",)
FLOAT32: tuple[DType, ...] = ("float32",)
# Types of sizes and indices.
INDEX: tuple[DType, ...] = (*INT32, *INT64)
BOOL: tuple[DType, ...] = ("bool",)
EIGHT_BIT: tuple[DType, ...] = ("int8", "uint8")

QUANTISE = "quantise the model to int8 (full integer, with a representative data set)"
CONVERT = (
    "convert the model again; if the error persists, the converter wrote a graph that breaks the operator's definition"
)


@dataclass(frozen=True)
class Problem:
    """A problem of one operator, before the other operators are checked.

    Attributes:
        id: Id of the error, N6-NET-0xx.
        what: Text of the problem.
        hint: Change of the model that would help.
        dtype: Type that is in the way, or empty.
    """

    id: str
    what: str
    hint: str
    dtype: str = ""


@dataclass(frozen=True)
class Rule:
    """Requirements for the tensors of an operator.

    Attributes:
        inputs: Allowed types by position; the last entry also holds for any further input of an
            operator that takes `most` of them.
        required: Number of inputs that must be present.
        constants: Positions that have to hold constants.
        output: Allowed types of the output.
        check: Check that is particular to the operator, called when the rest is right.
        first_may_be_constant: False if a constant at position 0 is refused.
        most: Largest number of inputs, if it is larger than the number of entries of `inputs`.
        quantised: False if scales change nothing and need not be present.
        states: Positions of the tensors that the operator keeps between inferences.
    """

    inputs: tuple[tuple[DType, ...], ...]
    required: int
    constants: tuple[int, ...]
    output: tuple[DType, ...]
    check: Callable[[Operands], Iterator[Problem]]
    first_may_be_constant: bool = False
    most: int = 0
    quantised: bool = True
    states: tuple[int, ...] = ()

    def types_of(self, position: int) -> tuple[DType, ...]:
        """Return the allowed types of the input at a position."""
        return self.inputs[min(position, len(self.inputs) - 1)]


def shown(tensor: Tensor) -> str:
    """Return the name and the type in the model file, for messages."""
    return f"{tensor.name!a} ({'uint8' if tensor.unsigned else tensor.dtype})"


def check_per_tensor(tensor: Tensor) -> Iterator[Problem]:
    """Check that a tensor has one scale and one zero point, both in range."""
    quantisation = tensor.quantisation
    if quantisation is None:
        yield Problem("N6-NET-006", f"tensor {shown(tensor)} has no quantisation", QUANTISE)
        return
    if len(quantisation.scales) != 1:
        yield Problem(
            "N6-NET-006",
            f"tensor {shown(tensor)} has {len(quantisation.scales)} scales; activations have one",
            QUANTISE,
        )
        return
    if not MIN_SCALE <= quantisation.scale <= MAX_SCALE:
        yield Problem(
            "N6-NET-006",
            f"tensor {shown(tensor)} has the scale {quantisation.scale:g}, outside {MIN_SCALE:g} to {MAX_SCALE:g}",
            "calibrate with representative data: a constant or infinite activation gives such a scale",
        )
    low, high = _LIMITS[tensor.dtype]
    if not low <= quantisation.zero_point <= high:
        yield Problem(
            "N6-NET-006",
            f"tensor {shown(tensor)} has the zero point {quantisation.zero_point}, outside {low} to {high}",
            QUANTISE,
        )


def check_nhwc(*tensors: Tensor) -> Iterator[Problem]:
    """Check that tensors have four dimensions, of which the first is a batch of 1."""
    for tensor in tensors:
        if len(tensor.shape) != 4:
            yield Problem("N6-NET-005", f"tensor {shown(tensor)} has the shape {list(tensor.shape)}, not NHWC", CONVERT)
        elif tensor.shape[0] != 1:
            yield Problem(
                "N6-NET-005",
                f"tensor {shown(tensor)} has a batch of {tensor.shape[0]}",
                "convert the model with batch 1",
            )


def check_same_quantisation(a: Tensor, b: Tensor) -> Iterator[Problem]:
    """Check that two tensors have the same scale and zero point.

    Both are quantised per tensor. A tensor without quantisation passes.
    """
    if a.quantisation and b.quantisation and _parameters(a.quantisation) != _parameters(b.quantisation):
        yield Problem(
            "N6-NET-006", f"tensors {shown(a)} and {shown(b)} have to have the same scale and zero point", QUANTISE
        )


def check_quantisation_is(output: Tensor, steps: int, zero_point: int, what: str) -> Iterator[Problem]:
    """Check that an output has a scale of 1 / steps and a zero point.

    Args:
        output: The output, which is quantised.
        steps: Inverse of the scale that the reference resolver requires.
        zero_point: Zero point that the reference resolver requires.
        what: Name of the operator whose output it is, for the message.
    """
    quantisation = output.quantisation
    assert quantisation is not None
    if quantisation.zero_point != zero_point or not math.isclose(quantisation.scale, 1 / steps, rel_tol=1e-6):
        yield Problem(
            "N6-NET-006",
            f"tensor {shown(output)} has scale {quantisation.scale:g} and zero point {quantisation.zero_point}; "
            f"{what} has 1/{steps} and {zero_point}",
            QUANTISE,
        )


def _parameters(quantisation: Quantisation) -> tuple[float, int]:
    return quantisation.scale, quantisation.zero_point


def check_elementwise(operands: Operands) -> Iterator[Problem]:
    """Check that the output has one element for each element of the input."""
    if operands.first.elements != operands.output.elements:
        yield Problem("N6-NET-007", f"tensor {shown(operands.output)} has another shape than its input", CONVERT)


def check_elements(output: Tensor, expected: int) -> Iterator[Problem]:
    """Check that an output has the expected number of elements."""
    if output.elements != expected:
        yield Problem(
            "N6-NET-007", f"tensor {shown(output)} has {output.elements} elements instead of {expected}", CONVERT
        )


def check_shape(tensor: Tensor, expected: tuple[int, ...], dtype: DType | None = None) -> Iterator[Problem]:
    """Check the shape and the type of a tensor.

    Args:
        tensor: The tensor.
        expected: Shape that the operator's other tensors require.
        dtype: Type that the operator's other tensors require, or None for any type.
    """
    if tensor.shape != expected:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(tensor)} has the shape {list(tensor.shape)} instead of {list(expected)}",
            CONVERT,
        )
    if dtype and tensor.dtype != dtype:
        yield Problem("N6-NET-004", f"tensor {shown(tensor)} has to be {dtype}", CONVERT)


def check_indices(indices: Tensor, sizes: Sequence[int]) -> Iterator[Problem]:
    """Check that constant indices exist.

    Args:
        indices: Tensor of indices; one that is no constant passes.
        sizes: Sizes of the dimensions that are indexed, in their order.
    """
    if indices.data is None:
        return
    for size, given in zip(sizes, indices.data.reshape(-1, len(sizes)).T.tolist(), strict=True):
        if not 0 <= min(given) <= max(given) < size:
            what = f"tensor {shown(indices)} names indices from {min(given)} to {max(given)} of {size}"
            yield Problem("N6-NET-007", what, CONVERT)
