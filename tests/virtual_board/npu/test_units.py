"""The NPU's registers, its interrupts, and errors that end an epoch.

test_parameter_space.py tests the computations of the units.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from virtual_board.npu.assembler import arith, arith_input, convacc, features_of, kernels_of, pool, pool_input, sums_of
from virtual_board.npu.model import FEATURES, OUTPUT, Npu, offset_of, unit, value_of

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
]


@pytest.mark.parametrize(("arrange", "reason"), FAULTS, ids=[reason for _, reason in FAULTS])
def test_what_would_never_end_or_is_not_known_is_told(npu: Npu, arrange: Callable[[Npu], None], reason: str) -> None:
    arrange(npu)
    assert reason in str(npu.run())


def test_values_of_fields_are_checked_by_the_test_s_own_assembler() -> None:
    assert value_of("CONVACC", "FSUB", FSUB=-1) == 0xFFFFFF
