"""A trace of the NPU becomes readable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import EpochBlock, EpochInfo
from n6build.judge.npu.names import names_of
from n6build.judge.npu.trace import TracedNetwork, trace_lines
from run.test_table import ARTIFACTS
from virtual_board.npu.model import END, NPU, assembled, label, unit, write_word

NAMES = names_of(NPU)
NETWORK = TracedNetwork(
    "mnist",
    replace(
        ARTIFACTS,
        blocks=(EpochBlock(2, 2, "NODE_HW"), EpochBlock(3, 4, "NODE_EC")),
        epochs=(
            EpochInfo(2, "a", "Conv Add", 0, 0, "NODE_HW"),
            EpochInfo(3, "b", "MaxPool", 0, 0, "NODE_EC"),
            EpochInfo(4, "c", "Gemm", 0, 0, "NODE_EC"),
        ),
    ),
)
BLOB = assembled(label(3), write_word(unit("POOL", 1), 8, 3), label(4), END)


def words(values: list[int]) -> list[str]:
    """Return the words in the form of the emulator's trace."""
    return [" ".join(f"0x{word:08x}" for word in values[at : at + 8]) for at in range(0, len(values), 8)]


def readable(*raw: str) -> list[str]:
    return list(trace_lines(raw, NAMES, [NETWORK]))


def test_writes_have_names_and_epochs_numbers_and_operators() -> None:
    convacc = unit("CONVACC", 2)
    assert readable("epoch 0 0", f"w 0x{convacc:02x}000 0x00000001", "run 0") == [
        "begin mnist, epoch 2  Conv Add",
        "  CONVACC2.CTRL        = 0x00000001  EN=1",
        "computed epoch 2  Conv Add",
    ]


def test_a_blob_is_disassembled_once_and_its_epochs_are_told() -> None:
    run = ["epoch 0 1", "blob 0x70200000", *words(BLOB), "run 3", "run 4"]
    once = [
        "begin mnist, epochs 3 to 4",
        "blob at 0x70200000",
        "label 3  MaxPool",
        "  POOL1.PDIMS          = 0x00000003  WINX=3",
        "label 4  Gemm",
        "end",
        "computed epoch 3  MaxPool",
        "computed epoch 4  Gemm",
    ]
    assert readable(*run) == once
    again = [once[0], "blob at 0x70200000, the same as 0x70200000", *once[-2:]]
    assert readable(*run, *run) == once + again


def test_a_program_that_nobody_knows_has_numbers() -> None:
    raw = ["epoch 0 1", "run 0", "epoch 1 7", "run 0", "run 5"]
    assert list(trace_lines(raw, NAMES, [])) == [
        "begin block 1 of network 0",
        "computed block 1 of network 0",
        "begin block 7 of network 1",
        "computed block 7 of network 1",
        "computed epoch 5",
    ]
    assert list(trace_lines(["run 0"], NAMES, [])) == ["computed an epoch"]


def test_a_damaged_blob_is_shown_up_to_the_damage() -> None:
    made = readable("blob 0x70200000", *words(assembled(label(3), [5])), "run 3")
    assert made == [
        "blob at 0x70200000",
        "label 3",
        "blob at 0x70200000, word 3: 0x00000005 has opcode 5, which is unknown",
        "computed epoch 3",
    ]
    assert readable("blob 0x70200000") == [
        "blob at 0x70200000",
        "blob at 0x70200000, word 0: is empty; a blob begins with 0xCA057A7A",
    ]


def test_two_runs_that_write_the_same_give_the_same_text_and_others_differ_where_they_do() -> None:
    pool = unit("POOL")
    one = ["epoch 0 0", f"w 0x{pool:02x}008 0x00000003", "run 0"]
    other = ["epoch 0 0", f"w 0x{pool:02x}008 0x00000004", "run 0"]
    assert readable(*one) == readable(*one)
    assert [each for each in readable(*other) if each not in readable(*one)] == [
        "  POOL0.PDIMS          = 0x00000004  WINX=4"
    ]


@pytest.mark.parametrize("line", ["x", "w 1 2", "0x00000001", "epoch 1", "w 0x1b000 0x00000003 "])
def test_a_line_that_the_emulator_does_not_write_is_told(line: str) -> None:
    with pytest.raises(N6Error) as error:
        readable("run 0", line)
    assert (error.value.id, error.value.where) == ("N6-NPU-005", "trace of the NPU, line 2")


LINES = st.one_of(
    st.text(max_size=20),
    st.builds(lambda at, value: f"w 0x{at:05x} 0x{value:08x}", st.integers(0, 0xFFFFF), st.integers(0, 0xFFFF_FFFF)),
    st.builds(lambda n, p: f"epoch {n} {p}", st.integers(0, 3), st.integers(0, 9)),
    st.builds(lambda n: f"run {n}", st.integers(0, 9)),
    st.just("blob 0x70200000"),
    st.lists(st.integers(0, 0xFFFF_FFFF), min_size=1, max_size=8).map(lambda each: words(each)[0]),
)


@given(st.lists(LINES, max_size=20))
def test_hostile_traces_are_read_or_refused(raw: list[str]) -> None:
    try:
        made = readable(*raw)
    except N6Error as error:
        assert error.id == "N6-NPU-005"
    else:
        assert all(line.isprintable() for line in made)
