"""Explanation of files of any origin: programs, and the logs of consoles."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.__main__ import main
from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, MAGIC, VERSION_2_1, BinaryType
from n6build.describe.hardware.boards import load_board
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.rom_keys import read_rom_keys, rom_key_digest
from n6build.tell.explain_file import explain_file, explain_log, explained_text
from n6build.tell.image_facts import Explained, explain_image
from samples import sample
from trust.rom_signer import rom_keys
from trust.rom_signer import signed as signed_for_rom

DK = load_board("stm32n6570-dk")
FSBL_RUNS, APPLI_RUNS, OFFSET = 0x34180400, 0x34000400, 0x400
NOR_LINE = "n6 fsbl nor id=0x00c2803a mode=opi-dtr clock=50000000"


def program(address: int, stack: int = 0x34200000, reset: int = 9) -> bytes:
    return struct.pack("<II", stack, address + reset) + b"\xfe\xe7" * 20


def signed(payload: bytes, address: int = FSBL_RUNS, kind: BinaryType = BinaryType.FSBL) -> bytes:
    return with_boot_header(payload, address, kind, OFFSET)


def with_field(image: bytes, name: str, value: int) -> bytes:
    at = BASE.offset_of(name)
    return image[:at] + struct.pack("<I", value) + image[at + 4 :]


def explained(data: bytes, folder: Path) -> Explained:
    path = folder / "file.bin"
    path.write_bytes(data)
    (part,) = explain_file(path, DK)
    return part


def doubts(data: bytes, folder: Path) -> str:
    return "; ".join(each.what for each in explained(data, folder).doubts)


def test_the_keys_of_the_boot_rom_are_told(tmp_path: Path) -> None:
    keys = rom_keys(tmp_path / "keys")
    image = signed_for_rom(signed(program(FSBL_RUNS)), keys, number=2)
    part = explained(image, tmp_path)
    facts = dict(part.facts)
    assert facts["boot ROM"] == "key 2 of 8, version 0"
    assert facts["its keys"] == f"digest {rom_key_digest(read_rom_keys(keys)).hex(' ', 4)}"
    assert part.doubts == ()
    assert "a closed chip rejects it: its signature is wrong" in doubts(image[:0x230] + b"x" + image[0x231:], tmp_path)


def test_a_signed_fsbl_is_described_and_nothing_looks_wrong(tmp_path: Path) -> None:
    part = explained(signed(program(FSBL_RUNS)), tmp_path)
    facts = dict(part.facts)
    assert facts["header"] == "version 2.3, not signed with a key"
    assert facts["type"] == "FSBL (0x10)"
    assert facts["entry"] == "0x34180409"
    assert facts["vectors"] == "at 0x400 of the image"
    assert facts["started by"] == "the boot ROM"
    assert facts["in flash"].startswith("0x70000000 to ")
    assert part.doubts == ()


@pytest.mark.parametrize(
    ("address", "by", "slot"),
    [
        (APPLI_RUNS, "n6build's FSBL", "appli"),
        (0x70100400, "in place", "appli"),
        (0x90000400, "XSPI1_WINDOW", "appli"),
        (0x91000400, "XSPI1_WINDOW", "appli"),
        (FSBL_RUNS, "the boot ROM", "fsbl"),
        (0xA0000400, "no memory is there", "appli"),
    ],
)
@pytest.mark.parametrize("kind", BinaryType)
def test_the_entry_of_an_image_decides_who_starts_it(
    address: int, by: str, slot: str, kind: BinaryType, tmp_path: Path
) -> None:
    facts = dict(explained(signed(program(address), address, kind), tmp_path).facts)
    assert by in facts["started by"]
    assert facts["in flash"].endswith(f"slot {slot}")


def test_each_fault_of_an_image_is_named(tmp_path: Path) -> None:
    good = signed(program(FSBL_RUNS))
    without_align = good[:HEADER_BYTES] + program(FSBL_RUNS).ljust(len(good) - HEADER_BYTES, b"\0")
    faults = {
        "its vector table is at 0x240": without_align,
        "the file ends 8 bytes before": good[:-8],
        "the header has checksum": good[:-1] + b"\1",
        "unknown version 0x00090000": with_field(good, "version", 0x90000),
        "belongs to earlier silicon": with_field(good, "version", VERSION_2_1),
        "announces no program": with_field(good, "image_bytes", 0),
        "the header's entry is 0x34180501": with_field(good, "entry", 0x34180501),
        "no vector table is behind the header": good[:OFFSET] + bytes(len(good) - OFFSET),
        "the stack pointer 0x34200002 is not a multiple of 4": signed(program(FSBL_RUNS, 0x34200002)),
        "end inside the boot header": good[:100],
        "more than the boot ROM copies": signed(program(FSBL_RUNS) + bytes(600_000)),
        "neither a boot header nor a vector table": bytes(100),
        "it has no content": b"",
    }
    for text, data in faults.items():
        assert text in doubts(data, tmp_path), text


def test_a_bare_program_has_an_address_if_a_board_has_such_a_place(tmp_path: Path) -> None:
    part = explained(program(APPLI_RUNS), tmp_path)
    assert dict(part.facts)["runs at"] == "0x34000400 (FLEXRAM)"
    assert part.doubts == ()


def test_the_parts_of_a_hex_file_are_told_apart() -> None:
    parts = explain_image(sample("boot/STM32N6570-DK_GettingStarted_FaceDetection.hex"), DK)
    titles = [part.title for part in parts]
    assert titles == [
        "hex file at 0x70000000, with a boot header",
        "hex file at 0x70100000, with a boot header",
        "hex file at 0x70380000, data",
    ]
    assert not any(part.doubts for part in parts)


def test_the_published_images_are_what_their_authors_say() -> None:
    expected = {
        "LoadAndRun-Appli-trusted.bin": "n6build's FSBL",
        "LoadAndRun-FSBL-trusted.bin": "the boot ROM",
        "PSRAM-Appli-trusted.bin": "an FSBL that copies it to XSPI1_WINDOW",
        "XIP-Appli-trusted.bin": "an FSBL that starts it in place",
        "fsbl_fw_lrun_v1.2.0.bin": "the boot ROM",
        "aed_bm.bin": "n6build's FSBL",
    }
    for name, by in expected.items():
        (part,) = explain_image(sample(f"boot/{name}"), DK)
        assert dict(part.facts)["started by"].startswith(by), name
        assert part.doubts == (), name
    (part,) = explain_image(sample("boot/STM32N6DK2_FSBL-Trusted.bin"), DK)
    assert "-align" in part.doubts[0].cure


@given(st.one_of(st.binary(max_size=2000), st.binary(max_size=2000).map(lambda data: MAGIC + data)))
def test_any_bytes_are_explained_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(data)
    try:
        assert explained_text("any.bin", explain_file(path, DK))
    except N6Error as error:
        assert error.id in {"N6-HEX-001", "N6-IMAGE-001"}


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ([], "it has no text"),
        (["n6 fsbl start board=nucleo-n657"], "the FSBL stopped before the NOR answered"),
        (["n6 fsbl start board=nucleo-n657", NOR_LINE], "the FSBL stopped while it loaded the Appli"),
        ([NOR_LINE, "n6 fsbl appli bytes=100 entry=0x34000401"], "the Appli printed nothing"),
        (["n6 appli start model=a epochs=2 clock=600000000"], "the Appli fell silent after 0 inferences"),
        (["n6 fsbl nor id=0x00c2803a mode=spi expected=0x00c2803b clock=50000000"], "expects 0x00c2803b"),
        (["n6 fsbl error N6-FW-010 no application"], "N6-FW-010: no application"),
        (["n6 fault in epoch 3"], "the CPU faulted: in epoch 3"),
        (["n6 run 0 output 0 0000", "n6 done runs=1"], "all outputs are zero"),
        (["n6 run 0 output 0 0102", "n6 run 1 output 0 0102", "n6 done runs=2"], "all 2 outputs are equal"),
        (["n6 model m slot=b refused N6-FW-052 another ABI"], "model m in slot b is refused"),
        (['assertion "x == y" failed: file "main.c", line 3'], "an assertion of the program failed"),
        (["HAL_XSPI_Command: timeout"], "the flash did not answer"),
        (["MemoryError: memory allocation failed"], "no memory left"),
        (["\x80\xff\x91" * 20], "the baud rate is wrong"),
        (["hello"], "no line of it has a known cause"),
    ],
)
def test_a_log_has_the_cause_that_fits_first(lines: list[str], what: str) -> None:
    part = explain_log("\r\n".join(lines))
    assert what in part.doubts[0].what
    assert part.doubts[0].cure


def test_a_whole_run_has_no_cause_to_name() -> None:
    log = [NOR_LINE, "n6 appli start model=a epochs=2 clock=600000000", "n6 run 0 output 0 0102", "n6 done runs=1"]
    part = explain_log("\n".join(log))
    assert part.doubts == ()
    assert dict(part.facts)["clock"] == "600,000,000 Hz"


@given(st.text(max_size=500))
def test_any_text_is_explained(text: str) -> None:
    assert explained_text("log", [explain_log(text)])


def test_the_command_explains_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fsbl.bin").write_bytes(signed(program(FSBL_RUNS)))
    Path("board.log").write_text(f"{NOR_LINE}\n")
    assert main(["explain", "fsbl.bin", "board.log", "board=stm32n6570-dk"]) == 0
    text = capsys.readouterr().out
    assert "fsbl.bin: bytes, with a boot header\n" in text
    assert "looks wrong  the FSBL stopped while it loaded the Appli\n" in text
    assert main(["explain", "fsbl.bin", "--json"]) == 0
    (part,) = json.loads(capsys.readouterr().out)["fsbl.bin"]
    assert part["facts"]["entry"] == "0x34180409"
    assert part["doubts"] == []
    assert main(["explain", "absent.bin"]) == 2
    assert "absent.bin: error N6-FILE-002" in capsys.readouterr().err
