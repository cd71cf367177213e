"""Programs that the boot ROM starts, and the chip's state at their start.

The tests check its console, the fuses and the memories.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from firmware_build import BOARD, build_fsbl, image_of
from n6build.board.virtual_board.run import Limits, RunResult
from n6build.describe.formats.boot_header import AUTHENTICATION, BASE, HEADER_BYTES, BinaryType
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.fuse import Fuse
from n6build.place.image.rom_keys import read_rom_keys, rom_key_digest
from n6build.place.trust.keys import signature
from n6build.place.trust.sign import with_signature
from trust.rom_signer import private_key, rom_keys, signed

from virtual_board.small_programs import PROGRAMS, boot, boot_program, line_of

PROGRAM = PROGRAMS / "says_hello.c"
NOTHING = ["-DDOES=NOTHING"]
SECOND_SLOT = 0x40000
ENTRY, VERSION = 0x070, 0x068


def line_with(text: str) -> str:
    return line_of(PROGRAM.name, text)


def run(tmp_path: Path, does: str, board: Board = BOARD) -> RunResult:
    return boot_program(tmp_path, PROGRAM.name, f"DOES={does}", board=board)


def test_a_program_is_started_and_heard(tmp_path: Path) -> None:
    result = run(tmp_path, "NOTHING")
    assert (result.lines, result.findings, result.unmodelled) == (("hello", "end"), (), ())


def test_the_second_place_is_looked_at_if_the_first_holds_nothing(tmp_path: Path) -> None:
    elf = build_fsbl(tmp_path, PROGRAM, NOTHING)
    result = boot(tmp_path, {BOARD.nor.base + SECOND_SLOT: image_of(elf, BinaryType.FSBL)}, [elf])
    assert result.lines == ("hello", "end")


def test_headers_for_earlier_silicon_are_accepted(tmp_path: Path) -> None:
    elf = build_fsbl(tmp_path, PROGRAM, NOTHING)
    image = bytearray(image_of(elf, BinaryType.FSBL))
    struct.pack_into("<I", image, VERSION, 0x0002_0100)
    assert boot(tmp_path, {BOARD.nor.base: bytes(image)}, [elf]).lines == ("hello", "end")


def test_it_starts_at_the_entry_whether_or_not_a_vector_table_says_so(tmp_path: Path) -> None:
    elf = build_fsbl(tmp_path, PROGRAM, NOTHING)
    image = bytearray(image_of(elf, BinaryType.FSBL))
    vectors = BOARD.soc.boot.payload_offset
    stack, reset = struct.unpack_from("<II", image, vectors)
    struct.pack_into("<II", image, vectors, 0, 0)
    # The checksum is the sum of all bytes behind the header.
    (checksum,) = struct.unpack_from("<I", image, 0x64)
    removed = sum(struct.pack("<II", stack, reset))
    struct.pack_into("<I", image, 0x64, checksum - removed)
    assert boot(tmp_path, {BOARD.nor.base: bytes(image)}, [elf]).lines == ("hello", "end")


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (0x000, 0xFFFF_FFFF, "the image begins with 0xffffffff"),
        (0x068, 0x0002_0200, "the header has version 0x00020200, not 0x00020300"),
        (0x06C, 0x0010_0000, "1048576 bytes follow the header, at most"),
        (0x064, 0x0000_0001, "the header has 0x00000001"),
        (0x070, 0x3418_0001, "entry 0x34180001 is outside the image"),
    ],
    ids=["nothing there", "header 2.2", "too long", "checksum", "entry"],
)
def test_the_boot_rom_says_why_it_starts_nothing(tmp_path: Path, offset: int, value: int, message: str) -> None:
    elf = build_fsbl(tmp_path, PROGRAM, NOTHING)
    image = bytearray(image_of(elf, BinaryType.FSBL))
    struct.pack_into("<I", image, offset, value)
    result = boot(tmp_path, {BOARD.nor.base: bytes(image)}, [elf])
    assert [finding.kind for finding in result.findings] == ["boot-rom"]
    assert message in result.findings[0].text


def test_an_image_signed_without_align_is_named_before_it_crashes(tmp_path: Path) -> None:
    elf = build_fsbl(tmp_path, PROGRAM, NOTHING)
    image = bytearray(image_of(elf, BinaryType.FSBL))
    payload = image[BOARD.soc.boot.payload_offset :]
    # The checksum stays the same: only zeros are left out.
    struct.pack_into("<I", image, 0x6C, len(payload))
    result = boot(tmp_path, {BOARD.nor.base: bytes(image[:HEADER_BYTES] + payload)}, [elf])
    assert result.findings[0].kind == "boot-rom"
    assert result.findings[0].text == (
        "The FSBL was signed without -align: its vector table is at 0x240 of the image, the chip expects it at 0x400"
    )
    assert "hello" not in result.lines


SILENT = [
    ("WRONG_FUNCTION", "USART1 is written while PE5, the board's TX pin, is not set to it (alternate function 7)"),
    ("OTHER_PIN", "USART1 is written while PE5, the board's TX pin, is not set to it (alternate function 7)"),
]


@pytest.mark.parametrize(
    ("does", "text"),
    [SILENT[0], *(pytest.param(*case, marks=pytest.mark.slow) for case in SILENT[1:])],
    ids=[case[0] for case in SILENT],
)
def test_a_console_on_another_pin_or_function_prints_nothing(tmp_path: Path, does: str, text: str) -> None:
    result = run(tmp_path, does)
    assert result.lines == ()
    assert [(finding.kind, finding.text) for finding in result.findings] == [("console", text)]


def test_a_console_at_another_rate_prints_garbage(tmp_path: Path) -> None:
    result = run(tmp_path, "WRONG_DIVISOR")
    assert "hello" not in "".join(result.lines)
    (finding,) = result.findings
    assert finding.text.startswith("USART1 sends 16443 bits a second, but the terminal reads 115200: garbage")


def test_fuses_are_those_of_the_board(tmp_path: Path) -> None:
    board = dataclasses.replace(BOARD, fuses=(Fuse(124, 0x18000), Fuse(3, 1)))
    assert "fuse=0x00018000" in run(tmp_path, "READ_FUSES", board).lines
    assert "fuse=0x00000000" in run(tmp_path, "READ_FUSES").lines


ROM = BOARD.soc.rom_fuses


@pytest.fixture(scope="module")
def fsbl(tmp_path_factory: pytest.TempPathFactory) -> Fsbl:
    folder = tmp_path_factory.mktemp("rom")
    elf = build_fsbl(folder, PROGRAM, NOTHING)
    return Fsbl(elf, image_of(elf, BinaryType.FSBL), rom_keys(folder / "keys"))


@dataclass(frozen=True)
class Fsbl:
    """A program, its image, and the folder of the boot ROM's keys."""

    elf: Path
    image: bytes
    keys: Path

    def signed(self, number: int = 0, version: int = 0) -> bytes:
        return signed(self.image, self.keys, number, version)

    def chip(self, *more: Fuse, closes: bool = True) -> Board:
        """Return a board with the digest of the keys in its fuses."""
        digest = struct.unpack(">8I", rom_key_digest(read_rom_keys(self.keys)))
        words = [Fuse(ROM.key_digest + number, word) for number, word in enumerate(digest)]
        return dataclasses.replace(BOARD, fuses=(*words, *(ROM.closing if closes else ()), *more))


