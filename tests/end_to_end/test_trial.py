"""Trials of new models: one that hangs, resets or faults leads to the old one."""

from __future__ import annotations

import itertools
import re
import shutil
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.board.flash import trial_journal
from n6build.board.flash.appli_update import AppliUpdate, plan_appli, stored_appli
from n6build.board.flash.model_update import Update
from n6build.board.flash.trial_journal import State
from n6build.board.run.console_log import read_console
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES
from n6build.describe.hardware.board import Board, Slot
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.fuse import Fuse
from n6build.place.reloc.model_format import WORD
from n6build.place.reloc.reader import parse_reloc_file
from slow_rows import telling_rows
from trust.host_verifier import key_file

from end_to_end.conftest import Project, make_project
from end_to_end.crafted_models import FAULTS, HANGS, MASKED, RESETS, put_code
from end_to_end.test_reloc import (
    application,
    board_folder,
    images_of,
    new_test,
    program,
    reader,
    states_of_a_cut,
    update_of,
)

BOARD = load_board("nucleo-n657")
ARGUMENTS = ("loader=reloc", "probe=virtual", "model=keyword", "slots=2", "trial=on")
STARTS = 3
# A start with a self-test and ten vectors takes a tenth of this guest time.
WATCHDOG_MS = 500
# Bytes of a journal's copy, and of a record in it.
COPY, RECORD = 4096, 256
ENDS = ("n6 done", "n6 fsbl error")
OLD, NEW = "slot=a revision=0 ", "slot=b revision=1 "


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with `keyword` in slot A, confirmed."""
    project = make_project(tmp_path_factory.mktemp("trial"))
    project.replace("boards/nucleo-n657/board.yaml", "watchdog_ms: 20_000", f"watchdog_ms: {WATCHDOG_MS}")
    project.done(*ARGUMENTS, "flash")
    first = boot(project, board_folder(project))
    assert trials(first) == ["appli start=1 of=3", "start=1 of=3", "confirmed"]
    assert runs(first) == OLD
    return project


def boot(project: Project, folder: Path, cut: int | None = None) -> RunResult:
    """Boot, with resets, until the models have run or the board cannot go on."""
    elves = [project.root / "build/nucleo-n657/fsbl/fsbl.elf", application(project) / "appli/appli.elf"]
    return run_nor(
        find_emulator(BOARD.soc),
        NorBoot(folder / "nor.bin", BOARD, keeps_writes=True),
        programs=elves,
        stop=lambda line: line.startswith(ENDS),
        limits=Limits(cut=cut),
    )


def trials(result: RunResult) -> list[str]:
    lines = [line.removeprefix("n6 trial ") for line in result.lines if line.startswith("n6 trial ")]
    return [re.sub(r"^keyword image=\S+ |(?<=^appli )image=\S+ ", "", line) for line in lines]


def runs(result: RunResult) -> str:
    """Return the slot and revision that run in the end."""
    assert result.lines[-1] == "n6 done runs=10", result.lines
    (found,) = re.findall(r"(slot=\S+ revision=\S+ )", [line for line in result.lines if "revision=" in line][-1])
    return str(found)


def new_model(project: Project, folder: Path, code: bytes) -> Update:
    """Return a newer model for slot B, whose inputs function is `code`, if any."""
    app = folder.parent / "application"
    shutil.copytree(application(project), app, dirs_exist_ok=True)
    file = app / "model.bin"
    if code:
        put_code(file, code)
    else:
        new_test(file, parse_reloc_file(file.read_bytes(), "model.bin").file_bytes)
    return update_of(app, folder)


def put_new_model(project: Project, folder: Path, code: bytes) -> None:
    program(folder, images_of(new_model(project, folder, code)))


@pytest.mark.slow
def test_a_board_without_a_place_for_a_journal_is_refused(project: Project) -> None:
    board = project.root / "boards/nucleo-n657/board.yaml"
    text = board.read_text()
    board.write_text(text[: text.index("trial:")] + text[text.index("pools:") :])
    result = project.scons(*ARGUMENTS, "build").refused()
    assert "N6-TRIAL-001: NUCLEO-N657X0-Q has no journal in flash for the state of models" in result.output


@pytest.mark.slow
def test_data_of_a_user_does_not_go_where_the_journal_is(project: Project) -> None:
    """The build is refused before anything is built."""
    (project.root / "mine.bin").write_bytes(bytes(70_000))
    result = project.scons(*ARGUMENTS, "data=mine.bin@0x70DF0000", "build").refused()
    assert result.actions == []
    what = "has 70000 bytes for 0x70DF0000, where the firmware has its journal of trials"
    assert f"mine.bin: error N6-TRIAL-002: {what}" in result.output


TIMES = [f"start={start} of={STARTS}" for start in range(1, STARTS + 1)]
BY_WATCHDOG = "watchdog ended the last start"
GIVEN_UP = "N6-FW-080 started on trial and was not confirmed"
BAD = {
    "hangs with interrupts masked": (
        MASKED + HANGS,
        [each for time in TIMES for each in (time, BY_WATCHDOG)],
        GIVEN_UP,
    ),
    "resets": (RESETS, TIMES, GIVEN_UP),
    "faults": (FAULTS, TIMES[:1], "N6-FW-058 faults or does not end"),
}


@pytest.mark.parametrize("how", telling_rows(BAD, "faults".__eq__))
def test_a_model_that_does_not_work_leads_back_to_the_old_one(how: str, built: Project, folder: Path) -> None:
    code, expected, why = BAD[how]
    put_new_model(built, folder, code)
    first = boot(built, folder)
    assert [each for each in trials(first) if not each.startswith("fault")] == expected
    assert f"n6 model keyword slot=b refused {why}" in first.lines
    assert runs(first) == OLD
    again = boot(built, folder)
    assert trials(again) == []
    assert f"n6 model keyword slot=b refused {GIVEN_UP}" in again.lines
    assert runs(again) == OLD
    assert found(first) == (["watchdog-restarts"] if BY_WATCHDOG in expected else [])


def found(console: RunResult) -> list[str]:
    """Return the kinds of findings.

    A program that does not feed the watchdog makes one.
    """
    assert console.unmodelled == ()
    return [finding.kind for finding in console.findings]


def test_a_model_that_works_is_confirmed_and_then_started_without_the_watchdog(built: Project, folder: Path) -> None:
    put_new_model(built, folder, b"")
    first = boot(built, folder)
    assert (trials(first), runs(first)) == ([TIMES[0], "confirmed"], NEW)
    again = boot(built, folder)
    assert (trials(again), runs(again)) == ([], NEW)


@pytest.mark.slow
def test_a_journal_that_cannot_be_written_leaves_the_old_model(built: Project, folder: Path, tmp_path: Path) -> None:
    """The part is not enabled to write, and the only Appli is not on trial."""
    project = Project(tmp_path / "project", built.home)
    shutil.copytree(built.root, project.root, symlinks=True)
    project.replace("firmware/trial/n6_nor_write.c", "(status & WRITE_ENABLED) != 0u", "(status & WRITE_ENABLED) == 0u")
    project.replace("boards/nucleo-n657/board.yaml", "  appli: {address: 0x70800000, size: 2M}\n", "")
    assert project.scons(*ARGUMENTS, "flash").status == 0
    put_new_model(project, board_folder(project), b"")
    first = boot(project, board_folder(project))
    assert trials(first) == []
    assert "n6 model keyword slot=b refused N6-FW-081 the journal of trials cannot be written" in first.lines
    assert runs(first) == OLD


def cuts(project: Project, before: Path, tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """Yield boards whose power went in the first, second ... write of the journal."""
    for cut in itertools.count(1):
        board = tmp_path / f"cut-{cut}"
        shutil.copytree(before, board)
        if boot(project, board, cut).ended != "cut":
            return
        yield cut, board


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "is_full", "ends", "writes"),
    [
        # The writes are its starts and its failure.
        pytest.param(RESETS, False, OLD, STARTS + 1, id="resets"),
        # The writes are its start and its confirmation.
        pytest.param(b"", False, NEW, 2, id="works"),
        # A third write erases the older copy.
        pytest.param(b"", True, NEW, 3, id="works, with a full journal"),
    ],
)
def test_the_power_goes_in_every_write_of_the_journal(
    code: bytes, is_full: bool, ends: str, writes: int, built: Project, folder: Path, tmp_path: Path
) -> None:
    if is_full:
        fill_journal(folder)
    put_new_model(built, folder, code)
    tried = 0
    for _, board in cuts(built, folder, tmp_path):
        assert runs(boot(built, board)) == ends
        tried += 1
    assert tried == writes


def fill_journal(board: Path) -> None:
    """Fill the journal's first copy, so that the next record erases the second copy."""
    assert BOARD.trial is not None
    start = BOARD.trial.journal.address
    written = reader(board)(start, COPY).rstrip(b"\xff")
    newest = bytearray(written[-RECORD:])
    for place in range(len(written), COPY, RECORD):
        seal_as_next(newest)
        program(board, [(start + place, bytes(newest))])


