"""Files of third-party programs: their places in flash, and errors."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from firmware_build import BOARD
from hypothesis import given, settings
from hypothesis import strategies as st
from intelhex import IntelHex
from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, VERSION_2_1, BinaryType
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.elf_reader import loaded_parts
from n6build.place.image.foreign import Piece, Role, elf_of, flash_pieces, started_program
from n6build.place.image.program_board import program_board
from n6build.place.memory_plan.whole_image import check_program

DK = load_board("stm32n6570-dk")
NOR, APPLI = 0x70000000, 0x70100000
FSBL_RUNS, APPLI_RUNS, IN_PLACE, PSRAM = 0x34180400, 0x34000400, 0x70100400, 0x90000400
OFFSET = 0x400


def program(address: int, more: bytes = b"\xfe\xe7" * 20) -> bytes:
    return struct.pack("<II", 0x34200000, address + 9) + more


def elf(*parts: tuple[int, bytes]) -> bytes:
    """Return a 32-bit ELF file with a loadable segment for each part."""
    header = 52 + 32 * len(parts)
    heads, content = b"", b""
    for address, data in parts:
        heads += struct.pack("<8I", 1, header + len(content), 0x2000_0000, address, len(data), len(data), 5, 4)
        content += data
    ident = b"\x7fELF\1\1\1".ljust(16, b"\0")
    return ident + struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0, 52, 0, 0, 52, 32, len(parts), 40, 0, 0) + heads + content


def hex_of(*parts: tuple[int, bytes]) -> bytes:
    image = IntelHex()
    for address, data in parts:
        image.puts(address, data)
    text = "\n".join(_records(image))
    return text.encode()


def _records(image: IntelHex) -> list[str]:
    import io

    text = io.StringIO()
    image.write_hex_file(text)
    return text.getvalue().splitlines()


def pieces(
    folder: Path,
    data: bytes,
    role: Role,
    *,
    address: int | None = None,
    ours: bool = False,
    board: Board = BOARD,
    name: str = "theirs.x",
) -> list[Piece]:
    path = folder / name
    path.write_bytes(data)
    return flash_pieces(path, role, program_board(board), address, copied_by_ours=ours)


FORMS = [
    ("bin", program),
    ("elf", lambda address: elf((address, program(address)))),
    ("hex", lambda address: hex_of((address, program(address)))),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
@pytest.mark.parametrize(
    ("role", "address", "slot", "kind"),
    [
        ("fsbl", FSBL_RUNS, NOR, BinaryType.FSBL),
        ("appli", APPLI_RUNS, APPLI, BinaryType.SSBL),
        ("appli", IN_PLACE, APPLI, BinaryType.SSBL),
        ("appli", PSRAM, APPLI, BinaryType.SSBL),
    ],
)
def test_an_unsigned_program_gets_a_header_for_its_place(  # type: ignore[no-untyped-def]
    tmp_path: Path, form, role: Role, address: int, slot: int, kind: BinaryType
) -> None:
    (piece,) = pieces(tmp_path, form[1](address), role, board=DK)
    assert piece.address == slot
    check_program(piece.data, kind, OFFSET, "piece")
    assert BASE.unpack(piece.data)["entry"] == address + 9
    assert piece.data[OFFSET:] == program(address)


def signed(address: int, kind: BinaryType = BinaryType.SSBL, version: int | None = None) -> bytes:
    image = bytearray(with_boot_header(program(address), address, kind, OFFSET))
    if version is not None:
        struct.pack_into("<I", image, BASE.offset_of("version"), version)
    return bytes(image)


def test_a_signed_image_goes_in_as_it_is_with_its_padding(tmp_path: Path) -> None:
    for image in (signed(FSBL_RUNS), signed(FSBL_RUNS, version=VERSION_2_1), signed(FSBL_RUNS) + b"\xff" * 300):
        assert pieces(tmp_path, image, "fsbl") == [Piece(NOR, image)]
        assert pieces(tmp_path, image, "appli") == [Piece(APPLI, image)]


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (signed(APPLI_RUNS)[:-1], "announces .* bytes after the header, but the file has"),
        (signed(APPLI_RUNS)[:-1] + b"\x55", "its bytes add up to"),
        (signed(APPLI_RUNS, version=0x20200), "header version 0x00020200"),
        (signed(APPLI_RUNS)[: HEADER_BYTES - 1], "too few for a boot header"),
        (signed(APPLI_RUNS)[:HEADER_BYTES], "bytes after the header, but the file has 0"),
    ],
)
def test_a_damaged_signed_image_is_refused(tmp_path: Path, image: bytes, message: str) -> None:
    with pytest.raises(N6Error, match=f"N6-IMAGE-004: .*{message}|{message}"):
        pieces(tmp_path, image, "appli")


@pytest.mark.parametrize("address", [IN_PLACE, PSRAM])
def test_our_fsbl_starts_no_appli_that_runs_elsewhere(tmp_path: Path, address: int) -> None:
    for data in (
        signed(address),
        program(address),
        elf((address, program(address))),
        hex_of((address, program(address))),
        hex_of((APPLI, signed(address))),
    ):
        with pytest.raises(N6Error, match="N6-FOREIGN-004: runs at .* copies an Appli to 0x34000000"):
            pieces(tmp_path, data, "appli", ours=True, board=DK)
    assert pieces(tmp_path, program(APPLI_RUNS), "appli", ours=True)


def test_a_hex_file_says_where_all_of_it_goes(tmp_path: Path) -> None:
    everything = [(NOR, signed(FSBL_RUNS)), (APPLI, signed(APPLI_RUNS)), (0x70180000, b"weights")]
    assert pieces(tmp_path, hex_of(*everything), "fsbl") == [Piece(*part) for part in everything]
    assert pieces(tmp_path, hex_of((APPLI_RUNS, program(APPLI_RUNS)), (0x70180000, b"w")), "appli")[1:] == [
        Piece(0x70180000, b"w")
    ]


def test_a_program_in_place_without_a_header_stays_where_it_is(tmp_path: Path) -> None:
    assert pieces(tmp_path, hex_of((APPLI, program(APPLI))), "appli") == [Piece(APPLI, program(APPLI))]


def test_pieces_begin_with_a_sector_and_share_none(tmp_path: Path) -> None:
    data = hex_of((0x70180010, b"a"), (0x70180020, b"b"), (0x701A0000, b"c"))
    wanted = b"\xff" * 16 + b"a" + b"\xff" * 15 + b"b"
    assert pieces(tmp_path, data, "data") == [Piece(0x70180000, wanted), Piece(0x701A0000, b"c")]


def test_data_goes_where_it_is_told(tmp_path: Path) -> None:
    assert pieces(tmp_path, b"weights", "data", address=0x70180000) == [Piece(0x70180000, b"weights")]
    assert pieces(tmp_path, b"", "data", address=0x70180000) == []


@pytest.mark.parametrize(
    ("data", "role", "address", "id"),
    [
        (b"x", "data", 0x34000000, "N6-FOREIGN-001"),
        (b"x" * 10, "data", 0x73FFFFFC, "N6-FOREIGN-001"),
        (hex_of((0x34000000, b"x")), "data", None, "N6-FOREIGN-001"),
        (elf((APPLI_RUNS, b"12345678")), "data", None, "N6-FOREIGN-002"),
        (b":00000001FF\n", "appli", None, "N6-FOREIGN-002"),
        (b"text that is no program", "appli", None, "N6-FOREIGN-002"),
        (b"short", "fsbl", None, "N6-FOREIGN-002"),
        (program(0x20000400), "appli", None, "N6-FOREIGN-002"),
        (b"x", "data", None, "N6-FOREIGN-003"),
        (elf((APPLI_RUNS, program(APPLI_RUNS))), "fsbl", None, "N6-FOREIGN-005"),
        (hex_of((0x70200000, b"x")), "fsbl", None, "N6-FOREIGN-005"),
        (elf((APPLI_RUNS, program(APPLI_RUNS)), (0x20000000, b"far")), "appli", None, "N6-FOREIGN-006"),
        (hex_of((APPLI_RUNS, program(APPLI_RUNS)), (APPLI + 16, b"under")), "appli", None, "N6-FOREIGN-006"),
        (elf(), "appli", None, "N6-IMAGE-001"),
        (elf((APPLI_RUNS, program(APPLI_RUNS)))[:-1], "appli", None, "N6-IMAGE-001"),
        (b"\x7fELF", "appli", None, "N6-IMAGE-001"),
        (elf((APPLI_RUNS, struct.pack("<II", 0, APPLI_RUNS + 8) + b"\0" * 8)), "appli", None, "N6-IMAGE-003"),
        (b":0000", "fsbl", None, "N6-HEX-001"),
    ],
)
def test_what_cannot_work_is_said(tmp_path: Path, data: bytes, role: Role, address: int | None, id: str) -> None:
    with pytest.raises(N6Error, match=id) as caught:
        pieces(tmp_path, data, role, address=address)
    assert caught.value.where


@settings(deadline=None)
@given(
    head=st.sampled_from([b"", b"STM2", b"\x7fELF\1\1\1", b":", elf((APPLI_RUNS, program(APPLI_RUNS)))]),
    data=st.binary(max_size=200),
    cut=st.integers(0, 100),
    role=st.sampled_from(["fsbl", "appli", "data"]),
)
def test_no_file_whatever_it_holds_is_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, head: bytes, data: bytes, cut: int, role: Role
) -> None:
    mixed = bytearray(head + data)
    if len(mixed) > cut:
        mixed[cut] ^= 0x41
    try:
        found = pieces(tmp_path_factory.mktemp("any"), bytes(mixed), role, address=0x70180000)
    except N6Error:
        return
    assert all(NOR <= piece.address <= piece.end <= NOR + BOARD.nor.size for piece in found)


@pytest.mark.parametrize("form", [*FORMS, ("signed", signed)], ids=lambda form: form[0])
@pytest.mark.parametrize(
    ("ours", "address"), [(True, APPLI_RUNS), (False, APPLI_RUNS), (False, IN_PLACE), (False, PSRAM)]
)
def test_the_vector_table_of_a_program_is_read_from_any_form(  # type: ignore[no-untyped-def]
    tmp_path: Path, form, *, ours: bool, address: int
) -> None:
    (tmp_path / "theirs.x").write_bytes(form[1](address))
    found = started_program(tmp_path / "theirs.x", "appli", program_board(DK), copied_by_ours=ours)
    assert found is not None
    assert (found.address, found.bytes) == (address, len(program(address)))
    assert (found.stack, found.reset) == (0x34200000, address + 9)
    assert found.vectors[:3] == (0x34200000, address + 9, 0xE7FEE7FE)


def test_where_a_program_runs_that_another_fsbl_copies_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "theirs.x").write_bytes(signed(0x3410_0400))
    found = started_program(tmp_path / "theirs.x", "appli", program_board(BOARD), copied_by_ours=False)
    assert found is not None
    assert found.address is None
    (tmp_path / "theirs.x").write_bytes(hex_of((NOR + 0x80_0000, b"weights")))
    assert started_program(tmp_path / "theirs.x", "appli", program_board(BOARD), copied_by_ours=False) is None


def test_the_elf_file_of_a_program_is_found_beside_it(tmp_path: Path) -> None:
    assert elf_of(tmp_path / "app-trusted.bin") is None
    (tmp_path / "app.elf").write_bytes(b"")
    for name in ("app.bin", "app-trusted.bin", "app_signed.bin", "app.hex", "app.elf"):
        assert elf_of(tmp_path / name) == tmp_path / "app.elf"


def test_headers_of_an_elf_file_are_no_part_of_its_program(tmp_path: Path) -> None:
    """The linker leaves them in the first segment without --nmagic."""
    (tmp_path / "a.c").write_text(
        '__attribute__((section(".vectors"))) const unsigned vectors[4] = {1, APPLI, 3, 4};\n'
    )
    (tmp_path / "a.ld").write_text(
        "SECTIONS { . = APPLI_RUNS; .vectors : { KEEP(*(.vectors)) } }\n".replace("APPLI_RUNS", f"0x{APPLI_RUNS:X}")
    )
    path = tmp_path / "a.elf"
    command = [
        "arm-none-eabi-gcc",
        f"-DAPPLI={APPLI_RUNS + 1}",
        "-nostdlib",
        "-Wl,-z,max-page-size=4096",
        "-T",
        "a.ld",
        "-o",
        "a.elf",
        "a.c",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    ((address, data),) = loaded_parts(path, 1 << 20, 1 << 20)
    assert (address, len(data)) == (APPLI_RUNS, 16)
    assert data[:4] == b"\1\0\0\0"
