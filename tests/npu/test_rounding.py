"""Errors in front of an epoch's last rounding, from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np
import pytest
from n6build.describe.formats.npu_blob import MAGIC
from n6build.judge.npu.activation_table import slope_of_table, values_of_table
from n6build.judge.npu.blobs import blob_of_words
from n6build.judge.npu.names import names_of
from n6build.judge.npu.rounding import Rounding, roundings_of
from n6build.judge.npu.settings import EpochSettings, UnitSettings, epochs_of_blob
from virtual_board.npu.model import END, NPU, label, offset_of, poll, unit, value_of, write_bits, write_many, write_word

NAMES = names_of(NPU)
WRITES, READS = 0x1000, 0x2000


def made(name: str, values: Mapping[str, int], tables: Mapping[int, int] | None = None) -> UnitSettings:
    """Return a unit; keys are 'REGISTER.FIELD'."""
    fields = {(key.partition(".")[0], key.partition(".")[2]): value for key, value in values.items()}
    return UnitSettings(name, name.rstrip("0123456789"), fields, tables=tables or {})


def switch(*links: tuple[str, str]) -> UnitSettings:
    fields: dict[tuple[str, str], int] = {}
    for destination, source in links:
        number = NAMES.destinations.index(destination)
        fields |= {(f"DST{number}", "EN0"): 1, (f"DST{number}", "LINK0"): NAMES.sources.index(source)}
    return UnitSettings("STRSWITCH", "STRSWITCH", fields)


def engine(name: str, address: int, *, writes: bool = False, lanes: int = 1) -> UnitSettings:
    sizes = {f"CTRL.SIZE{lane}": 8 for lane in range(lanes)}
    return made(name, {"CTRL.DIR": int(writes), "CTRL.RAW": 1, "ADDR.REG": address, "FSIZE.WIDTH": 64, **sizes})


def factors(*values: int) -> dict[int, int]:
    return {0x400 + 8 * place: value for place, value in enumerate(values)}


CONVOLUTION = made("CONVACC0", {"CTRL.NOSUM": 1, "DFORMAT.OUTSHIFT": 3, "DFORMAT.OBYTES": 2})
SCALE = {"CTRL.OBYTES": 2, "CTRL.COEFFA": 1, "SHIFT.RES": 10}
LAST = {"CTRL.OBYTES": 1, "CTRL.COMBINEBC": 1, "COEFFAC.A": 21760, "SHIFT.RES": 20}
CHAIN = (
    ("STRENG0.in", "ARITH1.out"),
    ("ARITH1.x", "ARITH0.out"),
    ("ARITH0.x", "CONVACC0.out"),
    ("CONVACC0.features", "STRENG1.out"),
)


def convolution(number: int = 7, reads: int = READS, at: int = WRITES, **last: int) -> EpochSettings:
    units = (
        switch(*CHAIN),
        engine("STRENG0", at, writes=True),
        engine("STRENG1", reads),
        CONVOLUTION,
        made("ARITH0", SCALE, factors(512, 1024)),
        made("ARITH1", LAST | last),
    )
    return EpochSettings(number, units)


def one(epoch: EpochSettings) -> Rounding:
    (found,) = roundings_of([epoch], NAMES, {})[epoch.number]
    return found


def test_earlier_roundings_count_with_the_factors_behind_them() -> None:
    """The sum's step is A/2^10 of a 16-bit step, whose step is A/2^20 of the output."""
    found = one(convolution())
    last = 21760 / 2**20
    steps = [(a / 2**10 * last, last) for a in (512, 1024)]
    assert (found.engine, found.address) == ("STRENG0", WRITES)
    assert found.furthest == pytest.approx(max(sum(each) / 2 for each in steps))
    assert found.expected == pytest.approx(sum(sqrt((a * a + b * b) / 12) for a, b in steps) / 2)
    # 21760 is a rounded factor; 512 and 1024 are powers of two.
    assert found.relative == pytest.approx(0.5 / 21760)
    assert found.tilt == pytest.approx(last / 16)


def test_a_larger_shift_is_a_smaller_error() -> None:
    assert one(convolution(**{"SHIFT.RES": 22})).furthest == pytest.approx(one(convolution()).furthest / 4)


def test_adding_a_zero_point_rounds_nothing() -> None:
    epoch = convolution()
    moves = made("ARITH2", {"CTRL.OBYTES": 1, "CTRL.COMBINEBC": 1, "COEFFAC.A": 16384, "SHIFT.RES": 14})
    links = switch(("STRENG0.in", "ARITH2.out"), ("ARITH2.x", "ARITH1.out"), *CHAIN[1:])
    found = one(EpochSettings(7, (links, *epoch.units[1:], moves)))
    assert found.furthest == one(epoch).furthest


