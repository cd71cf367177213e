"""Flash programs the sectors that differ, also after an interruption.

After any interruption, the next flash ends with the right content.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.files import sha256
from n6build.base.span import Span
from n6build.board.flash.program import FlashPlan, board_lock, carry_out, plan_delta
from n6build.board.flash.programmer import UNKNOWN, Identity, Programmer
from n6build.board.flash.record import BoardRecord, read_record, write_record
from n6build.board.flash.sectors import Sector, wanted_sectors
from n6build.board.flash.survey import held_record, writes_noted
from n6build.board.flash.verify import check_read_back
from n6build.board.flash.virtual import VirtualProgrammer
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.slots import flash_of
from n6build.place.image.manifest import (
    FlashFile,
    FlashManifest,
    Segment,
    check_kept,
    make_manifest,
    manifest_json,
    read_manifest,
    used_slots,
)

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
    """A NOR in memory whose programming breaks off after `fail_after` sectors.

    The last of these sectors is half written.
    """

    folder: Path
    fail_after: int | None = None
    name: str = "failing"
    memory: bytearray = field(default_factory=lambda: bytearray(b"\xff" * SIZE))
    programmed: list[int] = field(default_factory=list)
    identity: Identity = UNKNOWN
    seconds_a_sector: float = 1.0

    @property
    def record(self) -> Path:
        return self.folder / "record.json"

    def still_holds(self) -> bool:
        return True

    def memory_state(self) -> str:
        return ""

    def identify(self) -> Identity:
        return self.identity

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        return [bytes(self.memory[span.address - BASE :][: span.size]) for span in spans]

    def program(self, sectors: Sequence[Sector]) -> None:
        for count, sector in enumerate(sectors):
            start = sector.address - BASE
            if count == self.fail_after:
                self.memory[start : start + SECTOR // 2] = sector.data[: SECTOR // 2]
                raise N6Error("N6-TEST-001", "the cable was pulled")
            self.memory[start : start + SECTOR] = sector.data
            self.programmed.append(sector.address)

    def verify(self, sectors: Sequence[Sector]) -> None:
        check_read_back(sectors, self.read, "the NOR of this test")

    def reset(self) -> None:
        """Do nothing, since nothing runs here."""


def flash_plan(manifest: FlashManifest, folder: Path, programmer: Programmer) -> FlashPlan:
    wanted = wanted_sectors(manifest, folder)
    return plan_delta(wanted, held_record(wanted, manifest.board, programmer, programmer.identify()))


def flash(nor: Programmer, parts: dict[int, bytes], folder: Path) -> FlashManifest:
    """Program these parts, and return their manifest."""
    manifest = manifest_of(folder, parts)
    carry_out(flash_plan(manifest, folder, nor), nor)
    return manifest


def lacking(manifest: FlashManifest, folder: Path, nor: Programmer) -> list[int]:
    """Return the addresses of the sectors that a flash would program."""
    return [sector.address for sector in flash_plan(manifest, folder, nor).lacking]


def check_content(nor: FailingNor, parts: dict[int, bytes]) -> None:
    for address, data in parts.items():
        assert nor.memory[address - BASE :][: len(data)] == data


@pytest.fixture
def parts() -> dict[int, bytes]:
    return {BASE: b"fsbl" * 1500, BASE + 0x10000: b"appli" * 4000, BASE + 0x40000: bytes(range(256)) * 64}


def with_a_byte_changed(parts: dict[int, bytes]) -> dict[int, bytes]:
    """Return the parts with one byte changed in the third sector of the last part."""
    changed = bytearray(parts[BASE + 0x40000])
    changed[2 * SECTOR + 5] ^= 1
    return {**parts, BASE + 0x40000: bytes(changed)}


def test_a_blank_board_gets_every_sector(tmp_path: Path, parts: dict[int, bytes]) -> None:
    nor = FailingNor(tmp_path)
    flash(nor, parts, tmp_path)
    check_content(nor, parts)


def test_nothing_changed_programs_nothing(tmp_path: Path, parts: dict[int, bytes]) -> None:
    nor = FailingNor(tmp_path)
    manifest = flash(nor, parts, tmp_path)
    assert flash_plan(manifest, tmp_path, nor).lacking == ()


def test_one_changed_byte_programs_one_sector(tmp_path: Path, parts: dict[int, bytes]) -> None:
    nor = FailingNor(tmp_path)
    flash(nor, parts, tmp_path)
    manifest = manifest_of(tmp_path, with_a_byte_changed(parts))
    assert lacking(manifest, tmp_path, nor) == [BASE + 0x40000 + 2 * SECTOR]


@settings(max_examples=30)
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
        plan = flash_plan(manifest_of(folder, parts), folder, nor)
        if fail_after is None or fail_after >= len(plan.lacking):
            carry_out(plan, nor)
        else:
            with pytest.raises(N6Error, match="cable"):
                carry_out(plan, nor)
    check_content(nor, parts)


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


def test_a_board_without_a_record_is_read_back(tmp_path: Path, parts: dict[int, bytes]) -> None:
    nor = FailingNor(tmp_path)
    manifest = flash(nor, parts, tmp_path)
    nor.record.unlink()
    plan = flash_plan(manifest, tmp_path, nor)
    assert plan.lacking == ()
    carry_out(plan, nor)
    assert read_record(nor.record, "test").sectors.keys() == {sector.address for sector in plan.wanted}


def test_what_somebody_else_has_programmed_is_noticed(tmp_path: Path, parts: dict[int, bytes]) -> None:
    """Another program overwrote sectors that the record has as right."""
    nor = FailingNor(tmp_path)
    manifest = flash(nor, parts, tmp_path)
    nor.memory[0x10000 : 0x10000 + 3 * SECTOR] = bytes(3 * SECTOR)
    plan = flash_plan(manifest, tmp_path, nor)
    assert [sector.address for sector in plan.lacking] == [BASE + 0x10000 + index * SECTOR for index in range(3)]
    carry_out(plan, nor)
    assert nor.memory[0x10000:][: len(parts[BASE + 0x10000])] == parts[BASE + 0x10000]


def test_each_image_is_looked_at_though_another_follows_it_at_once(tmp_path: Path) -> None:
    nor = FailingNor(tmp_path)
    parts = {BASE: b"one" * 1000, BASE + SECTOR: b"two" * 1000, BASE + 2 * SECTOR: b"three" * 500}
    manifest = flash(nor, parts, tmp_path)
    nor.memory[SECTOR : SECTOR + 16] = b"somebody else's "
    assert lacking(manifest, tmp_path, nor) == [BASE + SECTOR]


def test_what_lies_beside_programmed_sectors_and_was_not_looked_at_is_forgotten(tmp_path: Path) -> None:
    """An erase may have reached the sector beside the programmed one."""
    nor = FailingNor(tmp_path)
    both = {BASE: b"one" * 1000, BASE + SECTOR: b"two" * 1000}
    flash(nor, both, tmp_path)
    flash(nor, {BASE: b"new" * 1000}, tmp_path)
    assert set(read_record(nor.record, "test").sectors) == {BASE}


def test_new_weights_of_somebody_else_show_at_their_end(tmp_path: Path, parts: dict[int, bytes]) -> None:
    """The checksum at the end of the weights differs; their beginning may be the same."""
    nor = FailingNor(tmp_path)
    manifest = flash(nor, parts, tmp_path)
    size = len(parts[BASE + 0x40000])
    nor.memory[0x40000 + 2 * SECTOR + 9] ^= 1
    nor.memory[0x40000 + size - 2] ^= 1
    assert lacking(manifest, tmp_path, nor) == [BASE + 0x40000 + index * SECTOR for index in (2, 3)]


@pytest.mark.parametrize(
    ("before", "now", "is_trusted"),
    [
        (Identity("A", 0x486), Identity("A", 0x486), True),
        (Identity("A", 0x486), Identity("", 0x486), True),
        (Identity("", None), Identity("A", 0x486), True),
        (Identity("A", 0x486), Identity("B", 0x486), False),
        (Identity("A", 0x486), Identity("A", 0x450), False),
    ],
)
def test_the_record_of_another_board_at_this_probe_is_not_trusted(
    tmp_path: Path,
    parts: dict[int, bytes],
    capsys: pytest.CaptureFixture[str],
    before: Identity,
    now: Identity,
    is_trusted: bool,
) -> None:
    nor = FailingNor(tmp_path, identity=before)
    manifest = flash(nor, parts, tmp_path)
    capsys.readouterr()
    nor.identity = now
    nor.memory[:] = b"\xff" * SIZE if not is_trusted else nor.memory
    plan = flash_plan(manifest, tmp_path, nor)
    assert ("its record is of another board" in capsys.readouterr().out) is not is_trusted
    assert plan.lacking == (() if is_trusted else plan.wanted)
    carry_out(plan, nor)
    assert flash_plan(manifest, tmp_path, nor).lacking == ()


def test_an_erase_that_reaches_too_far_is_found_out(tmp_path: Path, parts: dict[int, bytes]) -> None:
    """The programmer's sectors are twice as large as those in board.yaml."""
    nor = FailingNor(tmp_path)
    flash(nor, parts, tmp_path)
    parts = with_a_byte_changed(parts)
    manifest = manifest_of(tmp_path, parts)
    plan = flash_plan(manifest, tmp_path, nor)
    program = nor.program

    def far(sectors: Sequence[Sector]) -> None:
        start = 0x40000 + 3 * SECTOR
        nor.memory[start : start + SECTOR] = b"\xff" * SECTOR
        program(sectors)

    nor.program = far  # type: ignore[method-assign]
    with pytest.raises(N6Error, match=r"N6-FLASH-015.*0x70043000"):
        carry_out(plan, nor)
    nor.program = program  # type: ignore[method-assign]
    carry_out(flash_plan(manifest, tmp_path, nor), nor)
    check_content(nor, parts)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", range(4))
