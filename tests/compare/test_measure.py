"""The distance of a result from the reference: exact counts for all values.

No value causes a failure.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from n6build.judge.compare.measure import Measure, measure
from numpy.typing import NDArray

INT8 = arrays.arrays(np.int8, st.integers(0, 40))


def test_a_tensor_is_counted_element_by_element() -> None:
    found = measure(np.array([[1, 2], [3, -128]], np.int8), np.array([1, 3, 3, 127], np.int8), 0)
    assert found == Measure(elements=4, equal=2, within_1=3, max=255.0, cosine=found.cosine)
    assert found.cosine == pytest.approx(
        (1 + 6 + 9 - 128 * 127) / math.sqrt((1 + 4 + 9 + 128**2) * (1 + 9 + 9 + 127**2))
    )


@given(INT8, st.integers(-128, 127))
def test_a_tensor_equals_itself(values: NDArray[np.int8], zero_point: int) -> None:
    found = measure(values, values.copy(), zero_point)
    assert (found.equal, found.within_1, found.max) == (values.size, values.size, 0)
    assert found.cosine == pytest.approx(1)


@given(INT8.flatmap(lambda one: st.tuples(st.just(one), arrays.arrays(np.int8, one.shape))), st.integers(-128, 127))
def test_it_is_what_python_s_integers_say(pair: tuple[NDArray[np.int8], NDArray[np.int8]], zero_point: int) -> None:
    got, wanted = pair
    found = measure(got, wanted, zero_point)
    differences = [abs(int(a) - int(b)) for a, b in zip(got, wanted, strict=True)]
    assert found.equal == differences.count(0)
    assert found.within_1 == sum(each <= 1 for each in differences)
    assert found.max == max(differences, default=0)
    left, right = ([int(value) - zero_point for value in each] for each in pair)
    lengths = math.sqrt(sum(a * a for a in left) * sum(b * b for b in right))
    if lengths:
        assert found.cosine == pytest.approx(sum(a * b for a, b in zip(left, right, strict=True)) / lengths)
    else:
        assert found.cosine == (1 if any(left) == any(right) else 0)


def test_the_cosine_is_taken_from_the_zero_point() -> None:
    got, wanted = np.array([-128, -127], np.int8), np.array([-127, -128], np.int8)
    assert measure(got, wanted, -128).cosine == 0
    assert measure(got, wanted, 0).cosine > 0.99


def test_floating_point_is_counted_in_steps_of_its_scale() -> None:
    wanted = np.array([0.5, 0.25, 0.0], np.float32)
    got = np.array([0.5, 0.125, 0.25], np.float32)
    found = measure(got, wanted, 0, step=0.125)
    assert (found.equal, found.within_1, found.max) == (1, 2, 2.0)


@given(arrays.arrays(np.float32, 8), arrays.arrays(np.float32, 8))
def test_no_value_of_floating_point_makes_it_fail(got: NDArray[np.float32], wanted: NDArray[np.float32]) -> None:
    found = measure(got, wanted, 0)
    assert 0 <= found.equal <= found.within_1 <= 8
    assert -1 <= found.cosine <= 1
    if not np.isfinite(got).all():
        assert found.cosine == 0
    assert 0 <= found.max < math.inf


def test_a_value_that_is_not_a_number_equals_only_itself() -> None:
    found = measure(np.array([np.nan, 1.0]), np.array([np.nan, np.nan]), 0)
    assert (found.equal, found.within_1, found.max) == (1, 1, float(np.finfo(np.float64).max))


def test_tensors_of_different_sizes_are_not_compared() -> None:
    with pytest.raises(ValueError, match="3 elements against 2"):
        measure(np.zeros(3), np.zeros(2), 0)
