"""Blobs of the epoch controller, found in files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.formats.npu_blob import CONTAINERS, MAGIC
from n6build.judge.npu.blobs import MOST_WORDS, Blob, blobs_in_binary, blobs_in_header, read_blobs
from samples import sample
from virtual_board.npu.model import END, as_bytes, assembled, label

WORDS = assembled(label(1), END)
# A version of the container, and the smallest container of this version.
CONTAINER = CONTAINERS[-1].magic
IN_CONTAINER = [CONTAINER, 0, 0, 0, 32, 0, 0, 0, *WORDS]


def header(words: list[int], name: str = "_ec_blob_network_1") -> str:
    """Return a header in the form of ST's compiler."""
    padded = words + [0] * (len(words) % 2)
    items = [f"0x{high:08x}{low:08x}UL" for low, high in zip(padded[::2], padded[1::2], strict=True)]
    lines = ["  " + ", ".join(items[at : at + 4]) + "," for at in range(0, len(items), 4)]
    body = "\n".join(lines)
    return f"""
// {name} blob binary, aligned to the cache line size (equal to 64 bytes)
__attribute__((aligned(64)))
static const uint64_t {name}[{len(items)}] =
{{
{body}
}};
static uint64_t {name}_copy[{len(items)}];
"""


def test_a_header_has_its_blobs_in_order() -> None:
    text = header(WORDS, "_ec_blob_network_1") + header(WORDS, "_ec_blob_network_14")
    blobs = blobs_in_header(text, "network_ecblobs.h")
    assert blobs == (
        Blob("_ec_blob_network_1", "network_ecblobs.h: _ec_blob_network_1", (29 | 1 << 5, 12), 2, relocatable=False),
        Blob("_ec_blob_network_14", "network_ecblobs.h: _ec_blob_network_14", (29 | 1 << 5, 12), 2, relocatable=False),
    )


def test_a_relocatable_blob_stands_in_a_container() -> None:
    (blob,) = blobs_in_header(header(IN_CONTAINER), "network_ecblobs.h")
    assert (blob.words, blob.at, blob.relocatable) == ((29 | 1 << 5, 12), 10, True)


def test_comments_in_an_array_are_not_numbers() -> None:
    text = header(WORDS).replace("UL,", "UL, /* 0x1234UL, */ // 99\n", 1)
    assert blobs_in_header(text, "network_ecblobs.h")[0].words == (29 | 1 << 5, 12)


def test_a_binary_may_be_a_blob_a_container_or_have_blobs_somewhere() -> None:
    for data, relocatable in (
        (as_bytes(WORDS), [False]),
        (as_bytes(IN_CONTAINER), [True]),
        (b"\0" * 24 + as_bytes(WORDS) + b"model" + b"\0" * 3 + as_bytes(WORDS) + b"\1", [False, False]),
        # A program compares with the magic number, and any bytes follow.
        (b"\0" * 8 + as_bytes([MAGIC, 0x20, MAGIC, 0xFFFF_FFFF, MAGIC, 1, 0]) + b"\0" * 20 + as_bytes(WORDS), [False]),
    ):
        blobs = blobs_in_binary(data, "blob.bin")
        assert [blob.words for blob in blobs] == [(29 | 1 << 5, 12)] * len(relocatable)
        assert [blob.relocatable for blob in blobs] == relocatable


def test_what_merely_looks_like_the_magic_number_is_not_aligned() -> None:
    data = b"\0" * 4 + as_bytes(WORDS)
    with pytest.raises(N6Error, match="no blob"):
        blobs_in_binary(data, "blob.bin")


def test_a_file_says_itself_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "network_ecblobs.h").write_text(header(WORDS))
    (tmp_path / "blob.bin").write_bytes(as_bytes(WORDS))
    assert read_blobs(tmp_path / "network_ecblobs.h")[0].words == read_blobs(tmp_path / "blob.bin")[0].words


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "is empty; a blob begins with 0xCA057A7A"),
        ([1, 2], "begins with 0x00000001; a blob begins with 0xCA057A7A"),
        ([MAGIC, 99, 12, 0], "announces 99 words, 97 more than it has"),
        ([MAGIC, MOST_WORDS + 1, 12, 0], "has more than 1048576 words"),
        ([CONTAINER, 0, 0, 0, 4000, 0], "places its blob at byte 4000, but has 24 bytes"),
        ([CONTAINER, 0, 0, 0, 3, 0], "places its blob at byte 3"),
        ([CONTAINER, 0], "the container has 2 of the 6 words of its header"),
    ],
)
def test_a_damaged_blob_is_told_with_file_and_array(words: list[int], what: str) -> None:
    with pytest.raises(N6Error) as error:
        blobs_in_header(header(words), "network_ecblobs.h")
    assert error.value.id == "N6-NPU-002"
    assert what in error.value.what
    assert str(error.value.where).startswith("network_ecblobs.h: _ec_blob_network_1")


def test_what_is_not_a_number_is_told_with_its_line() -> None:
    with pytest.raises(N6Error) as error:
        blobs_in_header(header(WORDS).replace("0x", "zx", 1), "network_ecblobs.h")
    assert error.value.id == "N6-NPU-002"
    assert str(error.value.where).endswith("line 6")


def test_a_file_without_blobs_is_told(tmp_path: Path) -> None:
    for content in (b"int main;", b"uint64_t _ec_blob_a[];", b""):
        (tmp_path / "main.c").write_bytes(content)
        with pytest.raises(N6Error, match="error N6-NPU-001: "):
            read_blobs(tmp_path / "main.c")


@given(st.binary(max_size=400), st.integers(0, 5), st.integers(0, 0xFFFF_FFFF))
def test_hostile_binaries_are_read_or_refused(data: bytes, place: int, count: int) -> None:
    at = 8 * place
    hostile = data[:at] + struct.pack("<II", MAGIC, count) + data[at:]
    for content in (data, hostile):
        try:
            blobs = blobs_in_binary(content, "blob.bin")
        except N6Error as error:
            assert error.id in {"N6-NPU-001", "N6-NPU-002"}
        else:
            assert 4 * sum(len(blob.words) for blob in blobs) <= len(content)


@given(st.text(max_size=300), st.text("0xUL123abc,{}[]=; \n*/", max_size=200))
def test_hostile_headers_are_read_or_refused(before: str, inside: str) -> None:
    text = f"{before} uint64_t _ec_blob_a[1] = {{ {inside} }};"
    try:
        blobs_in_header(text, "network_ecblobs.h")
    except N6Error as error:
        assert error.id in {"N6-NPU-001", "N6-NPU-002"}


@pytest.mark.parametrize("piece", ["/*", "uint64_t _ec_blob_a[1] = ", "//", "0x1UL,"])
def test_the_time_for_a_large_header_grows_with_its_length(piece: str) -> None:
    """A search that starts again at every place would take hours for this text."""
    text = "uint64_t _ec_blob_a[1] = {" + piece * (1 << 20)
    with pytest.raises(N6Error):
        blobs_in_header(text, "network_ecblobs.h")


def test_the_blob_of_a_real_network_is_found() -> None:
    (blob,) = read_blobs(sample("npu/reid-mobilenetv2-core-3.0") / "reid_ecblobs.h")
    assert (blob.name, blob.relocatable, len(blob.words)) == ("_ec_blob_reid_1", True, 30_366)