def seal_as_next(record: bytearray) -> None:
    """Give a record the next number, and its checksum."""
    struct.pack_into("<I", record, WORD, struct.unpack_from("<I", record, WORD)[0] + 1)
    struct.pack_into("<I", record, RECORD - WORD, zlib.crc32(record[:-WORD]))


@pytest.mark.slow
def test_the_power_goes_at_every_sector_of_an_update(built: Project, folder: Path) -> None:
    for name, complete in states_of_a_cut(new_model(built, folder, b""), folder):
        assert runs(boot(built, folder)) == (NEW if complete else OLD), name


# Trials of the Appli itself.

SLOTS: tuple[Slot, ...] = (BOARD.slots.appli, BOARD.trial.appli) if BOARD.trial and BOARD.trial.appli else ()
APPLI_TIMES = [f"appli {each}" for each in TIMES]


def started(result: RunResult) -> list[str]:
    """Return slot and revision of each Appli that the FSBL has started."""
    return [line.partition("slot=")[2] for line in result.lines if line.startswith("n6 fsbl appli bytes=")]


def appli_image(project: Project) -> bytes:
    return (application(project) / "appli_image.bin").read_bytes()


def with_code(image: bytes, code: bytes) -> bytes:
    """Return an Appli that begins with this code."""
    changed = bytearray(image)
    at = (BASE.unpack(image)["entry"] & ~1) - BOARD.soc.load_and_run.load_address
    changed[at : at + len(code)] = code
    struct.pack_into("<I", changed, BASE.offset_of("checksum"), sum(changed[HEADER_BYTES:]) % 2**32)
    return bytes(changed)