def test_a_build_that_is_killed_between_two_steps(
    tmp_path: Path, parts: dict[int, bytes], monkeypatch: pytest.MonkeyPatch, step: int, moment: str
) -> None:
    """The steps are: shorten the record, program, verify, write the new record.

    The shortened record lacks the sectors that are programmed.
    """
    nor = FailingNor(tmp_path)
    flash(nor, parts, tmp_path)
    parts = {address: data[::-1] for address, data in parts.items()}
    manifest = manifest_of(tmp_path, parts)
    steps = 0

    def breaking(function: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: object) -> None:
            nonlocal steps
            steps += 1
            if steps == step + 1 and moment == "before":
                raise KeyboardInterrupt
            function(*arguments)
            if steps == step + 1:
                raise KeyboardInterrupt

        return call

    with monkeypatch.context() as patched:
        patched.setattr("n6build.board.flash.program.write_record", breaking(write_record))
        patched.setattr(nor, "program", breaking(nor.program))
        patched.setattr(nor, "verify", breaking(nor.verify))
        with pytest.raises(KeyboardInterrupt):
            carry_out(flash_plan(manifest, tmp_path, nor), nor)
    record = read_record(nor.record, "test")
    for address, digest in record.sectors.items():
        assert sha256(bytes(nor.memory[address - BASE :][:SECTOR])) == digest
    carry_out(flash_plan(manifest, tmp_path, nor), nor)
    check_content(nor, parts)


