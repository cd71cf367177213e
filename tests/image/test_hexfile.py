"""The hex file of all images in flash: intelhex's bytes, without holding them."""

from __future__ import annotations

import io
import tempfile
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from intelhex import IntelHex
from n6build.base.errors import N6Error
from n6build.base.files import sha256, write_chunks_atomically
from n6build.place.image.hexfile import hex_chunks
from n6build.place.image.manifest import Segment

PAGE = 1 << 16
BASE = 0x7000_0000

Parts = list[tuple[int, bytes]]


def segments_of(folder: Path, parts: Parts) -> list[Segment]:
    segments = []
    for index, (address, data) in enumerate(parts):
        file = f"{index}.bin"
        (folder / file).write_bytes(data)
        segments.append(Segment(f"part{index}", file, address, len(data), sha256(data)))
    return segments


def written(parts: Parts) -> bytes:
    with tempfile.TemporaryDirectory() as name:
        return b"".join(hex_chunks(segments_of(Path(name), parts), Path(name)))


def by_intelhex(parts: Parts) -> bytes:
    image = IntelHex()
    for address, data in parts:
        image.frombytes(data, offset=address)
    text = io.StringIO()
    image.write_hex_file(text)
    return text.getvalue().encode()


@st.composite
def apart_or_adjacent(draw: st.DrawFn, large: Sequence[int] = ()) -> Parts:
    """Draw parts in any order, adjacent or with gaps, around ends of pages.

    Some have one of the large sizes.
    """
    address = draw(st.sampled_from([0, PAGE - 40, BASE, BASE + PAGE - 9])) + draw(st.integers(0, 40))
    sizes = st.integers(0, 70) | st.sampled_from(large or [PAGE // 64])
    gaps = st.sampled_from([0, 0, 1, 15, 16, 17, PAGE - 20, 3 * PAGE])
    parts = []
    for size, gap in draw(st.lists(st.tuples(sizes, gaps), max_size=5)):
        data = (draw(st.binary(min_size=1, max_size=40)) * size)[:size]
        parts.append((address, data))
        address += size + gap
    return draw(st.permutations(parts))


@settings(deadline=None, max_examples=40)
@given(apart_or_adjacent())
@example([(PAGE - 1, b"x")])
@example([(PAGE - 1, b"xy")])
@example([(BASE, b"page" * (PAGE // 4)), (BASE + PAGE, b"next")])
@example([(BASE + 5 * PAGE, b"behind"), (BASE + PAGE - 9, b"over three pages".ljust(2 * PAGE + 1, b"."))])
def test_the_bytes_are_those_of_intelhex_and_read_back_as_the_segments(parts: Parts) -> None:
    assert_as_intelhex(parts)


# test_the_bytes_are_those_of_intelhex_and_read_back_as_the_segments has an example of each size, since intelhex takes
# long for them.
@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(apart_or_adjacent([PAGE - 8, PAGE, 2 * PAGE + 1]))
def test_parts_over_several_pages_are_as_intelhex_writes_them(parts: Parts) -> None:
    assert_as_intelhex(parts)


def assert_as_intelhex(parts: Parts) -> None:
    data = written(parts)
    assert data == by_intelhex(parts)
    read = IntelHex(io.StringIO(data.decode()))
    for address, part in parts:
        assert not part or read.tobinstr(start=address, size=len(part)) == part
    assert len(read) == sum(len(part) for _, part in parts)


def test_the_text_at_once_is_the_pieces_together(tmp_path: Path) -> None:
    parts = [(BASE, bytes(range(256)) * 300), (BASE + 0x10_0000, b"appli")]
    segments = segments_of(tmp_path, parts)
    assert b"".join(hex_chunks(segments, tmp_path)) == written(parts)
    assert len(list(hex_chunks(segments, tmp_path))) == 4


@pytest.mark.parametrize(
    "parts",
    [
        [(BASE, bytes(5000)), (BASE + 4096, bytes(10))],
        [(BASE + 4096, bytes(10)), (BASE, bytes(4097))],
        [(BASE, b"equal"), (BASE, b"equal")],
        [(BASE, bytes(3 * PAGE)), (BASE + 2 * PAGE, b"x")],
    ],
)
def test_segments_that_overlap_leave_no_hex_file(tmp_path: Path, parts: Parts) -> None:
    segments = segments_of(tmp_path, parts)
    with pytest.raises(N6Error, match=r"part\d overlaps part\d") as caught:
        write_chunks_atomically(tmp_path / "all.hex", hex_chunks(segments, tmp_path))
    assert caught.value.id == "N6-IMAGE-006"
    assert not list(tmp_path.glob("*.hex"))


def test_a_segment_whose_file_is_gone(tmp_path: Path) -> None:
    segments = segments_of(tmp_path, [(BASE, b"x")])
    (tmp_path / "0.bin").unlink()
    with pytest.raises(N6Error, match="N6-FILE-002"):
        hex_chunks(segments, tmp_path)


def test_large_weights_take_no_memory(tmp_path: Path) -> None:
    segments = segments_of(tmp_path, [(BASE + 100, bytes(2 << 20))])
    tracemalloc.start()
    try:
        write_chunks_atomically(tmp_path / "all.hex", hex_chunks(segments, tmp_path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 << 20