def put_appli(folder: Path, image: bytes) -> AppliUpdate:
    """Program an Appli as `scons flash` does."""
    assert BOARD.trial is not None
    update = plan_appli(image, SLOTS, BOARD.trial, reader(folder), "appli_image.bin")
    program(folder, [(update.address, update.stored)])
    return update


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "by_watchdog"),
    [
        pytest.param(MASKED + HANGS, True, id="hangs with interrupts masked"),
        pytest.param(RESETS, False, id="resets", marks=pytest.mark.slow),
        pytest.param(FAULTS, True, id="faults", marks=pytest.mark.slow),
    ],
)
def test_an_appli_that_does_not_work_leads_back_to_the_old_one(
    code: bytes, by_watchdog: bool, built: Project, folder: Path
) -> None:
    update = put_appli(folder, with_code(appli_image(built), code))
    assert (update.letter, update.revision) == ("b", 1)
    first = boot(built, folder)
    expected = [each for time in APPLI_TIMES for each in ([time, BY_WATCHDOG] if by_watchdog else [time])]
    assert trials(first) == expected
    assert started(first) == ["b revision=1"] * STARTS + ["a revision=0"]
    assert runs(first) == OLD
    again = boot(built, folder)
    assert (trials(again), started(again)) == ([], ["a revision=0"])
    assert f"n6 fsbl appli slot=b refused {GIVEN_UP}" in again.lines
    assert read_console(again.lines).refused_appli == {1: tuple(GIVEN_UP.split(" ", 1))}
    assert found(first) == (["watchdog-restarts"] if by_watchdog else [])


