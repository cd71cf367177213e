"""Epochs that did not get all inputs from the reference."""

from __future__ import annotations

from n6build.board.run.epoch_test_run import reading_others
from n6build.board.virtual_board.npu_record import NpuEpoch, UnitWork
from n6build.compile.artifacts.description import EpochBlock
from n6build.compile.artifacts.made_buffers import MadeBuffer

BLOCKS = (EpochBlock(1, 1, "NODE_HW"), EpochBlock(2, 5, "NODE_EC"))
A, B = 0x34200000, 0x34210000


def buffer(name: str, epoch: int, address: int) -> MadeBuffer:
    return MadeBuffer(name, epoch, address, 0x100, "int8", (256,), 0.5, 0)


def epoch(place: int, label: int, *reads: int, network: int = 0) -> NpuEpoch:
    units: tuple[UnitWork, ...] = (UnitWork("STRENG9", writes=256, first=A, end=A + 0x100),)
    units += tuple(UnitWork(f"STRENG{i}", reads=256, first=at, end=at + 0x100) for i, at in enumerate(reads))
    return NpuEpoch(network, place, label, label > 0, 0, units)


BUFFERS = (buffer("first", 1, A), buffer("second", 2, B), buffer("third", 3, A))


def test_it_is_told_whose_result_an_epoch_reads_that_was_not_replaced() -> None:
    record = [epoch(0, 0, 0x70000000), epoch(1, 2, A), epoch(1, 3, B), epoch(1, 4, B, A)]
    assert reading_others(record, 0, BLOCKS, BUFFERS, {"first", "second"}) == {4: 3}
    assert reading_others(record, 0, BLOCKS, BUFFERS, {"second", "third"}) == {2: 1}
    assert reading_others(record, 0, BLOCKS, BUFFERS, {"first", "second", "third"}) == {}


def test_memory_with_two_names_is_replaced_by_either() -> None:
    buffers = (*BUFFERS, buffer("second again", 2, B))
    for name in ("second", "second again"):
        assert reading_others([epoch(1, 3, B)], 0, BLOCKS, buffers, {name}) == {}
    assert reading_others([epoch(1, 3, B)], 0, BLOCKS, buffers, {"first"}) == {3: 2}


def test_partial_sums_are_read_by_their_own_epoch_or_by_another() -> None:
    sums = MadeBuffer("sums", 3, B, 0x100, "", (256,), 1.0, 0)
    assert reading_others([epoch(1, 3, B)], 0, BLOCKS, (*BUFFERS, sums), set()) == {}
    assert reading_others([epoch(1, 4, B)], 0, BLOCKS, (*BUFFERS, sums), {"first", "second"}) == {4: 3}
    # A tensor in the place of another one is made of it.
    in_place = buffer("in place", 3, B)
    assert reading_others([epoch(1, 3, B)], 0, BLOCKS, (*BUFFERS, in_place), {"first"}) == {3: 2}


def test_weights_are_no_result() -> None:
    assert reading_others([epoch(1, 3, 0x70000000)], 0, BLOCKS, BUFFERS, set()) == {}


def test_other_networks_and_other_programs_do_not_count() -> None:
    record = [epoch(1, 3, A, network=1), NpuEpoch(None, None, 3, True, 0, ()), epoch(7, 3, A)]
    assert reading_others(record, 0, BLOCKS, BUFFERS, set()) == {}
