"""The record of the NPU's work: the emulator's lines are read, others are refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.virtual_board import npu_record
from n6build.board.virtual_board.npu_record import NpuEpoch, SaturatedChannel, Saturation, UnitWork, read_npu_record

COUNTS = st.integers(0, (1 << 64) - 1)
ADDRESSES = st.integers(0, 0xFFFF_FFFF)
INDICES = st.none() | st.integers(0, 0xFFFF)
TEXTS = st.text(st.characters(codec="ascii", exclude_characters='"\\', exclude_categories=["Cc"]), max_size=20)
UNITS = st.builds(UnitWork, TEXTS, TEXTS, COUNTS, COUNTS, COUNTS, COUNTS, ADDRESSES, ADDRESSES)
EPOCHS = st.builds(NpuEpoch, INDICES, INDICES, COUNTS, st.booleans(), COUNTS, st.lists(UNITS, max_size=4).map(tuple))


def line_of(epoch: NpuEpoch) -> str:
    values = dataclasses.asdict(epoch)
    values["by"] = "blob" if values.pop("by_blob") else "registers"
    for unit in values["units"]:
        unit |= {name: f"0x{unit[name]:08x}" for name in ("first", "end")}
    return json.dumps(values) + "\n"


@given(epochs=st.lists(EPOCHS, max_size=5))
def test_epochs_are_read_in_their_order(tmp_path_factory: pytest.TempPathFactory, epochs: list[NpuEpoch]) -> None:
    path = tmp_path_factory.mktemp("record") / "record"
    path.write_text("".join(map(line_of, epochs)))
    assert read_npu_record(path) == tuple(epochs)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw a line with a changed or missing value of a key, or any bytes.

    The key is one of the line or of a unit.
    """
    values = json.loads(line_of(draw(EPOCHS)))
    values["units"] = values["units"] or [{"unit": "STRENG0", "what": ""}]
    target = draw(st.sampled_from([values, values["units"][0]]))
    key = draw(st.sampled_from(sorted(target)))
    if draw(st.booleans()):
        del target[key]
    else:
        target[key] = draw(VALUES)
    return draw(st.sampled_from([json.dumps(values).encode(), draw(st.binary(max_size=40))]))


@given(line=damaged())
def test_what_is_not_a_record_is_refused_with_its_line(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    path = tmp_path_factory.mktemp("record") / "record"
    path.write_bytes(line)
    try:
        epochs = read_npu_record(path)
    except N6Error as error:
        assert error.id == "N6-VB-009"
        assert str(error).startswith("record:")
    else:
        assert all(isinstance(epoch, NpuEpoch) for epoch in epochs)


GOOD = {"network": 0, "place": 1, "label": 2, "by": "blob", "instructions": 3, "units": [{"unit": "POOL0", "what": ""}]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("network", -1),
        ("place", True),
        ("label", 1 << 64),
        ("label", None),
        ("by", "hand"),
        ("instructions", "3"),
        ("units", [{}] * 27),
        ("units", [{"unit": 5, "what": ""}]),
        ("units", ["POOL0"]),
        ("units", [{"unit": "POOL0", "what": "", "first": 5}]),
        ("units", [{"unit": "POOL0", "what": "", "end": "0x1234567890"}]),
        ("units", [{"unit": "POOL0", "what": "", "end": "0x-1"}]),
        ("units", [{"unit": "POOL0", "what": "", "out_bytes": 2, "saturated": 5}]),
        ("units", [{"unit": "POOL0", "what": "", "out_bytes": 2, "saturated": [[1, 2, 3]]}]),
        ("units", [{"unit": "POOL0", "what": "", "out_bytes": 2, "saturated": [[0, 1, 1, 0, 0, 0, "5"]]}]),
        ("units", [{"unit": "POOL0", "what": "", "saturated": [[0, 1, 1, 0, 0, 0, 5]]}]),
        ("units", [{"unit": "POOL0", "what": "", "out_bytes": 9, "saturated": [[0, 1, 1, 0, 0, 0, 5]]}]),
    ],
)
def test_each_value_is_checked(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "record"
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD | {key: value}) + "\n")
    with pytest.raises(N6Error, match="record:2") as raised:
        read_npu_record(path)
    assert raised.value.id == "N6-VB-009"


def test_saturated_channels_are_summed_and_the_worst_are_kept(tmp_path: Path) -> None:
    rows = [[channel, 0, 10 + channel, 0, 0, 0, 40000] for channel in range(20)]
    rows[3] = [3, 2, 1, 1, 2, -33000, 40086]
    unit = {"unit": "ARITH3", "what": "a x + c", "out_bytes": 2, "saturated": rows}
    path = tmp_path / "record"
    path.write_text(json.dumps(GOOD | {"units": [unit]}) + "\n")
    (epoch,) = read_npu_record(path)
    above = sum(10 + channel for channel in range(20)) - 12
    worst = SaturatedChannel(3, 2, 1, 1, 2, -33000, 40086)
    others = tuple(SaturatedChannel(channel, 0, 10 + channel, 0, 0, 0, 40000) for channel in range(19, 12, -1))
    assert epoch.units[0].saturation == Saturation(2, 2, above, 1, 2, 20, (worst, *others))


def test_its_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record"
    path.write_text(json.dumps(GOOD) + "\n")
    monkeypatch.setattr(npu_record, "MAX_BYTES", path.stat().st_size)
    assert len(read_npu_record(path)) == 1
    path.write_text(json.dumps(GOOD) + "\n\n")
    with pytest.raises(N6Error, match="N6-FILE-003"):
        read_npu_record(path)
