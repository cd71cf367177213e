"""The virtual NPU follows the chip's description, and refuses the rest."""

from __future__ import annotations

import ctypes
from contextlib import closing

import numpy as np
import pytest
from n6build.describe.hardware.soc import field_bits

from virtual_board.npu.assembler import (
    activ,
    activ_input,
    arith,
    arith_input,
    convacc,
    features_of,
    kernels_of,
    pool,
    pool_input,
    sums_of,
)
from virtual_board.npu.model import FEATURES, KERNELS, NPU, OUTPUT, Npu, offset_of, unit, value_of

READER, WRITER = 1, 0
CLIP = 55  # The operation of ARITH that is modelled for a single stream alone.
# The value means a frame of source 1, then one of source 2.
# Lanes are in order, or all zero. A single lane would show nothing.
_LANES = {"POS0", "POS1", "POS2"}


def cases() -> list[tuple[str, str, str]]:
    """Return (kind, register, field) of everything that is not wholly modelled.

    Blobs set the controller's own fields, so these are left out.
    """
    return [
        (kind, register, field)
        for kind, registers in NPU.registers.items()
        for register, description in registers.items()
        for field in (*description.unmodelled, *description.values)
        if kind != "EPOCHCTRL" and field not in _LANES
    ]


def candidates(kind: str, register: str, field: str) -> list[int]:
    low, mask = field_bits(NPU.registers[kind][register].fields[field])
    most = mask >> low
    return list(range(most + 1)) if most < 64 else [0, 1, most]


def arrange(npu: Npu, kind: str) -> int:
    """Arrange a running epoch of one unit between a reader and a writer.

    Returns:
        The unit's number.
    """
    npu.put(FEATURES, np.zeros(256, np.int8))
    npu.put(KERNELS, np.ones(16, np.int8))
    npu.raw_writer(WRITER, OUTPUT, 16)
    # Either of the two lanes may be off.
    npu.raw_reader(READER, FEATURES, 16, SIZE1=8)
    source = {
        "STRENG": READER,
        "CONVACC": convacc(0),
        "ARITH": arith(0),
        "POOL": pool(0),
        "ACTIV": activ(0),
    }
    npu.link(WRITER, source[kind])
    if kind == "CONVACC":
        npu.set(kind, 0, "KFORMAT", WIDTH=1, HEIGHT=1, BTCDEPTH=1, NR=1)
        npu.set(kind, 0, "SAMPLE", HSTRD=1, VSTRD=1)
        npu.set(kind, 0, "DFORMAT", ORNDMODE=1, ROUND=1, SAT=1, OBYTES=2, FBYTES=1, FSHIFT=16)
        npu.set(kind, 0, "FFORMAT", WIDTH=16, HEIGHT=1)
        # The unit would add its previous output, which does not exist in the only frame.
        npu.set(kind, 0, "CTRL", EN=1, SIMD=1, NO1SUM=1)
        npu.link(features_of(0), READER)
        npu.link(kernels_of(0), 2)
        npu.link(sums_of(0), convacc(0))
        npu.raw_reader(2, KERNELS, 3, CONT=1)
    elif kind == "ARITH":
        npu.set(kind, 0, "INSHIFTER", FBYTESX=1, FSHIFTX=16)
        # Two operations need a second stream.
        npu.set(kind, 0, "CTRL", EN=1, ORNDMODE=1, OBYTES=1, DUALIN=1)
        npu.link(arith_input(0), READER)
        npu.link(arith_input(0, 1), READER)
    elif kind == "POOL":
        npu.set(kind, 0, "PDIMS", WINX=1, WINY=1, STRDX=1, STRDY=1, BSIZE=1)
        npu.set(kind, 0, "FDIMS", FEATX=4, FEATY=4)
        npu.set(kind, 0, "RNDCTRL", OBYTES=2, ORNDMODE=1)
        npu.set(kind, 0, "CTRL", EN=1, TYPE=0, FBYTES=1, FSHIFT=16)
        npu.raw_writer(WRITER, OUTPUT, 1)
        npu.link(pool_input(0), READER)
    elif kind == "ACTIV":
        npu.set(kind, 0, "FUNC", SIGNEDOP=1)
        # The only threshold that is modelled, of type 2.
        npu.set(kind, 0, "ACTIVPARAM", PARAM=-128)
        npu.set(kind, 0, "ACTIVPARAM2", PARAM2=-128)
        npu.set(kind, 0, "CTRL", EN=1, TYPE=3, FBYTES=1, FSHIFT=16, OBYTES=1, ORNDMODE=1)
        npu.link(activ_input(0), READER)
    return unit(kind, READER if kind == "STRENG" else 0)


def change(npu: Npu, number: int, kind: str, register: str, field: str, value: int) -> None:
    offset = offset_of(kind, register)
    low, mask = field_bits(NPU.registers[kind][register].fields[field])
    npu.write(number, offset, npu.read(number, offset) & ~mask | value << low)


@pytest.mark.parametrize("kind", ["STRENG", "CONVACC", "ARITH", "POOL", "ACTIV"])
def test_an_epoch_of_each_kind_runs_as_it_is(npu: Npu, kind: str) -> None:
    arrange(npu, kind)
    assert npu.run() is None


@pytest.mark.parametrize(("kind", "register", "field"), cases())
def test_values_that_are_not_modelled_are_refused_and_no_others(
    library: ctypes.CDLL, kind: str, register: str, field: str
) -> None:
    known = NPU.registers[kind][register].known_values(field)
    assert known is not None
    for value in candidates(kind, register, field):
        with closing(Npu(library)) as npu:
            number = arrange(npu, kind)
            change(npu, number, kind, register, field, value)
            if (field, value) == ("OP", CLIP):
                change(npu, number, kind, register, "DUALIN", 0)
            reason = npu.run()
        if value in known:
            assert reason is None or (field not in reason and "not modelled" not in reason), f"{field} = {value}"
        else:
            assert reason is not None, f"{field} = {value} is computed"
            assert reason.startswith(f"{kind}{number - unit(kind)} "), reason


def test_lanes_are_in_order_or_not_set(library: ctypes.CDLL) -> None:
    known = NPU.registers["STRENG"]["POS"]
    for value in range(64):
        with closing(Npu(library)) as npu:
            number = arrange(npu, "STRENG")
            npu.write(number, offset_of("STRENG", "POS"), value)
            reason = npu.run()
        lanes = [value >> 2 * lane & 3 for lane in range(3)]
        if not all(lane in (known.known_values(f"POS{place}") or ()) for place, lane in enumerate(lanes)):
            assert reason is not None
        if value in (0, value_of("STRENG", "POS", POS1=1, POS2=2)):
            assert reason is None


def test_units_that_are_not_modelled_are_refused(library: ctypes.CDLL) -> None:
    for kind, units in NPU.units.items():
        if not units.modelled:
            with closing(Npu(library)) as npu:
                arrange(npu, "STRENG")
                npu.write(units.first, 0, 1)
                assert "not modelled" in str(npu.run())
            assert kind in {"DECUN", "RECBUF"}


def test_what_is_not_modelled_together_is_refused(npu: Npu) -> None:
    number = arrange(npu, "CONVACC")
    change(npu, number, "CONVACC", "CTRL", "DEEPMODE", 1)
    change(npu, number, "CONVACC", "KFORMAT", "WIDTH", 3)
    assert "only 1 x 1 is modelled" in str(npu.run())


def test_registers_are_reset_as_the_description_says(npu: Npu) -> None:
    for kind, registers in NPU.registers.items():
        for register in registers.values():
            assert npu.read(NPU.units[kind].first, register.offset) == register.reset
