"""Requests to the virtual board and their judgement, for separately fed epochs.

Each epoch gets the reference's tensors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from n6build.board.run.epoch_bounds import Bounds
from n6build.board.run.epoch_test import LINES_EACH, Bound, Watched, fed, handed_over, request, watched
from n6build.compile.artifacts.description import EpochBlock, EpochInfo
from n6build.compile.artifacts.made_buffers import MadeBuffer
from n6build.describe.model import EpochTolerance
from n6build.judge.compare.buffers import JoinedBuffer
from n6build.judge.compare.epoch_bound import ExpectedError
from n6build.judge.compare.tensors import ReferenceTensor
from n6build.judge.compare.unrounded import Unrounded
from n6build.judge.npu.rounding import Rounding

VALUES = np.array([-128, -1, 0, 127], np.int8).reshape(1, 1, 2, 2)
BLOCKS = (EpochBlock(1, 1, "NODE_SW"), EpochBlock(2, 5, "NODE_EC"), EpochBlock(7, 7, "NODE_HW"))


def joined(epoch: int, *, kind: str = "uint8", shape: tuple[int, ...] = (1, 1, 2, 2)) -> JoinedBuffer:
    tensor = ReferenceTensor("t", "CONV_2D", ("in",), VALUES.shape, True, "int8", 0.5, -128, VALUES)
    return JoinedBuffer(MadeBuffer("b", epoch, 0x34200000, 4, kind, shape, 0.5, 0), tensor)


def one(epoch: int, *, kind: str = "uint8") -> Watched:
    (found,), others = watched(0, [joined(epoch, kind=kind)], BLOCKS)
    assert others == []
    return found


def test_an_epoch_in_a_blob_is_told_by_its_label_others_by_their_place() -> None:
    assert [(each.when, each.number) for each in (one(1), one(4), one(7))] == [("place", 0), ("label", 4), ("place", 2)]


def test_an_unsigned_buffer_has_the_signed_values_moved_by_half_the_range() -> None:
    assert list(one(1, kind="uint8").wanted) == [0, 127, 128, 255]
    assert np.frombuffer(one(1, kind="int8").wanted, np.int8).tolist() == [-128, -1, 0, 127]


def test_what_cannot_be_watched_is_listed_with_the_reason() -> None:
    found, others = watched(0, [joined(6), joined(1, shape=(4, 1, 3))], BLOCKS)
    assert found == []
    assert [each.why for each in others] == [
        "epoch 6 does not run",
        "its shape (4, 1, 3) in memory is no order of the model's (1, 1, 2, 2)",
    ]


def test_a_buffer_in_one_of_two_orders_is_listed_without_equal_shapes() -> None:
    cube = np.arange(8, dtype=np.int8).reshape(1, 2, 2, 2)
    tensor = ReferenceTensor("t", "CONV_2D", ("in",), cube.shape, True, "int8", 0.5, -128, cube)
    buffer = MadeBuffer("b", 1, 0x34200000, 8, "int8", cube.shape, 0.5, -128)
    _, others = watched(0, [JoinedBuffer(buffer, tensor)], BLOCKS)
    assert [each.why for each in others] == ["axes of equal length may be in either order in its memory"]
    last, first = replace(buffer, order="last"), replace(buffer, order="first")
    for ordered, values in ((last, cube), (first, np.moveaxis(cube, 3, 1))):
        (found,), _ = watched(0, [JoinedBuffer(ordered, tensor)], BLOCKS)
        assert found.wanted == values.tobytes()


def test_real_numbers_are_compared_in_steps_of_their_source() -> None:
    values = np.array([0.0, 0.5, -1.0, 63.5], np.float32).reshape(1, 4)
    tensor = ReferenceTensor("t", "DEQUANTIZE", ("in",), values.shape, True, "float32", 1.0, 0, values)
    buffer = MadeBuffer("b", 1, 0x34200000, 16, "float32", (1, 4), 1.0, 0)
    (found,), _ = watched(0, [JoinedBuffer(buffer, tensor, step=0.5)], BLOCKS)
    assert found.wanted == values.tobytes()
    made = np.array([0.0, 0.51, -0.5, np.nan], np.float32)
    result = fed(found, made.tobytes(), [], EpochTolerance(), {})
    assert (result.equal, result.within_1, result.good) == (2, 3, False)


def test_each_buffer_is_got_before_it_is_replaced() -> None:
    text, data = request([one(1), one(4)])
    assert text.splitlines() == [
        "get 0 place 0 0x34200000 4 0",
        "replace 0 place 0 0x34200000 4 0",
        "get 0 label 4 0x34200000 4 4",
        "replace 0 label 4 0x34200000 4 4",
    ]
    assert len(text.splitlines()) == 2 * LINES_EACH
    assert data == bytes([0, 127, 128, 255]) * 2


def test_what_the_board_hands_over_is_divided_as_it_was_asked_for() -> None:
    """Lines count from 1: the first line of each buffer asks for it.

    The result of the second line makes no difference.
    """
    longer = replace(one(4), wanted=bytes(6))
    buffers = [one(1), longer, one(7)]
    data = b"abcd" + b"efghij" + b"klmn"
    assert handed_over(buffers, data, {1, 3, 5}) == [b"abcd", b"efghij", b"klmn"]
    assert handed_over(buffers, data, {2, 3, 4, 6}) == [None, b"efghij", None]


def test_elements_are_counted_and_the_epoch_is_named() -> None:
    found = fed(
        one(4), bytes([0, 128, 131, 255]), [EpochInfo(4, "epoch_4", "Conv", 0, 0, "NODE_EC")], EpochTolerance(), {4: 2}
    )
    assert found.reads_from == 2
    assert (found.epoch, found.operators, found.tensor) == (4, "Conv", "t")
    assert (found.elements, found.equal, found.within_1, found.max, found.good) == (4, 2, 3, 3, False)


@pytest.mark.parametrize(
    ("elements", "different", "far", "good"),
    [
        (1000, 20, 0, True),
        (1000, 21, 0, False),
        (1000, 1, 1, True),
        (1000, 2, 2, False),
        # One of ten elements is more than 2 %, but it may still be one step away.
        (10, 1, 0, True),
        (10, 2, 0, False),
        (10, 1, 1, False),
    ],
)
def test_the_tolerance_counts_elements(elements: int, different: int, far: int, *, good: bool) -> None:
    wanted = np.zeros(elements, np.int8)
    made = wanted.copy()
    made[:different] = 1
    made[:far] = 5
    tensor = ReferenceTensor("t", "CONV_2D", ("in",), (1, elements), True, "int8", 0.5, 0, wanted.reshape(1, -1))
    buffer = MadeBuffer("b", 1, 0x34200000, elements, "int8", (1, elements), 0.5, 0)
    (found,), _ = watched(0, [JoinedBuffer(buffer, tensor)], BLOCKS)
    assert fed(found, made.tobytes(), [], EpochTolerance(), {}).good is good


def test_a_bound_replaces_the_tolerance_unless_the_model_sets_one() -> None:
    """One of four elements is a step off, as no tolerance allows in half."""
    (found,), _ = watched(0, [joined(1)], BLOCKS)
    exact = VALUES + np.array([0.0, 0.49, 0.0, 0.0]).reshape(VALUES.shape)
    made = bytes([0, 128, 128, 255])
    near = Bound(ExpectedError(0.1, 0.05, 0.0, -128), exact)
    far = Bound(ExpectedError(0.1, 0.05, 0.0, -128), VALUES.astype(float))
    good = fed(found, made, [], None, {}, near)
    assert (good.good, good.why, good.furthest) == (True, "", 0.05)
    bad = fed(found, made, [], None, {}, far)
    assert (bad.good, bad.furthest) == (False, 0.05)
    assert bad.why == "1 of 4 elements are further off than its roundings explain (0.05 steps)"
    assert fed(found, made, [], EpochTolerance(equal=1), {}, near).furthest is None
    assert not fed(found, made, [], EpochTolerance(equal=1), {}, near).good
    assert fed(found, made, [], EpochTolerance(equal=0, within_1=0), {}, far).good


def test_an_epoch_that_reads_results_of_another_may_be_further_off() -> None:
    """Its constants give no bound. Without blobs, nothing is known of any epoch."""
    elements = 1000
    wanted = np.zeros((1, elements), np.int8)
    made = wanted.copy()
    made[0, :100] = 1
    tensor = ReferenceTensor("t", "ADD", ("in",), wanted.shape, True, "int8", 0.5, 0, wanted)
    buffer = MadeBuffer("b", 1, 0x34200000, elements, "int8", wanted.shape, 0.5, 0)
    (found,), _ = watched(0, [JoinedBuffer(buffer, tensor)], BLOCKS)
    unknown = Bound(None, None)
    assert fed(found, made.tobytes(), [], None, {1: 0}, unknown).good
    assert not fed(found, made.tobytes(), [], None, {}, unknown).good
    assert not fed(found, made.tobytes(), [], None, {1: 0}).good


def test_the_bound_of_a_buffer_is_that_of_the_engine_that_writes_it() -> None:
    (found,), _ = watched(0, [joined(1)], BLOCKS)
    mine, other = (Rounding("STRENG0", at, 0.1, 0.2, 0.0, 0.01) for at in (0x34200000, 0x34300000))
    exact = Unrounded(VALUES.astype(float), 0.5, 2.0)
    bound = Bounds({1: (mine, replace(other, furthest=9))}, {"t": exact}).of(found)
    assert bound is not None
    assert bound.error == ExpectedError(0.1, 0.2, 0.0, -128, 0.01)
    assert Bounds({1: (other,)}, {}).of(found) == Bound(None, None)
    assert Bounds({}, {}).of(found) is None
    # Features that the epoch made itself are off by a step, times the kernels.
    through = Bounds({1: (replace(mine, features=0.04),)}, {"t": exact}).of(found)
    assert through is not None
    assert through.error is not None
    assert (through.error.expected, through.error.furthest) == pytest.approx((0.2, 2.2))
    assert Bounds({1: (replace(mine, features=0.04),)}, {}).of(found) == Bound(None, None)
