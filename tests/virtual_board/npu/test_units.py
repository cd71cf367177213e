"""The NPU's registers, its interrupts, and errors that end an epoch.

Endless or hour-long work is reported within a second of the host's time. test_parameter_space.py
tests the computations of the units.
"""

from __future__ import annotations

import resource
from collections.abc import Callable

import numpy as np
import pytest
from n6build.describe.formats.npu_blob import CONTAINERS, ContainerLayout

from virtual_board.npu.assembler import arith, arith_input, convacc, features_of, kernels_of, pool, pool_input, sums_of
from virtual_board.npu.model import (
    END,
    FEATURES,
    OUTPUT,
    Npu,
    assembled,
    label,
    offset_of,
    poll,
    unit,
    value_of,
    write_bits,
    write_word,
)

SECONDS = 1.0
RUNNING = 31
SOURCE_ARITH, SOURCE_POOL = arith(0), pool(0)
ARITH_X, POOL_INPUT = arith_input(0), pool_input(0)


def test_versions_are_those_that_st_s_runtime_asks_for(npu: Npu) -> None:
    assert npu.read(unit("CONVACC", 3), 4) & 0xFFFF == 0x5117
    assert npu.read(unit("EPOCHCTRL"), 4) & 0xFFFF == 0x1121


def test_a_copy_moves_bytes_and_ends_with_the_interrupt_of_the_writer(npu: Npu) -> None:
    data = np.arange(300, dtype=np.uint8)
    npu.put(FEATURES, data)
    npu.link(5, 2)
    npu.raw_writer(5, OUTPUT, 300)
    npu.raw_reader(2, FEATURES, 300)
    # Line 0 waits only for all of engine 5, and other sources are masked.
    npu.write(unit("INTCTRL"), offset_of("INTCTRL", "INTORMSK"), 0xFFFF_FFFF)
    npu.write(unit("INTCTRL"), offset_of("INTCTRL", "INTANDMSK"), ~(1 << 5))
    assert npu.has_work
    assert not npu.line(0)
    assert npu.run() is None
    assert np.array_equal(npu.get(OUTPUT, 300, "uint8"), data)
    assert npu.line(0)
    npu.write(unit("INTCTRL"), offset_of("INTCTRL", "INTCLR"), 1 << 5)
    assert not npu.line(0)


def writer(npu: Npu, **control: int) -> None:
    npu.raw_writer(5, OUTPUT, 16, **control)


def copier(npu: Npu, address: int = FEATURES, frames: int = 1, **control: int) -> None:
    npu.link(5, 2)
    npu.raw_reader(2, address, 16, frames=frames, **control)


def the_reader_is_off(npu: Npu) -> None:
    npu.link(5, 2)
    writer(npu)


def memory_is_missing(npu: Npu) -> None:
    copier(npu, address=0x7000_0000)
    writer(npu)


def frames_are_missing(npu: Npu) -> None:
    copier(npu, frames=2)
    writer(npu, frames=3)


def a_field_is_not_modelled(npu: Npu) -> None:
    copier(npu, NOINC=1)
    writer(npu)


def units_are_in_a_circle(npu: Npu) -> None:
    npu.link(5, SOURCE_ARITH)
    npu.link(ARITH_X, SOURCE_ARITH)
    npu.set("ARITH", 0, "CTRL", EN=1, OBYTES=1)
    writer(npu)


def a_unit_is_not_modelled(npu: Npu) -> None:
    npu.write(unit("DECUN"), 0, 1)
    writer(npu)


def contexts_have_two_sources(npu: Npu) -> None:
    copier(npu)
    writer(npu)
    npu.write(unit("STRSWITCH"), 8 + 4 * 5, 1 | 2 << 1 | 1 << 8 | 3 << 17 | 1 << 24)


def contexts_count_pixels(npu: Npu) -> None:
    copier(npu)
    writer(npu)
    npu.write(unit("STRSWITCH"), 8 + 4 * 5, 1 | 2 << 1 | 1 << 8 | 2 << 17 | 1 << 23 | 1 << 24)


