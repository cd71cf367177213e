"""Inputs of a network without test vectors: random values.

They cover the range of their type, are the same on every machine, and never all zeros.
"""

from __future__ import annotations

import hashlib
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.compile.artifacts.description import IoBuffer, TensorType
from n6build.place.memory_plan.vectors import seeded_array, seeded_shape


def port(kind: TensorType, *shape: int) -> IoBuffer:
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    return IoBuffer("input", None, size, kind, shape, 1.0, 0)


# The digests were written down once. hashlib alone computes the values, so that they depend on no release of NumPy and
# no machine.
@pytest.mark.parametrize(
    ("kind", "digest"),
    [
        ("int8", hashlib.shake_256(b"n6build input 0 0 int8 1,4").digest(4)),
        ("uint8", hashlib.shake_256(b"n6build input 0 0 uint8 1,4").digest(4)),
        ("int16", hashlib.shake_256(b"n6build input 0 0 int16 1,4").digest(8)),
    ],
)
def test_integers_are_the_bytes_that_the_seed_makes(kind: TensorType, digest: bytes) -> None:
    assert seeded_array([port(kind, 1, 4)])[0].tobytes() == digest


def test_the_first_bytes_never_change() -> None:
    assert seeded_array([port("int8", 1, 8)]).tolist() == [
        [[-6, -92, 6, 45, 96, -114, -7, 9]],
        [[-110, 84, -107, 108, -102, -66, -61, 108]],
    ]
    assert seeded_array([port("float32", 1, 2)])[0].tolist() == [[-0.3174557685852051, 0.5758285522460938]]


@pytest.mark.parametrize("kind", get_args(TensorType))
def test_every_type_is_filled_over_its_range(kind: TensorType) -> None:
    made = seeded_array([port(kind, 1, 64, 64)])
    assert (made.dtype.name, made.shape) == (kind, (2, 1, 64, 64))
    assert not np.array_equal(made[0], made[1])
    values = made.astype(np.float64)
    low, high = values.min(), values.max()
    if kind == "float32":
        assert -1 <= low < -0.99 < 0.99 < high < 1
    elif kind in ("bool", "int32", "int64"):
        assert (low, high) == (0, 1)
    else:
        limits = np.iinfo(kind)
        span = limits.max - limits.min
        assert low <= limits.min + span / 50
        assert high >= limits.max - span / 50


def test_several_inputs_follow_each_other_and_differ() -> None:
    ports = [port("int8", 1, 8), port("int8", 1, 8), port("float32", 1, 2)]
    made = seeded_array(ports)
    assert (made.dtype.name, made.shape) == ("uint8", (2, 24))
    assert made[0, :8].tobytes() == seeded_array([ports[0]])[0].tobytes()
    assert made[0, :8].tobytes() != made[0, 8:16].tobytes()


@given(st.integers(1, 1 << 20))
def test_a_second_vector_is_only_for_small_inputs(size: int) -> None:
    shape = seeded_shape([port("int8", size)])
    assert shape.bytes_each == size
    assert shape.count == (2 if size <= 65536 else 1)
