"""Instructions of the epoch controller, decoded, and their text."""

from __future__ import annotations

import functools
import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.paths import ROOT
from n6build.describe.formats.npu_blob import CONTAINERS
from n6build.judge.npu.blobs import Blob, read_blobs
from n6build.judge.npu.disassemble import End, Label, Poll, Write, WriteSeries, blob_lines, instructions
from n6build.judge.npu.names import names_of
from samples import samples_folder
from virtual_board.npu.model import (
    END,
    NPU,
    as_bytes,
    assembled,
    label,
    offset_of,
    poll,
    unit,
    value_of,
    write_bits,
    write_many,
    write_word,
)

NAMES = names_of(NPU)


def blob(*parts: list[int]) -> Blob:
    words = tuple(word for part in parts for word in part)
    return Blob("blob", "file.h: blob", words, 2, relocatable=False)


def text(*parts: list[int]) -> list[str]:
    return list(blob_lines(blob(*parts, END), NAMES))[1:-1]


def test_each_instruction_is_decoded_with_its_place() -> None:
    convacc, ctrl = unit("CONVACC", 2), offset_of("CONVACC", "CTRL")
    parts = (
        label(7),
        write_word(convacc, 0x0C, 0x1122),
        write_bits(convacc, ctrl, 5, 2, 1),
        write_many(convacc, 0x08, [1, 2, 3]),
        poll(unit("STRENG", 4), 0, 31, 31, 0),
        END,
    )
    assert list(instructions(blob(*parts))) == [
        Label(0, 7),
        Write(1, convacc, 0x0C, 0, 31, 0x1122, immediate=False),
        Write(3, convacc, 0, 5, 6, 1, immediate=True),
        WriteSeries(4, convacc, 8, 4, (1, 2, 3)),
        Poll(8, unit("STRENG", 4), 0, 31, 31, 100, 0),
        End(11),
    ]


def test_registers_and_fields_have_the_names_of_the_chip_s_description() -> None:
    value = value_of("CONVACC", "CTRL", EN=1, SIMD=2, NOSUM=1)
    assert text(write_word(unit("CONVACC", 2), 0, value)) == [
        "  CONVACC2.CTRL        = 0x00000045  EN=1 NOSUM=1 SIMD=2"
    ]
    assert text(write_bits(unit("STRENG", 3), 0, 0, 1, 1)) == ["  STRENG3.CTRL[0]      = 1  EN=1"]
    assert text(poll(unit("STRENG", 3), 0, 31, 31, 0)) == ["  poll STRENG3.CTRL[31] until 0, interval 100  RUNNING"]


def test_addresses_are_not_said_twice() -> None:
    assert text(write_word(unit("STRENG", 3), 8, 0x3400_0000)) == ["  STRENG3.ADDR         = 0x34000000"]


def test_links_of_the_stream_switch_name_both_ends_and_the_contexts() -> None:
    # This is the accumulator of CONVACC1: it drops 3 frames of CONVACC0 and takes one.
    value = 10 << 1 | 3 << 8 | 1 << 16 | 10 << 17 | 1 << 24
    (line,) = text(write_word(unit("STRSWITCH"), 8 + 4 * 15, value))
    assert line.endswith("CONVACC1.sums <- drops CONVACC0.out 3 frames, then CONVACC0.out 1 frames")
    (line,) = text(write_word(unit("STRSWITCH"), 8 + 4 * 28, 1 | 6 << 1))
    assert line.endswith("ARITH0.x <- STRENG6.out")
    (line,) = text(write_word(unit("STRSWITCH"), 8 + 4 * 28, 1 | 63 << 1))
    assert line.endswith("ARITH0.x <- source 63")


def test_tables_have_eight_words_a_line() -> None:
    lines = text(write_many(unit("ARITH", 1), 0x400, list(range(10))))
    assert lines == [
        "  ARITH1.COEFF0        = 00000000 00000001 00000002 00000003 00000004 00000005 00000006 00000007",
        "  ARITH1.COEFF8        = 00000008 00000009",
    ]


def test_what_the_description_does_not_know_keeps_its_number() -> None:
    assert text(write_word(unit("CONVACC", 0), 0x3FC, 5)) == ["  CONVACC0+0x3FC       = 0x00000005"]
    assert text(write_word(45, 0, 5)) == ["  unit45+0x00          = 0x00000005"]


def test_a_blob_that_is_otherwise_the_same_differs_in_the_lines_of_what_was_inserted() -> None:
    before = text(label(1), write_word(unit("POOL"), 8, 3), label(2), write_word(unit("POOL"), 8, 4))
    after = text(
        label(1),
        write_word(unit("POOL"), 8, 3),
        write_word(unit("POOL"), 12, 9),
        label(2),
        write_word(unit("POOL"), 8, 4),
    )
    assert [line for line in after if line not in before] == ["  POOL0.FDIMS          = 0x00000009  FEATX=9"]