def test_a_rounded_tensor_inside_an_epoch_may_be_off_by_one_step() -> None:
    """A sum of a convolution's result and of a tensor in memory."""
    epoch = convolution()
    adds = made("ARITH2", {"CTRL.OBYTES": 1, "CTRL.DUALIN": 1, "COEFFAC.A": 16384, "COEFFB.B": 8192, "SHIFT.RES": 15})
    links = switch(("STRENG0.in", "ARITH2.out"), ("ARITH2.x", "ARITH1.out"), ("ARITH2.y", "STRENG2.out"), *CHAIN[1:])
    found = one(EpochSettings(7, (links, *epoch.units[1:], adds, engine("STRENG2", 0x3000))))
    assert found.furthest == 0.5
    assert found.expected == pytest.approx(sqrt(one(epoch).expected) / 2, rel=0.02)


def test_sixteen_bits_from_memory_were_rounded_before() -> None:
    units = (
        switch(("STRENG0.in", "ARITH1.out"), ("ARITH1.x", "STRENG1.out")),
        engine("STRENG0", WRITES, writes=True),
        engine("STRENG1", READS, lanes=2),
        made("ARITH1", LAST),
    )
    assert one(EpochSettings(3, units)).furthest == pytest.approx(21760 / 2**20 / 2)


def test_a_result_that_is_not_replaced_brings_its_error_along() -> None:
    epochs = [convolution(1), convolution(2, reads=WRITES, at=0x5000)]
    passed = roundings_of(epochs, NAMES, {})[2][0]
    replaced = roundings_of(epochs, NAMES, {1: [(WRITES, 64)]})[2][0]
    assert passed.features == pytest.approx(one(epochs[0]).expected)
    assert replaced.features == 0
    assert replaced.furthest == passed.furthest


def test_a_maximum_keeps_the_error_and_a_mean_shrinks_it() -> None:
    epoch = convolution()
    links = switch(("STRENG0.in", "POOL0.out"), ("POOL0.in", "ARITH1.out"), *CHAIN[1:])
    maximum = made("POOL0", {"CTRL.TYPE": 0})
    assert one(EpochSettings(7, (links, *epoch.units[1:], maximum))).furthest == one(epoch).furthest
    window = {"PDIMS.WINX": 2, "PDIMS.WINY": 2, "MULVAL.MULVAL": 64, "CTRL.OUTSHIFT": 8}
    mean = one(EpochSettings(7, (links, *epoch.units[1:], made("POOL0", {"CTRL.TYPE": 2, **window}))))
    assert mean.furthest == 1
    assert mean.expected == pytest.approx(sqrt(one(epoch).expected) / 2, rel=0.02)


def test_unknown_units_and_circles_have_no_error() -> None:
    epoch = convolution()
    for links in (("ARITH0.x", "DECUN0.out"), ("ARITH0.x", "ARITH1.out")):
        units = (switch(*CHAIN[:2], links, CHAIN[3]), *epoch.units[1:])
        assert roundings_of([EpochSettings(7, units)], NAMES, {}) == {7: ()}


def test_tables_of_a_blob_belong_to_its_epoch() -> None:
    """An offset without translation reaches the upper entries.

    A new label ends the table.
    """
    arith = unit("ARITH")
    on = write_bits(arith, 0, 0, 1, 1) + write_bits(unit("STRENG"), 0, 0, 1, 1)
    off = write_bits(arith, 0, 0, 1, 0) + write_bits(unit("STRENG"), 0, 0, 1, 0)
    translate = offset_of("ARITH", "TRANSLATEADDR")
    words = [
        *label(1),
        *write_word(arith, translate, value_of("ARITH", "TRANSLATEADDR", EN=1)),
        *write_many(arith, 0x400, [11, 12]),
        *write_word(arith, translate, 0),
        *write_many(arith, 0x400, [21, 22]),
        *on,
        *poll(unit("STRENG"), 0, 31, 31, 0),
        *off,
        *label(2),
        *on,
        *poll(unit("STRENG"), 0, 31, 31, 0),
        *END,
    ]
    blob = blob_of_words([MAGIC, len(words), *words], "blob")
    tables = [
        next(each for each in epoch.units if each.kind == "ARITH").tables for epoch in epochs_of_blob(blob, NAMES)
    ]
    assert tables == [{0x400: 11, 0x404: 12, 0x800: 21, 0x804: 22}, {}]


def test_a_table_of_polynomials_gives_values_and_slope() -> None:
    """One segment with A = 0, B = 3, C = 5 is the line 3 x + 5."""
    tables = {0x400 + 4 * place: 0 for place in range(32)} | {0x800: 3 << 16, 0x804: 5}
    line = made("ACTIV0", {"CTRL.TYPE": 3, "CTRL.FBYTES": 1, "FUNC.SIGNEDOP": 1, "ACTIVPARAM.FUNC": 8}, tables)
    values = values_of_table(line)
    assert values is not None
    assert np.array_equal(values, 3 * np.arange(-128, 128) + 5)
    assert slope_of_table(line) == 3
    assert slope_of_table(made("ACTIV0", {"CTRL.TYPE": 3})) is None
