"""Models of one operator that compares, chooses or finds elements."""

from collections.abc import Sequence

import numpy as np
from movement_models import activation, operator, quantisation_of
from numpy.typing import NDArray
from one_op_models import Quantisation, Tensor, Type

RELATIONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")


def comparison(
    relation: str,
    shapes: Sequence[Sequence[int]],
    dtype: Type = np.int8,
    scales: Sequence[Quantisation] = (Quantisation(0.05, 3), Quantisation(0.031, 7)),
) -> bytes:
    """Return a model of a comparison.

    Args:
        relation: One of RELATIONS.
        scales: Scales of both operands, used for int8 and uint8.
    """
    scaled = dtype in (np.int8, np.uint8)
    operands = [
        Tensor(name, tuple(shape), dtype, scale if scaled else None)
        for name, shape, scale in zip("ab", shapes, scales, strict=True)
    ]
    return operator(relation, operands, dtype=np.bool_)


def logical(kind: str, shapes: Sequence[Sequence[int]]) -> bytes:
    """Return a model of a logical operator.

    Args:
        kind: And, Or, or (with one operand) Not.
    """
    operands = [activation(shape, np.bool_, name) for name, shape in zip("ab", shapes, strict=False)]
    return operator(f"Logical{kind}", operands, dtype=np.bool_)


def select(
    condition: Sequence[int],
    chosen: Sequence[int],
    other: Sequence[int],
    dtype: Type = np.int8,
    constant: NDArray[np.generic] | None = None,
    kind: str = "SelectV2",
) -> bytes:
    """Return a model of a select with these shapes.

    Args:
        constant: Values that are taken where the condition is false; None for an input.
    """
    otherwise = Tensor("other", tuple(other), dtype, quantisation_of(dtype), constant)
    operands = [activation(condition, np.bool_, "condition"), activation(chosen, dtype, "chosen"), otherwise]
    return operator(kind, operands, dtype=dtype)


def gather_nd(shape: Sequence[int], indices: Sequence[int], dtype: Type = np.int8, wide: bool = False) -> bytes:
    """Return a model of a GATHER_ND with these shapes.

    Args:
        wide: Indices are int64.
    """
    return operator("GatherNd", [activation(shape, dtype), _indices(indices, wide)], dtype=dtype)


def gather(
    shape: Sequence[int],
    indices: Sequence[int],
    axis: int,
    batch_dimensions: int = 0,
    dtype: Type = np.int8,
    wide: bool = False,
) -> bytes:
    """Return a model of a GATHER with these shapes.

    Args:
        wide: Indices are int64.
    """
    operands = [activation(shape, dtype), _indices(indices, wide)]
    return operator("Gather", operands, dtype=dtype, axis=axis, batchDims=batch_dimensions)


def _indices(shape: Sequence[int], wide: bool) -> Tensor:
    return Tensor("indices", tuple(shape), np.int64 if wide else np.int32)