@pytest.mark.parametrize(
    ("words", "place", "what"),
    [
        ([*label(1), 5], 3, "0x00000005 has opcode 5, which is unknown"),
        ([*label(1)], 3, "the blob has no end"),
        ([*label(1), 12, 12], 4, "the blob ends here, but announces 1 words more"),
        ([0 | 31 << 10], 2, "1 of the 1 words of the instruction are missing"),
        ([3 | 9 << 5, 1, 2], 2, "7 of the 9 words of the instruction are missing"),
        ([0 | 9 << 5 | 8 << 10, 0, 12], 2, "is for bits 9 to 8"),
    ],
)
def test_a_damaged_blob_is_told_with_file_and_word(words: list[int], place: int, what: str) -> None:
    with pytest.raises(N6Error) as error:
        list(instructions(blob(words)))
    assert error.value.id == "N6-NPU-003"
    assert error.value.where == f"file.h: blob, word {place}"
    assert what in error.value.what


@given(
    st.lists(st.integers(0, 0xFFFF_FFFF), max_size=60), st.lists(st.sampled_from([0, 1, 2, 3, 4, 12, 29]), max_size=60)
)
def test_hostile_words_are_decoded_or_refused(words: list[int], opcodes: list[int]) -> None:
    hostile = [word & ~31 | opcode for word, opcode in zip(words, opcodes, strict=False)]
    for candidate in (words, hostile):
        try:
            lines = list(blob_lines(blob(candidate), NAMES))
        except N6Error as error:
            assert error.id == "N6-NPU-003"
        else:
            # There is at most a line for each word, and one for the blob.
            assert len(lines) <= len(candidate) + 1
            assert all(line.isprintable() for line in lines)


@functools.cache
def real_blobs() -> dict[int | None, list[Path]]:
    """Return the sample files with a blob, by container; None without one."""
    folder = samples_folder()
    found: dict[int | None, list[Path]] = {}
    for path in sorted(folder.rglob("*")) if folder else []:
        if path.suffix in {".h", ".bin"} and path.is_file() and has_blob(data := path.read_bytes()):
            found.setdefault(container_in(data), []).append(path)
    return found


def has_blob(data: bytes) -> bool:
    return b"uint64_t _ec_blob_" in data or struct.pack("<I", 0xCA057A7A) in data


def container_in(data: bytes) -> int | None:
    for layout in CONTAINERS:
        if f"{layout.magic:08x}UL".encode() in data or data.startswith(struct.pack("<I", layout.magic)):
            return layout.magic
    return None


@pytest.mark.parametrize(
    "container", [None, *(each.magic for each in CONTAINERS)], ids=lambda each: f"0x{each:08X}" if each else "plain"
)
def test_real_blobs_decode_without_remainder(container: int | None) -> None:
    files = real_blobs().get(container)
    if not files:
        pytest.skip("no samples with blobs of this container")
    for path in files:
        for each in read_blobs(path):
            decoded = list(instructions(each))
            assert decoded[-1] == End(len(each.words) - 1), each.where
            # The chip's description has everything that is in them.
            assert not [line for line in blob_lines(each, NAMES) if "+0x" in line or "unit" in line], each.where


def run_tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/npu_blob.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_tool_prints_text_json_and_a_list(tmp_path: Path) -> None:
    file = tmp_path / "blob.bin"
    file.write_bytes(as_bytes(assembled(label(3), write_word(unit("POOL", 1), 8, 3), END)))
    shown = run_tool(str(file))
    assert shown.stdout.splitlines() == [
        "blob blob.bin, 4 words",
        "label 3",
        "  POOL1.PDIMS          = 0x00000003  WINX=3",
        "end",
    ]
    (made,) = json.loads(run_tool(str(file), "--json").stdout)
    assert made["instructions"][1]["register"] == "POOL1.PDIMS"
    assert run_tool(str(file), "--list").stdout == "blob.bin  4 words\n"


def test_the_tool_prints_what_it_can_of_a_damaged_blob(tmp_path: Path) -> None:
    file = tmp_path / "blob.bin"
    file.write_bytes(as_bytes(assembled(label(3), [5], END)))
    shown = run_tool(str(file))
    assert shown.returncode == 2
    assert shown.stdout.splitlines() == ["blob blob.bin, 3 words", "label 3"]
    assert "N6-NPU-003" in shown.stderr
    assert "Traceback" not in shown.stderr