def forge_failures(folder: Path) -> None:
    """Write a record of the journal that gives up all images, as an attacker."""
    assert BOARD.trial is not None
    start = BOARD.trial.journal.address
    newest = bytearray(reader(folder)(start, COPY).rstrip(b"\xff")[-RECORD:])
    for entry in range(trial_journal.ENTRIES):
        at = trial_journal.RECORD.offset_of("entries") + entry * trial_journal.ENTRY.size
        if any(newest[at : at + trial_journal.ENTRY.size]):
            struct.pack_into("<H", newest, at + trial_journal.ENTRY.offset_of("state"), State.FAILED)
    seal_as_next(newest)
    program(folder, [(start + COPY - RECORD, bytes(newest))])


def test_a_forged_record_does_not_stop_the_board(built: Project, folder: Path) -> None:
    forge_failures(folder)
    result = boot(built, folder)
    assert trials(result) == ["appli last-resort", "keyword last-resort", "confirmed"]
    assert (started(result), runs(result)) == (["a revision=0"], OLD)
    assert f"n6 fsbl appli slot=a refused {GIVEN_UP}" in result.lines
    # Both have worked, so the journal is right again.
    again = boot(built, folder)
    assert (trials(again), runs(again)) == ([], OLD)


@pytest.mark.slow
def test_a_first_trial_follows_an_ordinary_appli(project: Project) -> None:
    """The ordinary Appli stays in slot A, so the board runs slot B."""
    project.done("model=keyword", "probe=virtual", "flash")
    result = project.scons(*ARGUMENTS, "flash", "run")
    assert "slot=b revision=1" in result.output, result.output
    assert "n6 trial confirmed" in result.output
    assert result.status == 0, result.output


@pytest.mark.slow
def test_another_appli_is_flashed_to_the_other_slot_run_and_confirmed(built: Project, tmp_path: Path) -> None:
    """The virtual board keeps its firmware's writes: another flash does nothing."""
    project = Project(tmp_path / "project", built.home)
    shutil.copytree(built.root, project.root, symlinks=True)
    other = ("firmware/appli_reloc/main.c", '.loader = "reloc"', '.loader = "again"')
    project.replace(*other)
    first = project.scons(*ARGUMENTS, "flash", "run")
    assert "Update Appli, written to slot b as revision 1" in first.output, first.output
    assert "n6 trial appli image=" in first.output
    assert "n6 appli start loader=again" in first.output
    assert "n6 trial confirmed" in first.output
    second = project.scons(*ARGUMENTS, "flash", "verify", "run")
    assert (second.status, second.flashed) == (0, "nothing"), second.output
    assert "n6 trial" not in second.output
    # This Appli never ends, and n6build has no record of it.
    update = put_appli(board_folder(project), with_code(appli_image(project), MASKED + HANGS))
    assert (update.letter, update.revision) == ("a", 2)
    third = project.scons(*ARGUMENTS, "mode=no-flash", "run").refused()
    why = "the board rejects the Appli in slot a, N6-FW-080 started on trial and was not confirmed; slot b runs"
    assert f"N6-RUN-013: {why}" in third.output, third.output


