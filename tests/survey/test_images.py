"""n6build survey: FSBLs and Applis in a folder, and their starts."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from n6build.board.virtual_board.findings import Finding
from n6build.board.virtual_board.findings_file import NO_STOPS, State, Stops
from n6build.board.virtual_board.run import NorBoot, RunResult
from n6build.cli.survey import survey
from n6build.describe.formats.boot_header import BinaryType
from n6build.place.image.boot_header import with_boot_header
from n6build.survey import starts

FSBL_RUNS, APPLI_RUNS, OFFSET = 0x34180400, 0x34000400, 0x400
ENTRY = 0x100


def program(address: int, fill: int = 0xE7) -> bytes:
    code = bytes(range(1, 65))
    vectors = struct.pack("<II", 0x34200000, address + ENTRY + 1)
    return (vectors.ljust(ENTRY, bytes([fill])) + code).ljust(0x200, bytes([fill]))


def image(address: int, fill: int = 0xE7) -> bytes:
    kind = BinaryType.FSBL if address == FSBL_RUNS else BinaryType.SSBL
    return with_boot_header(program(address, fill), address, kind, OFFSET)


def hex_of(*parts: tuple[int, bytes]) -> str:
    """Return an Intel hex file, as a linker of another project writes it."""
    lines = []

    def record(kind: int, offset: int, data: bytes) -> None:
        body = bytes([len(data), offset >> 8, offset & 0xFF, kind]) + data
        lines.append(f":{body.hex().upper()}{-sum(body) & 0xFF:02X}")

    for address, data in parts:
        for start in range(0, len(data), 16):
            at = address + start
            record(4, 0, struct.pack(">H", at >> 16))
            record(0, at & 0xFFFF, data[start : start + 16])
    record(1, 0, b"")
    return "\n".join(lines) + "\n"


def surveyed(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, dict[str, object]]]:
    """Return the rows of each table by their places."""
    survey([str(folder), "--json", *words])
    tables = json.loads(capsys.readouterr().out)
    return {name: {row["place"]: row for row in table} for name, table in tables.items() if name != "left_out"}


def put_all(folder: Path) -> None:
    """Write programs in each format, and files that are none."""
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/fsbl.bin").write_bytes(image(FSBL_RUNS))
    (folder / "a/b/fsbl_copy.bin").write_bytes(image(FSBL_RUNS))
    (folder / "appli.bin").write_bytes(image(APPLI_RUNS))
    (folder / "both.hex").write_text(hex_of((0x70000000, image(FSBL_RUNS, 1)), (0x70100000, image(APPLI_RUNS, 1))))
    (folder / "weights.bin").write_bytes(bytes(range(256)) * 4)
    (folder / "host.out").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e\x00" + bytes(64))
    (folder / "notes.txt").write_text("a text")


def test_programs_are_found_by_their_content_with_their_role(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_all(tmp_path)
    found = surveyed(tmp_path, capsys)
    assert found.keys() == {"networks", "images"}
    roles = {place: [part["role"] for part in row["parts"]] for place, row in found["images"].items()}  # type: ignore[attr-defined]
    assert roles == {"appli.bin": ["appli"], "a/b/fsbl_copy.bin": ["fsbl"], "both.hex": ["fsbl", "appli"]}
    assert found["images"]["a/b/fsbl_copy.bin"]["copies"] == ["a/fsbl.bin"]
    survey([str(tmp_path)])
    told = capsys.readouterr().out
    assert "FSBL + Appli  version 2.3" in told
    assert "also in 1 other file" in told
    assert "Surveyed 3 images, 2 with an FSBL, 2 with an Appli" in told


def test_a_row_has_what_looks_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cut.bin").write_bytes(image(FSBL_RUNS)[:-8])
    (tmp_path / "damaged.hex").write_text(":10000000zz\n")
    survey([str(tmp_path)])
    told = capsys.readouterr().out
    assert "doubtful    cut.bin" in told
    assert "the file ends 8 bytes before the end that its header announces" in told
    assert "unreadable  damaged.hex" in told
    assert "N6-HEX-001" in told
    assert "1 doubtful, 1 cannot be read" in told


def result(ended: str, kinds: tuple[str, ...] = (), stops: Stops = NO_STOPS) -> RunResult:
    findings = tuple(Finding(kind, f"a {kind}", "0x34000500") for kind in kinds)
    return RunResult(("hello",), findings, ended, 1, 1000, (), (), (), "0x34000510", stops)  # type: ignore[arg-type]


def at_entry(code: bytes) -> Stops:
    """Return a stop at the entry of the Appli, with this code in memory."""
    entry = APPLI_RUNS + ENTRY
    return Stops((State((*(0,) * 15, entry), code=(entry - 64, bytes(64) + code)),))


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> Callable[[RunResult], list[NorBoot]]:
    """Let all starts have one result, and return the boots."""

    def emulate(one: RunResult) -> list[NorBoot]:
        boots: list[NorBoot] = []

        def run_nor(emulator: Path, boot: NorBoot, **options: object) -> RunResult:
            assert options["stops"] == (APPLI_RUNS + ENTRY,)
            boots.append(boot)
            assert boot.nor.read_bytes()[0x100000 + OFFSET + ENTRY : 0x100000 + OFFSET + ENTRY + 3] == b"\1\2\3"
            return one

        monkeypatch.setattr(starts, "run_nor", run_nor)
        monkeypatch.setattr(starts, "find_emulator", lambda _: Path("emulator"))
        return boots

    return emulate


def test_each_fsbl_starts_with_each_appli_and_a_whole_file_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], emulated: Callable[[RunResult], list[NorBoot]]
) -> None:
    put_all(tmp_path)
    boots = emulated(result("timeout", ("nor-range", "nor-range"), at_entry(bytes(range(1, 65)))))
    found = surveyed(tmp_path, capsys, "--run")["starts"]
    assert found.keys() == {"both.hex", "a/b/fsbl_copy.bin + appli.bin"}
    assert len(boots) == 2
    assert not any(boot.strict_clocks for boot in boots)
    for row in found.values():
        assert (row["reached"], row["ended"], row["lines"]) == ("Appli", "runs", 1)
        assert row["findings"] == ["nor-range"]


@pytest.mark.parametrize("code", [bytes(64), bytes(range(101, 165))])
def test_a_jump_to_memory_without_the_appli_does_not_count(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    emulated: Callable[[RunResult], list[NorBoot]],
    code: bytes,
) -> None:
    put_all(tmp_path)
    emulated(result("exited", ("lockup",), at_entry(code)))
    row = surveyed(tmp_path, capsys, "--run")["starts"]["both.hex"]
    assert (row["reached"], row["ended"]) == ("FSBL", "locks up")


def test_a_refused_pair_is_a_row_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_all(tmp_path)
    (tmp_path / "appli.bin").write_bytes(image(APPLI_RUNS)[:-8])
    (tmp_path / "both.hex").unlink()
    survey([str(tmp_path), "--run"])
    told = capsys.readouterr().out
    assert "nothing  refused" in told
    assert "N6-IMAGE-00" in told
    assert "Surveyed 1 start, 1 refused" in told


def test_data_goes_into_the_nor_of_each_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_all(tmp_path)
    contents = []

    def run_nor(emulator: Path, boot: NorBoot, **options: object) -> RunResult:
        contents.append(boot.nor.read_bytes()[0x180000:0x180400])
        return result("exited")

    monkeypatch.setattr(starts, "run_nor", run_nor)
    monkeypatch.setattr(starts, "find_emulator", lambda _: Path("emulator"))
    found = surveyed(tmp_path, capsys, "--run", f"data={tmp_path}/weights.bin@0x70180000")["starts"]
    assert contents == [bytes(range(256)) * 4] * 2
    assert {row["ended"] for row in found.values()} == {"ends"}
