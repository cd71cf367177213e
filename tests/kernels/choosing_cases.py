"""Random calls of the kernels that compare, choose and find elements."""

from collections.abc import Callable
from typing import Any

import choosing_models as ops
import numpy as np
from movement_models import random_values
from numpy.typing import NDArray
from one_op_models import Quantisation
from sequence_models import search

from kernels.case_of_call import case_of
from kernels.draws import one_of
from kernels.elementwise_cases import reals, shapes
from kernels.kernel_descriptors import Case
from kernels.sequence_cases import a_shape

# Memory holds this byte before a kernel writes there (kernel_descriptors.lay_out).
_UNTOUCHED = b"\xc3"
_TYPES: tuple[type[np.generic], ...] = (np.int8, np.int16, np.int32, np.float32, np.int64)


def compare(rng: np.random.Generator) -> Case:
    """Return a comparison in which many pairs are equal."""
    relation = one_of(rng, *ops.RELATIONS)
    without_order = [np.bool_] if relation in ("Equal", "NotEqual") else []
    dtype = one_of(rng, np.int8, np.int8, np.int32, np.int64, np.float32, *without_order)
    a, b = shapes(rng)
    scales = [Quantisation(float(np.float32(rng.uniform(0.002, 0.9))), int(rng.integers(-9, 9))) for _ in range(2)]
    values = [rng.integers(-4, 5, shape).astype(dtype) for shape in (a, b)]
    model = ops.comparison(relation, (a, b), dtype, scales if rng.random() < 0.6 else scales[:1] * 2)
    return case_of(f"{relation} of {dtype.__name__} {a} and {b}", model, values)


def select(rng: np.random.Generator) -> Case:
    """Return a select; memory stays as before if nothing is chosen."""
    dtype = one_of(rng, *_TYPES)
    condition, chosen = shapes(rng)
    whole = tuple(int(size) for size in np.broadcast_shapes(condition, chosen))
    whole = (int(rng.integers(1, 4)), *whole) if rng.random() < 0.3 else whole
    other = np.frombuffer(_UNTOUCHED * int(np.prod(whole)) * np.dtype(dtype).itemsize, dtype).reshape(whole)
    model = ops.select(condition, chosen, whole, dtype, other)
    values = [random_values(condition, np.dtype(np.bool_), 1), random_values(chosen, np.dtype(dtype), 2)]
    return case_of(f"select of {dtype.__name__} {chosen} by {condition}", model, values)


def take(rng: np.random.Generator) -> Case:
    dtype, shape, wide = one_of(rng, *_TYPES), a_shape(rng, (1, 4), 2000), bool(rng.random() < 0.3)
    source = random_values(shape, np.dtype(dtype), 1)
    if rng.random() < 0.5:
        depth = int(rng.integers(1, len(shape) + 1))
        leading = a_shape(rng, (1, 2), 30)
        indices: NDArray[Any] = np.stack([rng.integers(0, size, leading) for size in shape[:depth]], -1)
        model = ops.gather_nd(shape, indices.shape, dtype, wide)
    else:
        batch = int(rng.integers(len(shape)))
        axis = int(rng.integers(batch, len(shape)))
        indices = rng.integers(0, shape[axis], (*shape[:batch], int(rng.integers(1, 9))))
        model = ops.gather(shape, indices.shape, axis, batch, dtype, wide)
    return case_of(f"take of {dtype.__name__} {shape}", model, [source, indices.astype(np.int64 if wide else np.int32)])


def arg_float32(rng: np.random.Generator) -> Case:
    """Return a search in which some elements occur twice."""
    kind, shape = one_of(rng, "Max", "Min"), a_shape(rng)
    axis = int(rng.integers(len(shape)))
    values = rng.choice(reals(rng, (int(np.prod(shape)),)), shape)
    model = search(kind, shape, axis, one_of(rng, np.int32, np.int64))
    return case_of(f"Arg{kind} of float32 {shape} along {axis}", model, [values])


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "arg_float32": arg_float32,
    "compare": compare,
    "select": select,
    "take": take,
}
