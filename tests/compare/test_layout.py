"""The order in which a buffer holds the values of a tensor."""

from __future__ import annotations

import numpy as np
from n6build.judge.compare.memory_order import in_memory_order

LAST = np.arange(2 * 3 * 8).reshape(1, 2, 3, 8)
FIRST = np.moveaxis(LAST, -1, 1)


def ordered(values: np.ndarray, shape: tuple[int, ...], channels_last: bool) -> list[int]:
    found = in_memory_order(values, shape, channels_last=channels_last)
    assert found is not None
    return [int(each) for each in found]


def test_channels_last_in_memory_whatever_the_model_has() -> None:
    for values, channels_last in ((LAST, True), (FIRST, False)):
        assert ordered(values, (1, 2, 3, 8), channels_last) == LAST.ravel().tolist()


def test_channels_in_planes() -> None:
    for values, channels_last in ((LAST, True), (FIRST, False)):
        assert ordered(values, (1, 8, 2, 3), channels_last) == FIRST.ravel().tolist()


def test_channels_in_groups() -> None:
    found = ordered(LAST, (1, 2, 2, 3, 4), True)
    wanted = [
        LAST[0, y, x, 4 * group + channel]
        for group in range(2)
        for y in range(2)
        for x in range(3)
        for channel in range(4)
    ]
    assert found == wanted


def test_axes_of_length_one_do_not_matter() -> None:
    assert ordered(np.arange(10).reshape(1, 10), (1, 10, 1, 1), False) == list(range(10))


def test_axes_of_length_one_tell_where_the_others_are() -> None:
    square = np.arange(4).reshape(1, 1, 2, 2)
    assert ordered(square, (1, 2, 1, 2), True) == [0, 2, 1, 3]
    assert in_memory_order(square, (2, 2), channels_last=True) is None


def test_axes_that_may_be_in_either_order_are_not_guessed() -> None:
    cube = np.arange(64).reshape(1, 4, 4, 4)
    assert in_memory_order(cube, (1, 4, 4, 4), channels_last=True) is None
    same = np.zeros((1, 4, 4, 4))
    assert in_memory_order(same, (1, 4, 4, 4), channels_last=True) is not None


def test_other_shapes_are_refused() -> None:
    assert in_memory_order(LAST, (1, 3, 2, 8), channels_last=True) is None
    assert in_memory_order(LAST, (48,), channels_last=True) is None
