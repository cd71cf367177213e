"""Endless or hour-long work is reported within a second of the host's time."""

from __future__ import annotations

import resource
from collections.abc import Callable

import numpy as np
import pytest
from n6build.describe.formats.npu_blob import CONTAINERS, ContainerLayout

from virtual_board.npu.model import (
    END,
    Npu,
    assembled,
    label,
    offset_of,
    poll,
    unit,
    write_bits,
    write_word,
)

SOURCE, TARGET = 0x1000, 0x4000
FROM_CONVACC, FROM_POOL, TO_CONVACC, TO_POOL = 10, 22, 10, 36
SECONDS = 1.0
RUNNING = 31


@pytest.fixture
def npu(npu: Npu) -> Npu:
    npu.put(SOURCE, np.arange(64, dtype=np.uint8))
    return npu


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def triggered(npu: Npu, reader: int, source: int) -> None:
    npu.set("STRENG", reader, "EVENT", FRMTRG_EN=1, FRMTRG_SRC=source)


def a_source_is_none(npu: Npu) -> None:
    npu.link(5, 40)
    npu.raw_writer(5, TARGET, 16)


def a_writer_and_a_reader_wait_for_each_other(npu: Npu) -> None:
    """The reader's second frame waits for the writer's first one.

    The writer's frame is as long as two of the reader's.
    """
    npu.link(5, 2)
    npu.raw_writer(5, TARGET, 32)
    npu.raw_reader(2, SOURCE, 16, frames=2, step=16)
    triggered(npu, 2, 5)


def two_readers_wait_for_each_other_s_writers(npu: Npu) -> None:
    for reader, writer, other in ((2, 5, 6), (3, 6, 5)):
        npu.link(writer, reader)
        npu.raw_writer(writer, TARGET + 0x100 * writer, 32)
        npu.raw_reader(reader, SOURCE, 16, frames=2, step=16)
        triggered(npu, reader, other)


def a_reader_waits_for_a_reader(npu: Npu) -> None:
    npu.link(5, 2)
    npu.raw_writer(5, TARGET, 16, frames=2)
    npu.raw_reader(2, SOURCE, 16, frames=2)
    npu.raw_reader(3, SOURCE, 16, frames=2)
    triggered(npu, 2, 3)


def a_writer_has_billions_of_frames(npu: Npu) -> None:
    npu.link(5, 2)
    npu.raw_writer(5, TARGET, 1 << 16, frames=0xFFFF_FFFF)
    npu.raw_reader(2, 0, 1 << 16, CONT=1)


def a_convolution_has_too_many_products(npu: Npu) -> None:
    npu.set("CONVACC", 0, "KFORMAT", WIDTH=255, HEIGHT=255, BTCDEPTH=1, NR=1)
    npu.set("CONVACC", 0, "SAMPLE", HSTRD=1, VSTRD=1)
    npu.set("CONVACC", 0, "DFORMAT", ORNDMODE=1, ROUND=1, SAT=1, OBYTES=2, FBYTES=1, FSHIFT=16)
    npu.set("CONVACC", 0, "FFORMAT", WIDTH=1024, HEIGHT=1024)
    npu.set("CONVACC", 0, "CTRL", EN=1, NOSUM=1, SIMD=1)
    npu.link(0, FROM_CONVACC)
    npu.link(TO_CONVACC, 1)
    npu.link(TO_CONVACC + 1, 2)
    npu.raw_writer(0, TARGET, 16)
    npu.raw_reader(1, 0, 1 << 20)
    npu.raw_reader(2, 0, 255 * 255, CONT=1)


FAULTS = [
    (a_source_is_none, "there is no source 40"),
    (
        a_writer_and_a_reader_wait_for_each_other,
        "STRENG2 waits for its own output: units wait for each other in a circle",
    ),
    (two_readers_wait_for_each_other_s_writers, "waits for its own output: units wait for each other in a circle"),
    (a_reader_waits_for_a_reader, "STRENG2 waits for engine 3, which does not write to memory (EVENT FRMTRG_SRC)"),
    (a_writer_has_billions_of_frames, "the epoch moves more than 268435456 bytes between units"),
    (a_convolution_has_too_many_products, "the epoch takes more than 8589934592 steps of arithmetic"),
]


@pytest.mark.parametrize(("arrange", "reason"), FAULTS, ids=[case[0].__name__ for case in FAULTS])
def test_an_epoch_that_would_not_end_is_told_soon(npu: Npu, arrange: Callable[[Npu], None], reason: str) -> None:
    arrange(npu)
    begin = spent()
    assert reason in str(npu.run())
    assert spent() - begin < SECONDS


def copying(reader: int) -> list[list[int]]:
    return [
        write_bits(unit("STRENG", 5), 0, 0, 1, 1),
        write_bits(unit("STRENG", reader), 0, 0, 1, 1),
        poll(unit("STRENG", 5), 0, RUNNING, RUNNING, 0),
    ]


BLOBS = [
    ("its engine writes nowhere", [label(3), *copying(2)], "no stream engine writes to memory"),
    ("a unit that is not modelled", [write_word(unit("DECUN"), 0, 1), *copying(2)], "DECUN0 is on: not modelled"),
    ("the epoch controller itself", [write_word(unit("EPOCHCTRL"), 0, 1)], "has no access to unit 30, word 0"),
    (
        "waits for a register to change by itself",
        [poll(unit("INTCTRL"), offset_of("INTCTRL", "INTREG"), 5, 5, 1)],
        "waits for ever",
    ),
]


@pytest.mark.parametrize(("instructions", "reason"), [case[1:] for case in BLOBS], ids=[case[0] for case in BLOBS])
def test_a_blob_that_would_not_end_is_told_soon(npu: Npu, instructions: list[list[int]], reason: str) -> None:
    begin = spent()
    assert reason in str(npu.run_blob(assembled(*instructions, END)))
    assert spent() - begin < SECONDS


@pytest.mark.parametrize("address", [0x7000_0000, 0xFFFF_FFF8, 0x000F_FFFC])
def test_a_blob_outside_memory_is_told_with_its_address(npu: Npu, address: int) -> None:
    npu.write(unit("EPOCHCTRL"), offset_of("EPOCHCTRL", "ADDR"), address)
    npu.write(unit("EPOCHCTRL"), 0, 1)
    reason = npu.run()
    assert reason
    assert f"0x{address:08x}" in reason


@pytest.mark.parametrize("layout", CONTAINERS, ids=lambda each: f"0x{each.magic:08X}")
def test_a_container_that_points_outside_memory_is_told(npu: Npu, layout: ContainerLayout) -> None:
    words = [layout.magic, 0, 0, 0, 0]
    words[layout.blob_word] = 0x7000_0000
    assert "of its blob at 0x70080000" in str(npu.run_blob(words))


def test_the_most_instructions_that_do_nothing_take_less_than_a_second(npu: Npu) -> None:
    count = (npu.memory.size - 0x8_0000) // 4 - 2
    begin = spent()
    assert npu.run_blob([0xCA057A7A, count, *label(1) * (count - 1), 12]) is None
    assert spent() - begin < SECONDS
