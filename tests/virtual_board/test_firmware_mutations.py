"""Mistakes in bring-up code are caught, most with the cause in the first line.

The table firmware_mutations.yaml has the reason why silicon stops each. Its rows are run with
`harsh=1`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml
from firmware_build import BOARD, PROJECT, bring_up, build, build_appli, image_of
from n6build.base.paths import FIRMWARE, ROOT
from n6build.board.virtual_board.run import Limits, RunResult
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.program_places import fsbl_ram, program_script

from virtual_board.small_programs import PROGRAMS, boot
from virtual_board.test_findings import SUM, WEIGHTS

UNCAUGHT = "-"


@dataclass(frozen=True)
class Mutation:
    """A row of the table.

    Attributes:
        name: Name of the mistake.
        program: Program that is run.
        silicon: Reason why a board stops or goes wrong.
        report: Part of the first line of the report; empty if the run fails without a cause; UNCAUGHT if it
            succeeds.
        edits: File, text that occurs there once, and its replacement.
    """

    name: str
    program: str
    silicon: str
    report: str
    edits: tuple[tuple[str, str, str], ...]


def _table() -> list[Mutation]:
    rows = yaml.safe_load(Path(__file__).with_name("firmware_mutations.yaml").read_text())
    return [
        Mutation(
            name,
            row["program"],
            row["silicon"],
            row["report"],
            tuple((edit["file"], edit["old"], edit["new"]) for edit in row["edits"]),
        )
        for name, row in rows.items()
    ]


MUTATIONS = _table()
DK = load_board("stm32n6570-dk")
LIMITS = Limits(120_000_000, 50_000_000)
_ERROR = re.compile(r"N6-FW-\d+|^n6 fault|^n6 error")
_HEADERS = [f"-I{PROJECT}/tests/virtual_board/programs"]
SOUND = Mutation("sound", "boot", "", "", ())


@dataclass(frozen=True)
class Base:
    """A program without a mistake: its parts are compiled once."""

    board: Board
    sources: tuple[Path, ...]
    options: tuple[str, ...] = ()

    def built(self, folder: Path, mutation: Mutation, objects: Path | None) -> Path:
        """Build the program with a mistake.

        Args:
            folder: Folder for files.
            mutation: The mistake.
            objects: Folder with the objects of an earlier build; None to compile all.
        """
        changed: dict[Path, str] = {}
        for name, old, new in mutation.edits:
            text = changed.get(ROOT / name) or (ROOT / name).read_text()
            assert text.count(old) == 1, f"{mutation.name}: {name} has {text.count(old)} times {old!r}"
            changed[ROOT / name] = text.replace(old, new)
        sources = []
        for source in self.sources:
            compiled = objects / f"{source.parent.name}_{source.stem}.o" if objects else source
            if source in changed:
                compiled = folder / source.name
                compiled.write_text(changed[source])
            sources.append(compiled)
        script = program_script(fsbl_ram(self.board.soc))
        return build(folder, "program", sources, script, board=self.board, of_first=[*self.options, *_HEADERS])


LOADER = FIRMWARE / "fsbl/n6_load_appli.c"
BASES = {
    "boot": Base(BOARD, (FIRMWARE / "fsbl/main.c", LOADER, *bring_up())),
    "weights": Base(BOARD, (PROGRAMS / "weights_to_npu.c", LOADER, *bring_up())),
    "psram": Base(DK, (PROGRAMS / "psram_window.c", LOADER, *bring_up()), ("-DCHANGE=NOTHING",)),
}
_compiled: dict[str, Path] = {}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for programs without a mistake, each built at its first use."""
    _compiled.clear()
    return tmp_path_factory.mktemp("sound")


def objects_of(work: Path, program: str) -> Path:
    if program not in _compiled:
        (work / program).mkdir()
        BASES[program].built(work / program, SOUND, None)
        _compiled[program] = work / program
    return _compiled[program]


def appli_of(work: Path) -> Path:
    if "appli" not in _compiled:
        (work / "appli").mkdir()
        _compiled["appli"] = build_appli(work / "appli", PROGRAMS / "says_hello.c", ["-DDOES=NOTHING"])
    return _compiled["appli"]


def run_with(folder: Path, work: Path, mutation: Mutation) -> RunResult:
    base = BASES[mutation.program]
    elf = base.built(folder, mutation, objects_of(work, mutation.program))
    appli = appli_of(work)
    parts = {
        base.board.slots.fsbl.address: image_of(elf, BinaryType.FSBL),
        base.board.slots.appli.address: image_of(appli, BinaryType.SSBL),
        base.board.slots.weights.address: WEIGHTS,
    }
    return boot(
        folder, parts, [elf, appli] if mutation.program == "boot" else [elf], base.board, limits=LIMITS, harsh=1
    )


RIGHT = {"boot": "hello", "weights": f"sum={SUM}", "psram": "word=0x01020304"}


def first_line(result: RunResult, program: str) -> str | None:
    """Return the first line that reports the mistake.

    It is None if the run succeeds, and empty if it only fails.
    """
    errors = [finding.text for finding in result.findings if not finding.is_warning]
    errors += [line for line in result.lines if _ERROR.search(line)]
    if errors:
        return errors[0]
    return None if RIGHT[program] in result.lines and "end" in result.lines else ""


ALWAYS = ("bss-not-cleared", "pll-not-awaited", "unaligned-store", "psram-refresh", "npu-in-reset")


@pytest.mark.parametrize(
    "mutation",
    [pytest.param(each, marks=() if each.name in ALWAYS else pytest.mark.slow, id=each.name) for each in MUTATIONS],
)
def test_a_mistake_is_reported_as_the_table_shows(tmp_path: Path, work: Path, mutation: Mutation) -> None:
    line = first_line(run_with(tmp_path, work, mutation), mutation.program)
    if mutation.report == UNCAUGHT:
        assert line is None
    else:
        assert line is not None
        assert mutation.report in line


@pytest.mark.parametrize("program", BASES)
def test_the_same_programs_without_a_mistake_have_no_findings(tmp_path: Path, work: Path, program: str) -> None:
    result = run_with(tmp_path, work, replace(SOUND, program=program))
    assert result.findings == ()
    assert RIGHT[program] in result.lines


def test_nine_of_ten_are_caught_and_three_of_four_with_the_cause() -> None:
    caught = [each for each in MUTATIONS if each.report != UNCAUGHT]
    named = [each for each in caught if each.report]
    assert len(MUTATIONS) >= 60
    assert len({each.name for each in MUTATIONS}) == len(MUTATIONS)
    assert all(each.silicon for each in MUTATIONS)
    assert len(caught) >= 0.9 * len(MUTATIONS)
    assert len(named) >= 0.75 * len(MUTATIONS)
