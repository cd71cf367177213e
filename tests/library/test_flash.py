"""Only the sectors that differ are programmed, and whatever interrupts a flash, the next one ends correct."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from n6build.boards import load_board
from n6build.errors import N6Error
from n6build.files import sha256
from n6build.flash.cubeprogrammer import CubeProgrammer
from n6build.flash.probes import choose_programmer
from n6build.flash.program import board_lock, carry_out, plan_flash
from n6build.flash.record import BoardRecord, read_record, write_record
from n6build.flash.sectors import Sector
from n6build.flash.virtual import VirtualProgrammer
from n6build.image.hexfile import merged_hex
from n6build.image.manifest import FlashManifest, Segment, make_manifest, manifest_json, read_manifest

BASE = 0x7000_0000
SECTOR = 4096
SIZE = 1 << 20


def manifest_of(folder: Path, parts: dict[int, bytes]) -> FlashManifest:
    segments = []
    for address, data in parts.items():
        file = f"{address:08x}.bin"
        (folder / file).write_bytes(data)
        segments.append(Segment(file, file, address, len(data), sha256(data)))
    return FlashManifest("test", BASE, SIZE, SECTOR, tuple(segments))


@dataclass
class FailingNor:
    """A NOR in memory whose programming breaks off after `fail_after` sectors, the last of them half written."""

    folder: Path
    fail_after: int | None = None
    name: str = "failing"
    memory: bytearray = field(default_factory=lambda: bytearray(b"\xff" * SIZE))
    programmed: list[int] = field(default_factory=list)

    def record_path(self) -> Path:
        return self.folder / "record.json"

    def still_holds(self) -> bool:
        return True

    def program(self, sectors: Sequence[Sector]) -> None:
        for count, sector in enumerate(sectors):
            start = sector.address - BASE
            if count == self.fail_after:
                self.memory[start : start + SECTOR // 2] = sector.data[: SECTOR // 2]
                raise N6Error("N6-TEST-001", "the cable was pulled")
            self.memory[start : start + SECTOR] = sector.data
            self.programmed.append(sector.address)


@pytest.fixture
def parts() -> dict[int, bytes]:
    return {BASE: b"fsbl" * 1500, BASE + 0x10000: b"appli" * 4000, BASE + 0x40000: bytes(range(256)) * 64}


def test_a_blank_board_gets_every_sector(tmp_path: Path, parts: dict[int, bytes]) -> None:
    nor = FailingNor(tmp_path)
    carry_out(plan_flash(manifest_of(tmp_path, parts), tmp_path, nor), nor)
    for address, data in parts.items():
        assert nor.memory[address - BASE :][: len(data)] == data


def test_nothing_changed_programs_nothing(tmp_path: Path, parts: dict[int, bytes]) -> None:
    nor = FailingNor(tmp_path)
    manifest = manifest_of(tmp_path, parts)
    carry_out(plan_flash(manifest, tmp_path, nor), nor)
    assert plan_flash(manifest, tmp_path, nor).lacking == ()


def test_one_changed_byte_programs_one_sector(tmp_path: Path, parts: dict[int, bytes]) -> None:
    nor = FailingNor(tmp_path)
    carry_out(plan_flash(manifest_of(tmp_path, parts), tmp_path, nor), nor)
    changed = bytearray(parts[BASE + 0x40000])
    changed[2 * SECTOR + 5] ^= 1
    parts[BASE + 0x40000] = bytes(changed)
    plan = plan_flash(manifest_of(tmp_path, parts), tmp_path, nor)
    assert [sector.address for sector in plan.lacking] == [BASE + 0x40000 + 2 * SECTOR]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_after_any_number_of_interrupts_the_next_flash_ends_correct(
    tmp_path_factory: pytest.TempPathFactory, failures: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("board")
    nor = FailingNor(folder)
    for version, fail_after in enumerate([*failures, None]):
        parts = {
            BASE: bytes([version]) * 9000,
            BASE + 0x10000: b"same" * 5000,
            BASE + 0x20000: bytes([version, 7]) * 6000,
        }
        nor.fail_after = fail_after
        plan = plan_flash(manifest_of(folder, parts), folder, nor)
        if fail_after is None or fail_after >= len(plan.lacking):
            carry_out(plan, nor)
        else:
            with pytest.raises(N6Error, match="cable"):
                carry_out(plan, nor)
    for address, data in parts.items():
        assert nor.memory[address - BASE :][: len(data)] == data


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"board": "test"}', '{"board": "test", "sectors": {"x": 1}}', '{"board": 1, "sectors": []}'],
)
def test_a_damaged_record_means_that_nothing_is_known(tmp_path: Path, text: str) -> None:
    (tmp_path / "record.json").write_text(text)
    assert read_record(tmp_path / "record.json", "test") == BoardRecord("test")


def test_a_record_of_another_board_means_that_nothing_is_known(tmp_path: Path) -> None:
    write_record(tmp_path / "record.json", BoardRecord("other", {BASE: "00"}))
    assert read_record(tmp_path / "record.json", "test").sectors == {}


def test_two_builds_cannot_use_one_board(tmp_path: Path) -> None:
    nor = FailingNor(tmp_path)
    with board_lock(nor), pytest.raises(N6Error, match="N6-FLASH-002"), board_lock(nor):
        pass


def test_the_virtual_nor_is_erased_where_nothing_was_programmed(tmp_path: Path, parts: dict[int, bytes]) -> None:
    virtual = VirtualProgrammer(tmp_path / "board", BASE, SIZE)
    carry_out(plan_flash(manifest_of(tmp_path, parts), tmp_path, virtual), virtual)
    nor = virtual.nor.read_bytes()
    assert len(nor) == SIZE
    assert nor[0x10000:][: len(parts[BASE + 0x10000])] == parts[BASE + 0x10000]
    assert set(nor[0x80000:]) == {0xFF}


def test_a_virtual_board_whose_nor_is_gone_is_programmed_anew(tmp_path: Path, parts: dict[int, bytes]) -> None:
    virtual = VirtualProgrammer(tmp_path / "board", BASE, SIZE)
    manifest = manifest_of(tmp_path, parts)
    carry_out(plan_flash(manifest, tmp_path, virtual), virtual)
    virtual.nor.unlink()
    plan = plan_flash(manifest, tmp_path, virtual)
    assert plan.lacking == plan.wanted


# Manifest and hex file


def test_an_image_larger_than_its_slot_is_refused_with_the_bytes(tmp_path: Path) -> None:
    board = load_board("nucleo-n657")
    (tmp_path / "fsbl.bin").write_bytes(bytes(board.slots.fsbl.size + 5))
    with pytest.raises(N6Error, match="5 more than slot 'fsbl'"):
        make_manifest(board, [("fsbl", tmp_path / "fsbl.bin")], tmp_path, {})


def test_several_images_share_a_slot_at_addresses_of_their_own(tmp_path: Path) -> None:
    board = load_board("nucleo-n657")
    for name in ("a.bin", "b.bin", "none.bin"):
        (tmp_path / name).write_bytes(b"" if name == "none.bin" else bytes(9))
    slot = board.slots.weights
    files = [("weights", tmp_path / name) for name in ("a.bin", "none.bin", "b.bin")]
    behind = {"b.bin": slot.address + board.nor.sector}
    manifest = make_manifest(board, files, tmp_path, behind)
    assert [(part.file, part.address) for part in manifest.segments] == [("a.bin", slot.address), *behind.items()]
    with pytest.raises(N6Error, match="share a flash sector"):
        make_manifest(board, files, tmp_path, {"b.bin": slot.address + 16})
    with pytest.raises(N6Error, match="b.bin has 9 bytes, 1 more than slot 'weights'"):
        make_manifest(board, files, tmp_path, {"b.bin": slot.end - 8})


def test_a_manifest_is_read_back(tmp_path: Path, parts: dict[int, bytes]) -> None:
    manifest = manifest_of(tmp_path, parts)
    (tmp_path / "m.json").write_text(manifest_json(manifest))
    assert read_manifest(tmp_path / "m.json") == manifest


@given(text=st.text(max_size=60) | st.sampled_from(["{}", "[]", '{"segments": [1]}', '{"segments": []}', "null"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(N6Error, match="N6-IMAGE-007"):
        read_manifest(tmp_path / "m.json")


def test_the_hex_file_holds_every_segment_at_its_address(tmp_path: Path, parts: dict[int, bytes]) -> None:
    from intelhex import IntelHex

    manifest = manifest_of(tmp_path, parts)
    (tmp_path / "all.hex").write_text(merged_hex(manifest.segments, tmp_path))
    merged = IntelHex(str(tmp_path / "all.hex"))
    for address, data in parts.items():
        assert merged.tobinstr(start=address, size=len(data)) == data
    assert sum(end - start for start, end in merged.segments()) == sum(map(len, parts.values()))


def test_segments_that_overlap_make_no_hex_file(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path, {BASE: bytes(5000), BASE + 4096: bytes(10)})
    with pytest.raises(N6Error, match="N6-IMAGE-006"):
        merged_hex(manifest.segments, tmp_path)


# Probes: an executable that answers as ST's programmer does


def fake_programmer(folder: Path, serials: Sequence[str], download: str, status: int = 0) -> Path:
    folder.mkdir(exist_ok=True)
    listing = (
        "\n".join(f"ST-LINK SN  : {serial}\nST-LINK FW  : V3J16M6" for serial in serials)
        or "Error: No ST-LINK detected!"
    )
    command = folder / "STM32_Programmer_CLI"
    command.write_text(f"""#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$1" in
