"""Random calls of the kernels that move elements or resize.

They are models of one operator, as the compiler lowers them.
"""

from collections.abc import Sequence
from typing import Any

import movement_models as ops
import numpy as np
import reference_interpreter
from one_op_models import TYPES

from kernels.case_of_call import case_of
from kernels.kernel_descriptors import Case

_TYPES: tuple[type[np.generic], ...] = (np.int8, np.int8, np.int8, np.uint8, np.int16, np.int32, np.float32, np.int64)


def _case(model: bytes, seed: int, name: str) -> Case:
    return case_of(name, model, ops.random_inputs(model, seed))


def transpose(shape: Sequence[int], order: Sequence[int], dtype: type[np.generic] = np.int8, seed: int = 1) -> Case:
    return _case(ops.transpose(shape, order, dtype), seed, f"transpose {[*shape]} by {[*order]} {dtype.__name__}")


def resize(name: str, given: tuple[int, int], made: tuple[int, int], channels: int, **ways: Any) -> Case:
    return _case(ops.resize(name, given, made, channels, **ways), 1, f"{name} {given} to {made} of {channels} {ways}")


def move(rng: np.random.Generator) -> Case:
    dtype, seed = _TYPES[int(rng.integers(len(_TYPES)))], int(rng.integers(1000))
    rank = int(rng.integers(1, 6))
    shape = [int(size) for size in rng.integers(1, (0, 200, 30, 12, 7, 5)[rank], rank)]
    if rng.random() < 0.5:
        return transpose(shape, [int(axis) for axis in rng.permutation(rank)], dtype, seed)
    begin = [int(rng.integers(size)) for size in shape]
    end = [int(rng.integers(first + 1, size + 1)) for first, size in zip(begin, shape, strict=True)]
    strides = [int(rng.integers(1, 4)) for _ in shape]
    masks = 0
    if rng.random() < 0.3:
        # A slice backwards to the start of the last dimension needs a mask.
        begin[-1], strides[-1], masks = shape[-1] - 1, -strides[-1], 1 << (rank - 1)
    model = ops.strided_slice(shape, begin, end, strides, dtype, endMask=masks)
    return _case(model, seed, f"slice {shape} from {begin} to {end} by {strides} {dtype.__name__}")


def gather(rng: np.random.Generator) -> Case:
    dtype, seed = _TYPES[int(rng.integers(len(_TYPES)))], int(rng.integers(1000))
    height, width, channels = (int(size) for size in rng.integers(1, 12, 3))
    if rng.random() < 0.5:
        indices = rng.integers(0, width, int(rng.integers(1, 30))).tolist()
        model = ops.gather((height, width, channels), 1, indices, dtype)
        return _case(model, seed, f"gather of {[height, width, channels]} {dtype.__name__}")
    return _case(_resized(rng, "ResizeNearestNeighbor", dtype), seed, f"nearest {seed} {dtype.__name__}")


def resize_bilinear(rng: np.random.Generator) -> Case:
    return _case(_resized(rng, "ResizeBilinear", np.int8), int(rng.integers(1000)), "bilinear")


def resize_bilinear_int16(rng: np.random.Generator) -> Case:
    return _case(_resized(rng, "ResizeBilinear", np.int16), int(rng.integers(1000)), "bilinear of int16")


def resize_bilinear_unsigned(rng: np.random.Generator) -> Case:
    return _case(_resized(rng, "ResizeBilinear", np.uint8), int(rng.integers(1000)), "bilinear of uint8")


def _resized(rng: np.random.Generator, name: str, dtype: type[np.generic]) -> bytes:
    given = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
    factor = int(rng.integers(0, 5))
    made = (given[0] * factor, given[1] * factor) if factor else (int(rng.integers(1, 20)), int(rng.integers(1, 20)))
    # The interpreter supports nearest neighbours of fewer types.
    known = dtype if dtype in (np.int8, np.uint8, np.int16, np.float32) else np.int8
    way = int(rng.integers(3))
    return ops.resize(name, given, made, int(rng.integers(1, 25)), way == 1, way == 2, known)


def cast(rng: np.random.Generator) -> Case:
    types: tuple[type[np.generic], ...] = tuple(TYPES)
    given, made = (types[int(rng.integers(len(types)))] for _ in range(2))
    model = ops.cast((int(rng.integers(1, 50)),), given, made)
    inputs = ops.random_inputs(model, int(rng.integers(1000)))
    if given is np.float32:
        # Every type can hold these values.
        inputs = [np.abs(inputs[0])]
    return case_of(f"cast {given.__name__} to {made.__name__}", model, inputs)


def model_case(model: bytes) -> Case:
    details = reference_interpreter.load(model)
    given, made = details.get_input_details()[0], details.get_output_details()[0]
    kind = details._get_ops_details()[0]["op_name"]
    return _case(model, 1, f"{kind} {given['shape'].tolist()} to {made['shape'].tolist()}")
