"""The NPU's registers and interrupts, and what ends an epoch with a sentence. What units compute: test_parameter_space.py."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from virtual_board.npu.model import ARITH_X, FEATURES, OUTPUT, SOURCE_ARITH, Npu, build_model, offset_of, unit, value_of


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build_model(tmp_path_factory.mktemp("npu"))


@pytest.fixture
def npu(library: ctypes.CDLL) -> Iterator[Npu]:
    npu = Npu(library)
    yield npu
    npu.close()


def test_versions_are_those_that_st_s_runtime_asks_for(npu: Npu) -> None:
    assert npu.read(unit("CONVACC", 3), 4) & 0xFFFF == 0x5117
    assert npu.read(unit("EPOCHCTRL"), 4) & 0xFFFF == 0x1121


def test_a_copy_moves_bytes_and_ends_with_the_interrupt_of_the_writer(npu: Npu) -> None:
    data = np.arange(300, dtype=np.uint8)
    npu.put(FEATURES, data)
    npu.link(5, 2)
    npu.raw_writer(5, OUTPUT, 300)
    npu.raw_reader(2, FEATURES, 300)
    # Line 0 waits for all of engine 5 alone, others are masked.
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


def nothing_is_linked(npu: Npu) -> None:
    writer(npu)


def nothing_is_written(npu: Npu) -> None:
    copier(npu)


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


FAULTS = [
    (nothing_is_linked, "destination 5 of the stream switch has no source"),
    (nothing_is_written, "no stream engine writes to memory"),
    (the_reader_is_off, "a stream comes from STRENG2, which is off"),
    (memory_is_missing, "STRENG2 reads 16 bytes at 0x70000000, where it cannot"),
    (frames_are_missing, "STRENG2 is asked for frame 2, and has 2 (LIMIT)"),
    (a_field_is_not_modelled, "STRENG2 CTRL NOINC is 1: not modelled"),
    (units_are_in_a_circle, "ARITH0 waits for its own output: units wait for each other in a circle"),
    (a_unit_is_not_modelled, "DECUN0 is on: not modelled"),
]


@pytest.mark.parametrize(("arrange", "reason"), FAULTS, ids=[case[0].__name__ for case in FAULTS])
def test_what_would_never_end_or_is_not_known_is_told(npu: Npu, arrange: Callable[[Npu], None], reason: str) -> None:
    arrange(npu)
    assert reason in str(npu.run())


def test_values_of_fields_are_checked_by_the_test_s_own_assembler() -> None:
    assert value_of("CONVACC", "FSUB", FSUB=-1) == 0xFFFFFF
