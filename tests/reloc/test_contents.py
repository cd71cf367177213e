"""Inputs, outputs, epochs and pools of a network, read from its relocatable model."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import EpochBlock, IoBuffer, NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.artifacts.stored import artifacts_json, read_stored, stored_name
from n6build.place.reloc.contents import artifacts_of
from n6build.place.reloc.reader import RelocFile, parse_reloc_file

from reloc.synthetic import synthetic_model

VERSIONS = [(1, 1, 0, 31), (1, 1, 1, 14), (1, 1, 3, 8), (1, 1, 3, 262)]
FILE = Path("network_rel.bin")


def of(data: bytes) -> NetworkArtifacts:
    return artifacts_of(parse_reloc_file(data, FILE.name), FILE, "network")


def test_it_says_what_network_c_says(network: Path, whole: RelocFile) -> None:
    found, expected = artifacts_of(whole, FILE, "network"), read_artifacts(network, "network")
    assert [
        (each.name, each.type, each.shape, each.bytes, each.address) for each in (*found.inputs, *found.outputs)
    ] == [
        (each.name, each.type, each.shape, each.bytes, each.address) for each in (*expected.inputs, *expected.outputs)
    ]
    assert [each.scale for each in found.inputs] == pytest.approx([each.scale for each in expected.inputs])
    assert [each.zero_point for each in found.inputs] == [each.zero_point for each in expected.inputs]
    assert found.blocks == expected.blocks
    assert [each.index for each in found.epochs] == [each.index for each in expected.epochs]
    assert found.ll_aton == expected.ll_aton
    assert {(pool.fname, pool.address, pool.used_bytes, pool.relative) for pool in found.pools} == {
        (pool.fname, pool.address, pool.used_bytes, pool.relative) for pool in expected.pools if pool.used_bytes
    }
    assert found.is_linked
    assert not found.uses_npu


@pytest.mark.parametrize("version", VERSIONS)
def test_the_tables_of_every_abi(version: tuple[int, int, int, int]) -> None:
    found = of(synthetic_model(version, tables=True))
    assert found.inputs == (IoBuffer("in", 0x342E0010, 6, "int8", (2, 3), 0.5, -7),)
    assert found.outputs == (IoBuffer("out", 0x342E0020, 16, "float32", (4,), 1.0, 0),)
    assert found.blocks == (EpochBlock(1, 1, "NODE_SW"), EpochBlock(2, 3, "NODE_EC"))
    assert [(each.index, each.mapping) for each in found.epochs] == [(1, "NODE_SW"), (2, "NODE_EC"), (3, "NODE_EC")]
    assert found.uses_npu


def test_what_is_read_is_kept_in_a_file(tmp_path: Path) -> None:
    found = of(synthetic_model(VERSIONS[2], tables=True))
    (tmp_path / stored_name("network")).write_text(artifacts_json(found))
    kept = read_stored(tmp_path / stored_name("network"))
    assert kept.source == tmp_path / "network_rel.bin"
    assert kept.inputs == found.inputs
    assert kept.pools == found.pools
    assert read_artifacts(tmp_path, "network") == kept


def test_a_file_that_holds_no_description(tmp_path: Path) -> None:
    (tmp_path / "network_artifacts.json").write_text("{}")
    with pytest.raises(N6Error, match="N6-NET-020"):
        read_artifacts(tmp_path, "network")


# Offsets of words in the synthetic model that the cases overwrite; each case names the expected error.
BUFFER_TYPE, BUFFER_END, SHAPE, BLOCK_FLAGS, FIRST_EPOCH = 35, 12, 0, 16, 18


@pytest.mark.parametrize(
    ("table", "field", "value", "expected"),
    [
        (2, BUFFER_TYPE, b"\x63", "buffer in has the unknown type 99"),
        (2, BUFFER_END, struct.pack("<I", 4), "buffer in ends before it begins"),
        (2, BUFFER_END, struct.pack("<I", 20), "buffer in has 4 bytes for int8 2x3"),
        (0, BLOCK_FLAGS, b"\0\0", "epoch block 0 has the flags 0x0000"),
        (0, FIRST_EPOCH, struct.pack("<2h", 5, 3), "epoch block 0 contains epochs 5 to 3"),
        (2, 0, struct.pack("<I", 0x60000001), "0x60000001 is outside of its code and data"),
    ],
)
def test_tables_that_hold_no_such_thing(table: int, field: int, value: bytes, expected: str) -> None:
    data = bytearray(synthetic_model(VERSIONS[2], tables=True))
    model = parse_reloc_file(bytes(data), FILE.name)
    address = model.image_word(model.header["got_start"] + 4 * (4 + table))
    at = model.read_only_bytes + (address & 0x0FFFFFFF) + field
    data[at : at + len(value)] = value
    with pytest.raises(N6Error, match="N6-RELOC-040") as error:
        of(bytes(data))
    assert expected in error.value.what


@given(st.data())
def test_a_damaged_model_is_read_or_refused(data: st.DataObject) -> None:
    model = bytearray(synthetic_model(VERSIONS[2], tables=True))
    for _ in range(data.draw(st.integers(1, 4))):
        model[data.draw(st.integers(0, len(model) - 1))] = data.draw(st.integers(0, 255))
    try:
        of(bytes(model))
    except N6Error as error:
        assert error.id.startswith("N6-RELOC-0")