def test_two_builds_cannot_use_one_board(tmp_path: Path) -> None:
    nor = FailingNor(tmp_path)
    with board_lock(nor), pytest.raises(N6Error, match="N6-FLASH-002"), board_lock(nor):
        pass


def test_the_virtual_nor_is_erased_where_nothing_was_programmed(tmp_path: Path, parts: dict[int, bytes]) -> None:
    virtual = VirtualProgrammer(tmp_path / "board", BASE, SIZE)
    flash(virtual, parts, tmp_path)
    nor = virtual.nor.read_bytes()
    assert len(nor) == SIZE
    assert nor[0x10000:][: len(parts[BASE + 0x10000])] == parts[BASE + 0x10000]
    assert set(nor[0x80000:]) == {0xFF}


def test_a_virtual_board_whose_nor_is_gone_is_programmed_anew(tmp_path: Path, parts: dict[int, bytes]) -> None:
    virtual = VirtualProgrammer(tmp_path / "board", BASE, SIZE)
    manifest = flash(virtual, parts, tmp_path)
    virtual.nor.unlink()
    assert len(lacking(manifest, tmp_path, virtual)) == len(wanted_sectors(manifest, tmp_path))


# The manifest.


def test_an_image_larger_than_its_slot_is_refused_with_the_bytes(tmp_path: Path) -> None:
    board = load_board("nucleo-n657")
    (tmp_path / "fsbl.bin").write_bytes(bytes(board.slots.fsbl.size + 5))
    with pytest.raises(N6Error, match="5 more than slot 'fsbl'"):
        make_manifest(flash_of(board), [FlashFile("fsbl", tmp_path / "fsbl.bin")], tmp_path)