@pytest.mark.slow
def test_the_power_goes_in_every_write_of_the_journal_for_an_appli(
    built: Project, folder: Path, tmp_path: Path
) -> None:
    """The Appli resets the chip; the writes are its starts and the giving up."""
    put_appli(folder, with_code(appli_image(built), RESETS))
    tried = 0
    for _, board in cuts(built, folder, tmp_path):
        result = boot(built, board)
        assert (started(result)[-1], runs(result)) == ("a revision=0", OLD)
        assert started(result).count("b revision=1") <= STARTS
        tried += 1
    assert tried == STARTS + 1


@pytest.mark.slow
def test_the_power_goes_while_an_appli_is_programmed(built: Project, folder: Path) -> None:
    """The host's tests cover every state of every sector."""
    nor = folder / "nor.bin"
    before = nor.read_bytes()
    update = put_appli(folder, appli_image(built))
    after, at = nor.read_bytes(), update.address - BOARD.nor.base
    assert update.letter == "a" and not update.is_new
    update = put_appli(folder, with_code(appli_image(built), HANGS))
    at = update.address - BOARD.nor.base
    sector = nor.read_bytes()[at : at + BOARD.nor.sector]
    for size in (0, 4096, len(update.stored) // 2, len(update.stored) - 1):
        nor.write_bytes(before[:at] + sector[:size].ljust(len(sector), b"\xff") + before[at + len(sector) :])
        result = boot(built, folder)
        assert (started(result), runs(result)) == (["a revision=0"], OLD)
    assert after == before


@pytest.mark.slow
def test_signature_and_counter_hold_for_either_slot(project: Project, tmp_path: Path) -> None:
    """An Appli that is not signed or too old for the fuses is not even tried."""
    signed = (*ARGUMENTS, "trust=code", f"trust_key={key_file(project.home)}", "trust_counter=2", "trust_advance=blow")
    fuses = tmp_path / "board.fuses"
    first = project.scons(*signed, f"fuses={fuses}", "flash", "run")
    assert "n6 trial confirmed" in first.output, first.output
    assert "its FSBL programs the fuses of word 60, and no release with a counter below 2 starts" in first.output
    # Only the start after its confirmation counts.
    assert not fuses.exists()
    built = project.root / "build/nucleo-n657-trust-code"
    image = (built / "keyword-reloc/appli_image.bin").read_bytes()
    folder = board_folder(project)

    def start(board: Board) -> RunResult:
        boot = NorBoot(
            folder / "nor.bin", board, keeps_writes=True, fuses=None if board.fuses != BOARD.fuses else fuses
        )
        elves = [built / "fsbl/fsbl.elf"]
        return run_nor(find_emulator(BOARD.soc), boot, programs=elves, stop=lambda line: line.startswith(ENDS))

    assert "n6 fsbl counter 0 -> 2" in start(BOARD).lines
    update = put_appli(folder, with_code(image, HANGS))
    assert update.letter == "b"
    altered = start(BOARD)
    assert (started(altered), trials(altered)) == (["a revision=0"], [])
    assert "n6 fsbl appli slot=b refused N6-FW-091" in "\n".join(altered.lines)
    # The same Appli is copied to slot B. Its signature is whole, so it is tried.
    program(folder, [(SLOTS[1].address, stored_appli(image, 5))])
    whole = start(BOARD)
    assert started(whole) == ["b revision=5"]
    # Whatever the journal says, the newest signed one is started in the end.
    forge_failures(folder)
    anyway = start(BOARD)
    assert (started(anyway), trials(anyway)[0]) == (["b revision=5"], "appli last-resort")
    word = BOARD.soc.security_counter
    old = start(replace(BOARD, fuses=(Fuse(word, 0b111),)))
    assert old.lines[-1] == "n6 fsbl error N6-FW-085 no slot has a working Appli"
    assert [line for line in old.lines if "refused" in line] == [
        f"n6 fsbl appli slot={slot} refused N6-FW-093 older than this board accepts: the Appli" for slot in "ba"
    ]
