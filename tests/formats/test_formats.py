"""C and Python agree on each format, because both use one description."""

from __future__ import annotations

import re
import subprocess
from enum import IntEnum
from pathlib import Path

import pytest
from c_assertions import assertions
from firmware_build import CPU, WARNINGS, compiler
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.c_format import Constant, Enumeration, Format, Kind, Member, Struct, header_text
from n6build.base.paths import FIRMWARE
from n6build.describe.formats import boot_header, link, model_trailer, slot_trailer
from n6build.steps.firmware_headers import FORMATS

BITS: dict[Kind, int] = {"uint8_t": 8, "uint16_t": 16, "uint32_t": 32}


def compiled(folder: Path, text: str, *headers: Format) -> str:
    """Compile C with the generated headers; return the compiler's messages."""
    for described in headers:
        (folder / described.header).write_text(header_text(described))
    (folder / "a.c").write_text(text)
    command = [
        compiler(),
        "-std=c11",
        *CPU,
        *WARNINGS,
        f"-I{folder}",
        f"-I{FIRMWARE / 'bring_up'}",
        "-c",
        "a.c",
        "-o",
        "a.o",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr


def test_every_format_has_a_header_of_its_own() -> None:
    assert [each.header for each in FORMATS] == [
        "n6_appli_trailer.h",
        "n6_boot_header.h",
        "n6_console_lines.h",
        "n6_encryption_format.h",
        "n6_epoch_marker.h",
        "n6_link_format.h",
        "n6_model_trailer.h",
        "n6_npu_blob.h",
        "n6_recovery_format.h",
        "n6_release_format.h",
        "n6_slot_trailer.h",
    ]


@pytest.mark.parametrize("described", FORMATS, ids=lambda each: each.header)
def test_the_compiler_places_members_where_python_does(described: Format, tmp_path: Path) -> None:
    assert compiled(tmp_path, assertions(described), described) == ""


MEMBERS = st.lists(st.tuples(st.sampled_from(list(BITS)), st.integers(0, 5)), min_size=1, max_size=8).map(
    lambda found: tuple(Member(f"m{i}", kind=kind, count=count) for i, (kind, count) in enumerate(found))
)


@given(MEMBERS, st.data())
def test_what_is_packed_is_unpacked(members: tuple[Member, ...], data: st.DataObject) -> None:
    struct = Struct("s", members)
    values = {each.name: data.draw(st.integers(0, 2 ** BITS[each.kind] - 1)) for each in members if not each.count}
    packed = struct.pack(**values)
    assert len(packed) == struct.size
    assert struct.unpack(b"in front" + packed + b"behind", 8) == values
    for name, value in values.items():
        bits = BITS[next(each.kind for each in members if each.name == name)]
        at = struct.offset_of(name)
        assert int.from_bytes(packed[at : at + bits // 8], "little") == value


@given(MEMBERS)
def test_the_offsets_of_any_struct_are_those_of_c(members: tuple[Member, ...]) -> None:
    """C leaves gaps by a rule.

    A gap is before a member that is not aligned to its size, and behind the last member up to the
    largest size.
    """
    struct = Struct("s", members)
    gaps = any(struct.offset_of(each.name) % (BITS[each.kind] // 8) for each in members)
    gaps = gaps or struct.size % max(BITS[each.kind] // 8 for each in members) != 0
    assert struct.is_packed == gaps


def test_a_member_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="revisoin"):
        model_trailer.TRAILER.pack(revisoin=1)
    with pytest.raises(KeyError, match="revisoin"):
        model_trailer.TRAILER.offset_of("revisoin")


class Two(IntEnum):
    ONE = 1


class Other(IntEnum):
    ONE = 2


LIES = [
    (Format("h.h", (), (Constant("A", 1),)), Format("h.h", (), (Constant("A", 2),)), "A == 2u"),
    (
        Format("h.h", (), (), (Enumeration("e", "E_", Two),)),
        Format("h.h", (), (), (Enumeration("e", "E_", Other),)),
        "E_ONE == 2u",
    ),
    (
        Format("h.h", (), structs=(Struct("s", (Member("a"), Member("b"))),)),
        Format("h.h", (), structs=(Struct("s", (Member("b"), Member("a"))),)),
        "offsetof\\(s, b\\) == 0u",
    ),
    (
        Format("h.h", (), structs=(Struct("s", (Member("a"), Member("b"))),)),
        Format("h.h", (), structs=(Struct("s", (Member("a"),)),)),
        "sizeof\\(s\\) == 4u",
    ),
]


@pytest.mark.parametrize(("written", "described", "message"), LIES, ids=["constant", "enumeration", "order", "size"])
def test_a_header_that_says_something_else_does_not_compile(
    written: Format, described: Format, message: str, tmp_path: Path
) -> None:
    assert re.search(
        f'static assertion failed: "{message.split(" ==", maxsplit=1)[0]}"',
        compiled(tmp_path, assertions(described), written),
    )


def test_sizes_and_magics_are_those_of_boards_in_the_field() -> None:
    """A change of these needs another magic or layout.

    It would be a change of the content of boards.
    """
    assert (boot_header.BASE.size, boot_header.HEADER_BYTES) == (0xA0, 0x240)
    assert (slot_trailer.TRAILER.size, slot_trailer.MAGIC, slot_trailer.ALIGNMENT) == (16, b"N6IM", 16)
    assert (model_trailer.TRAILER.size, model_trailer.MAGIC, model_trailer.ALIGNMENT) == (48, b"N6MD", 16)
    assert link.OUTPUT_REQUEST.pack(index=1, offset=0x0403, size=200) == b"\1\3\4\0\0\xc8"