def one_stream_is_missing(npu: Npu) -> None:
    copier(npu)
    npu.link(ARITH_X, 2)
    npu.link(5, SOURCE_ARITH)
    npu.set("ARITH", 0, "INSHIFTER", FBYTESX=1, FSHIFTX=16)
    npu.set("ARITH", 0, "CTRL", EN=1, OBYTES=1, OP=1)
    writer(npu)


def pool_with(npu: Npu, out_bytes: int = 1, shift: int = 16) -> None:
    npu.link(POOL_INPUT, 2)
    npu.raw_reader(2, FEATURES, 16)
    npu.link(5, SOURCE_POOL)
    npu.set("POOL", 0, "PDIMS", BSIZE=1, WINX=1, WINY=1, STRDX=1, STRDY=1)
    npu.set("POOL", 0, "FDIMS", FEATX=4, FEATY=4)
    npu.set("POOL", 0, "RNDCTRL", OBYTES=out_bytes)
    npu.set("POOL", 0, "CTRL", EN=1, TYPE=2, FBYTES=1, FSHIFT=shift)
    writer(npu)


def convolver(npu: Npu, **control: int) -> None:
    """Set a convolver of one kernel with one value, over two frames."""
    npu.set("CONVACC", 0, "KFORMAT", WIDTH=1, HEIGHT=1, BTCDEPTH=1, NR=1)
    npu.set("CONVACC", 0, "SAMPLE", HSTRD=1, VSTRD=1)
    npu.set("CONVACC", 0, "DFORMAT", OBYTES=1, FBYTES=1, FSHIFT=16)
    npu.set("CONVACC", 0, "FFORMAT", WIDTH=16, HEIGHT=1)
    npu.set("CONVACC", 0, "CTRL", EN=1, **{"SIMD": 1, **control})
    npu.link(features_of(0), 2)
    npu.link(kernels_of(0), 3)
    npu.link(5, convacc(0))
    npu.raw_reader(2, FEATURES, 16, frames=2)
    npu.raw_reader(3, FEATURES, 2, CONT=1)
    writer(npu, frames=2)


def its_own_sums_have_no_first(npu: Npu) -> None:
    npu.link(sums_of(0), convacc(0))
    convolver(npu)


def sums_come_from_pool(npu: Npu) -> None:
    npu.link(sums_of(0), SOURCE_POOL)
    npu.link(POOL_INPUT, 2)
    npu.set("POOL", 0, "CTRL", EN=1, FBYTES=1)
    npu.set("POOL", 0, "PDIMS", WINX=1, WINY=1, STRDX=1, STRDY=1, BSIZE=1)
    npu.set("POOL", 0, "FDIMS", FEATX=4, FEATY=4)
    convolver(npu)


def kernels_are_shared_by_a_wrong_number(npu: Npu) -> None:
    npu.set("CONVACC", 0, "KFILT", TOT=4, FIRST=1, LAST=2)
    convolver(npu, NOSUM=1)


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def triggered(npu: Npu, reader: int, source: int) -> None:
    npu.set("STRENG", reader, "EVENT", FRMTRG_EN=1, FRMTRG_SRC=source)


def a_source_is_none(npu: Npu) -> None:
    npu.link(5, 40)
    npu.raw_writer(5, OUTPUT, 16)


def a_writer_and_a_reader_wait_for_each_other(npu: Npu) -> None:
    """The reader's second frame waits for the writer's first one.

    The writer's frame is as long as two of the reader's.
    """
    npu.link(5, 2)
    npu.raw_writer(5, OUTPUT, 32)
    npu.raw_reader(2, FEATURES, 16, frames=2, step=16)
    triggered(npu, 2, 5)


def two_readers_wait_for_each_other_s_writers(npu: Npu) -> None:
    for reader, writer, other in ((2, 5, 6), (3, 6, 5)):
        npu.link(writer, reader)
        npu.raw_writer(writer, OUTPUT + 0x100 * writer, 32)
        npu.raw_reader(reader, FEATURES, 16, frames=2, step=16)
        triggered(npu, reader, other)