-l) cat <<'END'
{listing}
END
;;
*) cat <<'END'
{download}
END
exit {status};;
esac
""")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    loaders = folder / "ExternalLoader"
    loaders.mkdir(exist_ok=True)
    (loaders / load_board("nucleo-n657").programmer.external_loader).touch()
    return command


@pytest.fixture
def board_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "virtual"


def test_without_a_programmer_nothing_is_flashed_and_the_virtual_board_is_named(board_folder: Path) -> None:
    with pytest.raises(N6Error, match="nothing was programmed\n.*probe=virtual"):
        choose_programmer("auto", load_board("nucleo-n657"), board_folder)


def test_without_a_probe_nothing_is_flashed_and_the_virtual_board_is_named(board_folder: Path, tmp_path: Path) -> None:
    fake_programmer(tmp_path / "bin", [], "")
    with pytest.raises(N6Error, match="no debug probe is attached; nothing was programmed\n.*probe=virtual"):
        choose_programmer("auto", load_board("nucleo-n657"), board_folder)


def test_of_several_probes_none_is_guessed(board_folder: Path, tmp_path: Path) -> None:
    fake_programmer(tmp_path / "bin", ["0041", "0042"], "")
    with pytest.raises(N6Error, match="2 probes are attached: 0041, 0042"):
        choose_programmer("auto", load_board("nucleo-n657"), board_folder)


def test_the_only_probe_is_taken_and_a_named_one_must_be_there(board_folder: Path, tmp_path: Path) -> None:
    fake_programmer(tmp_path / "bin", ["0041"], "")
    assert choose_programmer("auto", load_board("nucleo-n657"), board_folder).name == "0041"
    with pytest.raises(N6Error, match="probe '0043' is not attached"):
        choose_programmer("0043", load_board("nucleo-n657"), board_folder)


def real_board(board_folder: Path) -> CubeProgrammer:
    programmer = choose_programmer("auto", load_board("nucleo-n657"), board_folder)
    assert isinstance(programmer, CubeProgrammer)
    return programmer


def test_a_verified_download_is_a_success(board_folder: Path, tmp_path: Path, parts: dict[int, bytes]) -> None:
    fake_programmer(tmp_path / "bin", ["0041"], "File download complete\nDownload verified successfully\n" * 3)
    programmer = real_board(board_folder)
    carry_out(plan_flash(manifest_of(tmp_path, parts), tmp_path, programmer), programmer)
    call = (tmp_path / "bin" / "calls").read_text().splitlines()[-1]
    assert "sn=0041" in call
    assert "0x70000000 -v -w" in call
    assert plan_flash(manifest_of(tmp_path, parts), tmp_path, programmer).lacking == ()


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("Error: failed to erase memory", 0),
        ("File download complete\nDownload verified successfully\nError: Data mismatch found at address 0x70000000", 0),
        ("File download complete", 0),
        ("Download verified successfully\n" * 3, 1),
    ],
    ids=["an error with status 0", "a mismatch after a success", "no word of verification", "a bad status"],
)
def test_a_download_is_a_failure_after(
    board_folder: Path, tmp_path: Path, parts: dict[int, bytes], output: str, status: int
) -> None:
    fake_programmer(tmp_path / "bin", ["0041"], output, status)
    programmer = real_board(board_folder)
    plan = plan_flash(manifest_of(tmp_path, parts), tmp_path, programmer)
    with pytest.raises(N6Error, match="N6-FLASH-006"):
        carry_out(plan, programmer)
    assert plan_flash(manifest_of(tmp_path, parts), tmp_path, programmer).lacking == plan.wanted
