"""What an operator needs of its tensors, and how a rule says what is wrong: pieces that the operators' modules share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from n6build.network.reference.graph import DType, Quantisation, Tensor
from n6build.network.reference.operands import Operands

# Outside these limits a scale is not the result of a calibration; its fixed-point multiplier would lose all precision.
MIN_SCALE, MAX_SCALE = 1e-9, 1e4
_LIMITS: dict[DType, tuple[int, int]] = {"int8": (-128, 127), "uint8": (0, 255), "int16": (0, 0)}

INT8: tuple[DType, ...] = ("int8",)
INT16: tuple[DType, ...] = ("int16",)
INT32: tuple[DType, ...] = ("int32",)
INT64: tuple[DType, ...] = ("int64",)
FLOAT32: tuple[DType, ...] = ("float32",)
BOOL: tuple[DType, ...] = ("bool",)
EIGHT_BIT: tuple[DType, ...] = ("int8", "uint8")

QUANTISE = "quantise the model to int8 (full integer, with a representative data set)"
CONVERT = "convert the model again; if it persists, this graph is not what the operator's definition says"


@dataclass(frozen=True)
class Problem:
    """What is wrong with one operator, before the others were looked at. id: N6-NET-0xx. dtype: the type that is in the way,
    where one is."""

    id: str
    what: str
    hint: str
    dtype: str = ""


@dataclass(frozen=True)
class Rule:
    """inputs: allowed types by position, the last one also for any further input of an operator that takes `most` of them.
    constants: positions that have to hold constants; a constant at position 0 is refused unless `first_may_be_constant`.
    states: positions of what the operator keeps between inferences. required: how many inputs must be present. check: what is
    particular to the operator, called when the rest is right. quantised: False where scales change nothing and need not be
    there."""

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
        """Of an input."""
        return self.inputs[min(position, len(self.inputs) - 1)]


def shown(tensor: Tensor) -> str:
    """Name and type in the model file, for messages."""
    return f"{tensor.name!a} ({'uint8' if tensor.unsigned else tensor.dtype})"


def check_per_tensor(tensor: Tensor) -> Iterator[Problem]:
    """One scale and one zero point, both in range."""
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
            "calibrate with representative data; a constant or infinite activation gives such a scale",
        )
    low, high = _LIMITS[tensor.dtype]
    if not low <= quantisation.zero_point <= high:
        yield Problem(
            "N6-NET-006",
            f"tensor {shown(tensor)} has the zero point {quantisation.zero_point}, outside {low} to {high}",
            QUANTISE,
        )


def check_nhwc(*tensors: Tensor) -> Iterator[Problem]:
    """Four dimensions, of which the first is a batch of 1."""
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
    """Where both tensors are quantised, per tensor."""
    if a.quantisation and b.quantisation and _parameters(a.quantisation) != _parameters(b.quantisation):
        yield Problem(
            "N6-NET-006", f"tensors {shown(a)} and {shown(b)} have to have the same scale and zero point", QUANTISE
        )


def check_quantisation_is(output: Tensor, steps: int, zero_point: int, what: str) -> Iterator[Problem]:
    """A scale of 1 / steps, as the reference resolver asks of the output of `what`."""
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
    """One element of the output for each of the input."""
    if operands.first.elements != operands.output.elements:
        yield Problem("N6-NET-007", f"tensor {shown(operands.output)} has another shape than its input", CONVERT)


def check_elements(output: Tensor, expected: int) -> Iterator[Problem]:
    """expected: number of elements."""
    if output.elements != expected:
        yield Problem(
            "N6-NET-007", f"tensor {shown(output)} has {output.elements} elements instead of {expected}", CONVERT
        )


def check_shape(tensor: Tensor, expected: tuple[int, ...], dtype: DType | None = None) -> Iterator[Problem]:
    """expected, dtype: what the operator's other tensors ask for."""
    if tensor.shape != expected:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(tensor)} has the shape {list(tensor.shape)} instead of {list(expected)}",
            CONVERT,
        )
    if dtype and tensor.dtype != dtype:
        yield Problem("N6-NET-004", f"tensor {shown(tensor)} has to be {dtype}", CONVERT)


def check_indices(indices: Tensor, sizes: Sequence[int]) -> Iterator[Problem]:
    """Of constant ones that they exist. sizes: of the dimensions that they index, one after the other."""
    if indices.data is None:
        return
    for size, given in zip(sizes, indices.data.reshape(-1, len(sizes)).T.tolist(), strict=True):
        if not 0 <= min(given) <= max(given) < size:
            what = f"tensor {shown(indices)} names indices from {min(given)} to {max(given)} of {size}"
            yield Problem("N6-NET-007", what, CONVERT)