def a_reader_waits_for_a_reader(npu: Npu) -> None:
    npu.link(5, 2)
    npu.raw_writer(5, OUTPUT, 16, frames=2)
    npu.raw_reader(2, FEATURES, 16, frames=2)
    npu.raw_reader(3, FEATURES, 16, frames=2)
    triggered(npu, 2, 3)


def a_writer_has_billions_of_frames(npu: Npu) -> None:
    npu.link(5, 2)
    npu.raw_writer(5, OUTPUT, 1 << 16, frames=0xFFFF_FFFF)
    npu.raw_reader(2, 0, 1 << 16, CONT=1)


def a_convolution_has_too_many_products(npu: Npu) -> None:
    npu.set("CONVACC", 0, "KFORMAT", WIDTH=255, HEIGHT=255, BTCDEPTH=1, NR=1)
    npu.set("CONVACC", 0, "SAMPLE", HSTRD=1, VSTRD=1)
    npu.set("CONVACC", 0, "DFORMAT", ORNDMODE=1, ROUND=1, SAT=1, OBYTES=2, FBYTES=1, FSHIFT=16)
    npu.set("CONVACC", 0, "FFORMAT", WIDTH=1024, HEIGHT=1024)
    npu.set("CONVACC", 0, "CTRL", EN=1, NOSUM=1, SIMD=1)
    npu.link(0, convacc(0))
    npu.link(features_of(0), 1)
    npu.link(kernels_of(0), 2)
    npu.raw_writer(0, OUTPUT, 16)
    npu.raw_reader(1, 0, 1 << 20)
    npu.raw_reader(2, 0, 255 * 255, CONT=1)


FAULTS: list[tuple[Callable[[Npu], None], str]] = [
    (writer, "destination 5 of the stream switch has no source"),
    (copier, "no stream engine writes to memory"),
    (the_reader_is_off, "a stream comes from STRENG2, which is off"),
    (memory_is_missing, "STRENG2 cannot read 16 bytes at 0x70000000"),
    (frames_are_missing, "STRENG2 cannot give frame 2, since it has 2 (LIMIT)"),
    (a_field_is_not_modelled, "STRENG2 CTRL NOINC is 1: not modelled"),
    (units_are_in_a_circle, "ARITH0 waits for its own output: units wait for each other in a circle"),
    (a_unit_is_not_modelled, "DECUN0 is on: not modelled"),
    (contexts_have_two_sources, "two sources for one destination are not modelled"),
    (contexts_count_pixels, "contexts that count pixels are not modelled"),
    (one_stream_is_missing, "ARITH0 CTRL OP is 0x01 without a second stream (DUALIN): not modelled"),
    (lambda npu: pool_with(npu, shift=15), "POOL0 CTRL FSHIFT is 15: only 16, no shift, is modelled"),
    (lambda npu: pool_with(npu, out_bytes=0), "POOL0 makes elements of 0 bytes (RNDCTRL OBYTES)"),
    (lambda npu: convolver(npu, NOSUM=1, KSETEN=2), "CONVACC0 CTRL KSETEN is 2: not modelled"),
    (lambda npu: convolver(npu, NOSUM=1, SIMD=3), "CONVACC0 CTRL SIMD is 3: not modelled"),
    (
        its_own_sums_have_no_first,
        "CONVACC0 adds its own frames to its first one (CTRL NO1SUM, GEN1SUM): it waits for ever",
    ),
    (
        sums_come_from_pool,
        "CONVACC0 adds to sums of source 22 of the stream switch: only those of engines, CONVACCs and ARITHs",
    ),
    (kernels_are_shared_by_a_wrong_number, "CONVACC0 has 1 kernels and takes 1 to 2 of 4 (KFILT): not modelled"),
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


@pytest.mark.parametrize(("arrange", "reason"), FAULTS, ids=[reason for _, reason in FAULTS])
def test_what_would_never_end_or_is_not_known_is_told_soon(
    npu: Npu, arrange: Callable[[Npu], None], reason: str
) -> None:
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


def test_values_of_fields_are_checked_by_the_test_s_own_assembler() -> None:
    assert value_of("CONVACC", "FSUB", FSUB=-1) == 0xFFFFFF