def test_several_images_share_a_slot_at_addresses_of_their_own(tmp_path: Path) -> None:
    board = load_board("nucleo-n657")
    for name in ("a.bin", "b.bin", "none.bin"):
        (tmp_path / name).write_bytes(b"" if name == "none.bin" else bytes(9))
    slot = board.slots.weights

    def with_b_at(address: int) -> FlashManifest:
        files = [FlashFile("weights", tmp_path / name) for name in ("a.bin", "none.bin")]
        return make_manifest(flash_of(board), [*files, FlashFile("weights", tmp_path / "b.bin", address)], tmp_path)

    behind = slot.address + board.nor.sector
    found = [(part.file, part.address) for part in with_b_at(behind).segments]
    assert found == [("a.bin", slot.address), ("b.bin", behind)]
    with pytest.raises(N6Error, match="share a flash sector"):
        with_b_at(slot.address + 16)
    with pytest.raises(N6Error, match="b.bin has 9 bytes, 1 more than slot 'weights'"):
        with_b_at(slot.end - 8)


@pytest.mark.parametrize("doubted", [False, True])
def test_a_run_that_writes_to_the_nor_leaves_a_record_of_what_is_still_there(
    tmp_path: Path, parts: dict[int, bytes], doubted: bool
) -> None:
    virtual = VirtualProgrammer(tmp_path / "board", BASE, SIZE)
    manifest = flash(virtual, parts, tmp_path)
    known = load_board("nucleo-n657")
    board = replace(known, name="test", nor=replace(known.nor, sector=SECTOR))
    if doubted:
        # Another program has written to the NOR before the run, and n6build does not know where.
        os.utime(virtual.nor, (1, 1))
    with writes_noted(virtual, board), virtual.nor.open("r+b") as nor:
        nor.seek(0x40000 + SECTOR)
        nor.write(b"mine")
        nor.seek(0x80000)
        nor.write(b"the journal's")
    record = read_record(virtual.record, "test")
    wanted = wanted_sectors(manifest, tmp_path)
    if doubted:
        assert record.memory_state != virtual.memory_state()
    else:
        assert record.memory_state == virtual.memory_state()
        assert {each.address for each in wanted} - set(record.sectors) == {BASE + 0x40000 + SECTOR}
    assert lacking(manifest, tmp_path, virtual) == [BASE + 0x40000 + SECTOR]


