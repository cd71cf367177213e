"""Intel hex files: those that intelhex reads, and merged ones that it refuses."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intelhex import IntelHex, Record
from n6build.base.errors import N6Error
from n6build.base.intel_hex import HexMemory, read_intel_hex

MOST = 1 << 20
EOF = Record.eof()


def read(folder: Path, text: str | bytes, most: int = MOST) -> HexMemory:
    path = folder / "given.hex"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_intel_hex(path, most)


def held(memory: HexMemory) -> dict[int, int]:
    return {
        address: byte
        for span in memory.spans()
        for address, byte in enumerate(b"".join(memory.chunks(span.address, span.end)), span.address)
    }


def by_intelhex(lines: list[str]) -> dict[int, int] | None:
    """Return the bytes by address, or None for two different bytes at an address.

    The records are read one by one, so that intelhex need not accept two of a kind.
    """
    found: dict[int, int] = {}
    base = ""
    for line in lines:
        if line[7:9] in ("02", "04"):
            base = line
        elif line[7:9] == "01":
            base = ""
        elif line[7:9] == "00":
            image = IntelHex()
            image.loadhex(io.StringIO(f"{base}\n{line}\n{EOF}\n"))
            for address in image.addresses():
                if found.setdefault(address, image[address]) != image[address]:
                    return None
    return found


LINES = st.lists(
    st.builds(
        lambda at, part: Record.data(at, list(part)),
        st.integers(0, 300) | st.integers(0xFFC0, 0xFFFF),
        st.binary(min_size=1, max_size=20) | st.sampled_from([b"\0", b"\0\0"]),
    )
    | st.sampled_from([0, 0x7038, 0x7039, 0x703C]).map(Record.extended_linear_address)
    | st.sampled_from(
        [
            Record.extended_segment_address(0xFFF),
            Record.start_linear_address(1),
            Record.start_segment_address(1, 2),
            EOF,
        ]
    ),
    max_size=12,
)


@settings(deadline=None)
@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", " \n", "\n\n"]))
def test_it_holds_what_each_record_says(tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str) -> None:
    expected = by_intelhex(lines)
    try:
        memory = read(tmp_path_factory.mktemp("hex"), "".join(line + end for line in lines))
    except N6Error as error:
        assert (error.id, expected) == ("N6-HEX-001", None)
        return
    assert held(memory) == expected
    assert (memory.start, memory.end) == ((min(expected), max(expected) + 1) if expected else (0, 0))
    spans = memory.spans()
    assert all(before.end < after.address for before, after in itertools.pairwise(spans))


@settings(deadline=None)
@given(data=st.binary(max_size=300) | st.text(alphabet=":0123456789ABCDEF\n ", max_size=300).map(str.encode))
def test_anything_else_is_refused_with_its_line(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    try:
        memory = read(tmp_path_factory.mktemp("hex"), data)
    except N6Error as error:
        assert error.id == "N6-HEX-001"
        assert error.where is not None
        assert error.where.startswith("given.hex:")
    else:
        assert not held(memory) or b":" in data


def test_a_merged_file_with_two_start_records_is_read_as_a_whole(tmp_path: Path) -> None:
    lines = [Record.extended_linear_address(0x7000), Record.data(0, [1, 2]), Record.start_linear_address(0x34180401)]
    lines += [Record.extended_linear_address(0x7010), Record.data(0, [3]), Record.start_linear_address(0x34000401), EOF]
    memory = read(tmp_path, "\n".join(lines))
    assert held(memory) == {0x7000_0000: 1, 0x7000_0001: 2, 0x7010_0000: 3}


def test_files_one_after_another_are_one_file(tmp_path: Path) -> None:
    one = [Record.extended_linear_address(0x7000), Record.data(0, [1]), EOF]
    other = [Record.data(0x10, [2]), EOF]
    assert held(read(tmp_path, "\n".join(one + other))) == {0x7000_0000: 1, 0x10: 2}


def test_the_same_bytes_twice_are_accepted_and_others_are_not(tmp_path: Path) -> None:
    assert held(read(tmp_path, f"{Record.data(4, [1, 2])}\n{Record.data(5, [2, 3])}\n")) == {4: 1, 5: 2, 6: 3}
    with pytest.raises(N6Error, match=r"given.hex:2: error N6-HEX-001: .* overlap at address 0x5"):
        read(tmp_path, f"{Record.data(4, [1, 2])}\n{Record.data(5, [9])}\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("firmware", "does not begin with a colon"),
        (":00", "has 1 bytes, but its length field means 5"),
        (":zz", "not an Intel hex file"),
        (Record.data(0, [1, 2, 3])[:-2] + "00", "invalid checksum"),
        (":0000000600FA"[:9] + "06FA", "not an Intel hex file"),
        (":00000006FA", "of type 6 with 0 bytes"),
        (":0100000400FB", "of type 4 with 1 bytes"),
        (":" + "0" * 2000, "has 299 bytes|not an Intel hex file"),
    ],
)
def test_what_is_wrong_with_a_line_is_told(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(N6Error, match=message) as caught:
        read(tmp_path, f"{Record.data(0, [1])}\n\n{line}\n")
    assert (caught.value.id, caught.value.where) == ("N6-HEX-001", "given.hex:3")


def test_its_size_is_bounded_before_and_while_it_is_read(tmp_path: Path) -> None:
    far = [part for page in range(8) for part in (Record.extended_linear_address(page), Record.data(0, [1]))]
    with pytest.raises(N6Error, match="N6-HEX-001: .*more than 1000 bytes, or they are too far apart"):
        read(tmp_path, "\n".join(far), most=1000)
    with pytest.raises(N6Error, match="N6-FILE-003"):
        read(tmp_path, "\n" * 4000, most=1000)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-FILE-002"):
        read_intel_hex(tmp_path / "none.hex", MOST)