def flipped(image: bytes, offset: int) -> bytes:
    """Flip a bit, and keep the sum right."""
    changed = bytearray(image)
    changed[offset] ^= 4
    struct.pack_into("<I", changed, BASE.offset_of("checksum"), sum(changed[HEADER_BYTES:]))
    return bytes(changed)


EXTENSION = BASE.size
TABLE = EXTENSION + AUTHENTICATION.size
REFUSED: dict[str, tuple[Callable[[Fsbl], bytes], str]] = {
    "unsigned": (lambda fsbl: fsbl.image, "the image is not signed"),
    "encrypted": (lambda fsbl: with_extensions(fsbl.signed(), 0x8000_0003), "the image is encrypted"),
    "type": (lambda fsbl: flipped(fsbl.signed(), EXTENSION), "its authentication extension is damaged"),
    "length": (lambda fsbl: flipped(fsbl.signed(), EXTENSION + 4), "its authentication extension is damaged"),
    "number": (lambda fsbl: flipped(fsbl.signed(), EXTENSION + 9), "its authentication extension is damaged"),
    "no keys": (lambda fsbl: flipped(fsbl.signed(), EXTENSION + 12), "its authentication extension is damaged"),
    "curve": (lambda fsbl: flipped(fsbl.signed(), EXTENSION + 16), "it is signed with algorithm 5"),
    "key": (lambda fsbl: flipped(fsbl.signed(), EXTENSION + 20), "its key is not number 0 of its table"),
    "other number": (lambda fsbl: flipped(fsbl.signed(), EXTENSION + 8), "its key is not number 4 of its table"),
    "table": (lambda fsbl: flipped(fsbl.signed(), TABLE + 40), "the digest of its keys is not that of the fuses"),
    "signature": (lambda fsbl: flipped(fsbl.signed(), 4), "its signature is wrong"),
    "half a signature": (lambda fsbl: fsbl.signed()[:36] + bytes(32) + fsbl.signed()[68:], "its signature is wrong"),
    "version": (lambda fsbl: flipped(fsbl.signed(), BASE.offset_of("image_version")), "its signature is wrong"),
    "padding": (lambda fsbl: flipped(fsbl.signed(), HEADER_BYTES - 1), "its signature is wrong"),
    "program": (lambda fsbl: flipped(fsbl.signed(), 0x410), "its signature is wrong"),
    "the last byte": (lambda fsbl: flipped(fsbl.signed(), len(fsbl.image) - 1), "its signature is wrong"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_closed_chip_starts_no_other_fsbl_than_yours(tmp_path: Path, fsbl: Fsbl, case: str) -> None:
    make, why = REFUSED[case]
    result = boot(tmp_path, {BOARD.nor.base: make(fsbl)}, [fsbl.elf], board=fsbl.chip())
    assert result.lines == ()
    assert f"finds no FSBL: the fuses close this chip, and {why}" in result.findings[0].text


@pytest.mark.parametrize(
    ("fuses", "why"),
    [
        ([Fuse(ROM.version, 0b100)], "its version is 2, but the fuses demand 3"),
        ([Fuse(ROM.version + 1, 1)], "its version is 2, but the fuses demand 33"),
        ([Fuse(ROM.active_key, 0b10)], "the fuses have revoked its key 1: they demand 2"),
        ([Fuse(ROM.key_digest, 1)], "the digest of its keys is not that of the fuses"),
        ([Fuse(ROM.life_cycle, 0xF)], "it starts ST's own FSBL only"),
    ],
)
def test_fuses_revoke_keys_and_versions(tmp_path: Path, fsbl: Fsbl, fuses: list[Fuse], why: str) -> None:
    image = fsbl.signed(number=1, version=2)
    result = boot(tmp_path, {BOARD.nor.base: image}, [fsbl.elf], board=fsbl.chip(*fuses))
    assert result.lines == ()
    assert why in result.findings[0].text


def test_a_closed_chip_starts_a_signed_fsbl_and_revokes_what_is_older(tmp_path: Path, fsbl: Fsbl) -> None:
    file = tmp_path / "board.fuses"
    for number, version in ((0, 0), (2, 35), (7, 99), (7, 63)):
        image = fsbl.signed(number, version)
        result = boot(tmp_path, {BOARD.nor.base: image}, [fsbl.elf], board=fsbl.chip(), fuses=file)
        assert (result.lines, result.findings) == (("hello", "end"), ())
    words = struct.unpack("<384I", file.read_bytes())
    # The highest bit counts, and the ROM counts to 63.
    assert words[ROM.active_key] == 1 << 1 | 1 << 6
    assert words[ROM.version : ROM.version + 2] == (0, 1 << 2 | 1 << 30)
    for number, version, why in ((6, 63, "revoked its key 6"), (7, 62, "its version is 62")):
        image = fsbl.signed(number, version)
        result = boot(tmp_path, {BOARD.nor.base: image}, [fsbl.elf], board=fsbl.chip(), fuses=file)
        assert why in result.findings[0].text


@pytest.mark.parametrize(
    ("slot", "closes", "key", "partition", "result"),
    [(0, False, None, 1, 0), (SECOND_SLOT, True, 0, 2, 2), (0, False, 0, 1, 2), (0, False, 1, 1, 1)],
    ids=["unsigned", "closed, second place", "open", "open, a revoked key"],
)
def test_the_boot_rom_tells_what_it_has_started(
    tmp_path: Path, fsbl: Fsbl, slot: int, closes: bool, key: int | None, partition: int, result: int
) -> None:
    elf = build_fsbl(tmp_path, PROGRAM, ["-DDOES=READ_CONTEXT", f"-DCONTEXT={BOARD.soc.boot.context}u"])
    image = image_of(elf, BinaryType.FSBL)
    image = image if key is None else signed(image, fsbl.keys, key)
    chip = fsbl.chip(Fuse(ROM.active_key, 0b10), closes=closes) if key else fsbl.chip(closes=closes)
    lines = boot(tmp_path, {BOARD.nor.base + slot: image}, [elf], board=chip).lines
    words = [int(word, 16) for word in lines[0].split()]
    assert words == [partition, *[0] * 9, 0x0001_0004, 0, 0, result]


def test_the_second_place_is_looked_at_if_the_first_signature_is_wrong(tmp_path: Path, fsbl: Fsbl) -> None:
    base = BOARD.nor.base
    parts = {base: flipped(fsbl.signed(), 0x410), base + SECOND_SLOT: fsbl.signed()}
    assert boot(tmp_path, parts, [fsbl.elf], board=fsbl.chip()).lines == ("hello", "end")


def test_a_closed_chip_wants_an_end_for_its_mpu(tmp_path: Path, fsbl: Fsbl) -> None:
    """ST's tool signs what it gets."""
    longer = bytearray(fsbl.signed() + bytes(4))
    struct.pack_into("<I", longer, BASE.offset_of("image_bytes"), len(longer) - HEADER_BYTES)
    points, key = read_rom_keys(fsbl.keys), private_key(fsbl.keys, 0)
    image = with_signature(longer, lambda data: signature(key, points[0], data))
    result = boot(tmp_path, {BOARD.nor.base: image}, [fsbl.elf], board=fsbl.chip())
    assert result.lines == ("hello", "end")
    (finding,) = result.findings
    assert "bytes follow the header of the FSBL, no multiple of 32" in finding.text


def test_an_open_chip_starts_any_fsbl_and_says_what_a_closed_one_would_do(tmp_path: Path, fsbl: Fsbl) -> None:
    chip = fsbl.chip(closes=False)
    for image, told in (
        (fsbl.image, []),
        (fsbl.signed(), []),
        (
            flipped(fsbl.signed(), 4),
            ["The FSBL starts because the chip is open. A closed one rejects it: its signature is wrong"],
        ),
    ):
        result = boot(tmp_path, {BOARD.nor.base: image}, [fsbl.elf], board=chip)
        assert result.lines == ("hello", "end")
        assert [finding.text for finding in result.findings] == told


def with_extensions(image: bytes, extensions: int) -> bytes:
    changed = bytearray(image)
    struct.pack_into("<I", changed, BASE.offset_of("extensions"), extensions)
    return bytes(changed)


def test_no_fuse_is_blown_and_the_program_is_told(tmp_path: Path) -> None:
    result = run(tmp_path, "BLOW_A_FUSE")
    assert "failed fuse=0x00000000" in result.lines
    (finding,) = result.findings
    assert finding.kind == "fuse"
    assert "blows fuse word 124 with 0x00008000" in finding.text
    assert finding.where.startswith(line_with("/* BLOW */"))


FOUND = [
    ("FUSES_WITHOUT_CLOCK", "clock-off", "BSEC at 0x560091f0 has no clock", "N6_REG32(N6_BSEC_FVR124)"),
    ("RAM_OFF_WHILE_RUNNING", "ram-off", "Lost write to FLEXRAM at 0x34000000", "/* LOST */"),
    (
        "READ_BOOT_ROM",
        "boot-rom",
        "Read of 0x18000100 in the boot ROM gives zero: its content is unknown",
        "/* READ */",
    ),
]


@pytest.mark.parametrize(("does", "kind", "text", "at"), FOUND, ids=[case[0] for case in FOUND])
def test_is_found_at_its_line(tmp_path: Path, does: str, kind: str, text: str, at: str) -> None:
    (finding,) = run(tmp_path, does).findings
    assert finding.kind == kind
    assert text in finding.text
    assert finding.where.startswith(line_with(at))


def test_every_memory_of_the_chip_is_there_and_tcm_at_its_non_secure_addresses_too(tmp_path: Path) -> None:
    result = run(tmp_path, "OTHER_MEMORIES")
    assert result.findings == ()
    assert "sum=15" in result.lines


def test_a_non_secure_alias_works_until_rif_makes_the_block_secure(tmp_path: Path) -> None:
    result = run(tmp_path, "ALIAS_OPEN")
    assert {"secure=0x00000278", "alias=0x00000278"} <= set(result.lines)
    assert {(finding.kind, finding.is_warning) for finding in result.findings} == {("alias-open", True)}
    third_party = boot_program(tmp_path, PROGRAM.name, "DOES=ALIAS_OPEN", strict_clocks=False)
    assert third_party.findings == ()


def test_a_secured_block_ignores_its_non_secure_alias(tmp_path: Path) -> None:
    result = run(tmp_path, "ALIAS_SECURED")
    assert {"secure=0x00000000", "alias=0x00000000"} <= set(result.lines)
    write, read = result.findings
    assert (write.kind, read.kind, write.is_warning) == ("alias", "alias", False)
    assert write.text == (
        "Write to 0x4600805c is lost: it is the non-secure alias of SYSCFG, which RIFSC makes secure (SECCFGR1), use 0x5600805c"
    )
    assert read.text.startswith("Read of 0x4600805c gives zero: ")
    assert write.where.startswith(line_with("/* ALIAS */"))


def test_registers_of_rcc_begin_as_the_chip_s(tmp_path: Path) -> None:
    foreign = boot_program(tmp_path, PROGRAM.name, "DOES=RESET_VALUES", strict_clocks=False)
    assert foreign.lines[:3] == ("pll1=0x08202500", "pll2=0x49000005", "memories=0x000013ff")
    # The state in which the boot ROM leaves them is unknown: programs built here enable what they use.
    assert run(tmp_path, "RESET_VALUES").lines[2] == "memories=0x00000380"


def test_a_pll_in_bypass_passes_its_source_although_it_is_off(tmp_path: Path) -> None:
    result = run(tmp_path, "BYPASS")
    assert (result.lines[-1], result.findings) == ("end", ())


def test_a_system_reset_erases_the_banks_that_the_chip_erases(tmp_path: Path) -> None:
    lines = run(tmp_path, "RESET_ITSELF").lines
    assert "flexram=0x00000001" in lines
    assert {"axisram1=0x00000002", "axisram2=0x00000003"}.isdisjoint(lines)


def test_attributes_of_pins_before_their_clock_are_a_warning(tmp_path: Path) -> None:
    (finding,) = run(tmp_path, "ATTRIBUTES").findings
    assert (finding.kind, finding.is_warning) == ("attribute-off", True)
    assert finding.where.startswith(line_with("/* EARLY */"))


def test_a_watchdog_that_restarts_a_program_again_and_again_is_named(tmp_path: Path) -> None:
    result = boot_program(tmp_path, PROGRAM.name, "DOES=STARVE_WATCHDOG", limits=Limits(10_000_000))
    (finding,) = result.findings
    assert (finding.kind, finding.is_warning, result.ended) == ("watchdog-restarts", True, "timeout")
    assert "has reset the chip 3 times: the program does not reload it within 1 ms" in finding.text