@pytest.mark.parametrize(
    ("address", "size", "what"),
    [
        (0x70E1_FFFF, 1, "journal of trials"),
        (0x70DF_0000, 0x1_0001, "journal of trials"),
        (0x7080_0000, 1, "second slot of the Appli"),
        (0x70DF_0000, 0x1_0000, ""),
        (0x70E2_0000, 9, ""),
    ],
)
def test_what_the_firmware_keeps_for_itself_is_left_to_it(address: int, size: int, what: str) -> None:
    trial = load_board("nucleo-n657").trial
    assert trial is not None
    if not what:
        check_kept("mine.bin", [Span(address, size)], trial)
        return
    with pytest.raises(N6Error, match=f"mine.bin.*N6-TRIAL-002.*where the firmware has its {what}"):
        check_kept("mine.bin", [Span(address, size)], trial)


@pytest.mark.parametrize(("size", "beyond"), [(0x8_0000, 0), (0x8_0001, 1)])
def test_the_slot_of_the_appli_ends_where_a_network_has_its_weights(tmp_path: Path, size: int, beyond: int) -> None:
    board = load_board("nucleo-n657")
    (tmp_path / "appli.bin").write_bytes(bytes(size))
    (tmp_path / "w.bin").write_bytes(bytes(3 << 20))
    files = [FlashFile("appli", tmp_path / "appli.bin"), FlashFile("weights", tmp_path / "w.bin", 0x7018_0000)]
    if beyond:
        what = "N6-IMAGE-005: appli.bin has 524289 bytes, 1 more than slot 'appli' \\(524288\\), which ends where a network has"
        with pytest.raises(N6Error, match=f"{what} its weights, at 0x70180000"):
            make_manifest(flash_of(board), files, tmp_path)
        return
    manifest = make_manifest(flash_of(board), files, tmp_path)
    assert [(part.name, part.address) for part in manifest.segments] == [
        ("appli", 0x7010_0000),
        ("weights", 0x7018_0000),
    ]
    used = {each.name: (each.slot.size, len(each.segments)) for each in used_slots(flash_of(board), manifest)}
    assert used == {
        "fsbl": (board.slots.fsbl.size, 0),
        "appli": (0x8_0000, 1),
        "vectors": (board.slots.vectors.size, 0),
        "weights": (board.slots.weights.size, 0),
        "weights at 0x70180000": (board.slots.vectors.address - 0x7018_0000, 1),
    }


def test_weights_of_two_networks_that_overlap_are_named(tmp_path: Path) -> None:
    files = []
    for name, address in (("od_weights.bin", 0x7038_0000), ("reid_weights.bin", 0x7040_0000)):
        (tmp_path / name).write_bytes(bytes(1 << 20))
        files.append(FlashFile("weights", tmp_path / name, address))
    with pytest.raises(
        N6Error, match="N6-IMAGE-006: od_weights.bin .to 0x70480000. and reid_weights.bin .from 0x70400000"
    ):
        make_manifest(flash_of(load_board("nucleo-n657")), files, tmp_path)


@pytest.mark.parametrize("program", ["fsbl", "appli"])
def test_an_empty_program_is_refused(tmp_path: Path, program: str) -> None:
    """The board would start its old program, and the build would look successful."""
    (tmp_path / "image.bin").write_bytes(b"")
    with pytest.raises(N6Error, match="N6-IMAGE-008: is empty"):
        make_manifest(flash_of(load_board("nucleo-n657")), [FlashFile(program, tmp_path / "image.bin")], tmp_path)


def test_a_manifest_is_read_back(tmp_path: Path, parts: dict[int, bytes]) -> None:
    manifest = manifest_of(tmp_path, parts)
    (tmp_path / "m.json").write_text(manifest_json(manifest))
    assert read_manifest(tmp_path / "m.json") == manifest


@given(text=st.text(max_size=60) | st.sampled_from(["{}", "[]", '{"segments": [1]}', '{"segments": []}', "null"]))
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(N6Error, match="N6-IMAGE-007"):
        read_manifest(tmp_path / "m.json")
