"""An edit of YAML reaches exactly the steps that use the edited value."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from n6build.base.environment import read_environment
from n6build.base.files import sha256, write_atomically
from n6build.base.paths import MACHINE_FILES, project_path
from n6build.board.virtual_board.build import place_of_emulator
from n6build.board.virtual_board.machine import machine_sources
from n6build.describe.choices import Choices
from n6build.describe.hardware import board_header, program_places
from n6build.describe.hardware.boards import board_names, load_board
from n6build.engine.closure import library_code
from n6build.engine.local import local_site
from n6build.engine.plan import Plan
from n6build.engine.step import Call, Tool
from n6build.steps import firmware_headers
from n6build.steps.firmware_headers import board_header_steps, program_script_step
from n6build.steps.pipeline import application_plan
from n6build.steps.planning import planned as remembered_or_planned

from tools.rebuilds import CHANGES

ROOT = Path(__file__).resolve().parents[2]
BOARD = "nucleo-n657"
CLOCK_HEADER, CONSOLE_HEADER = "Header n6_board_clock.h", "Header n6_board_console.h"
NOR_HEADER, SLOTS_HEADER = "Header n6_board_nor.h", "Header n6_board_slots.h"
NETWORK, PLAN, CHECK = "Network network.c", "Plan memory_plan.json", "Check checks.json"
MANIFEST, SIZES, VECTORS = "Manifest flash_manifest.json", "Sizes sizes.txt", "Vectors vectors.bin"
# A provenance contains the digest of each file, and so changes with any of them.
ORIGIN = "Origin provenance.json"
# The keys are names of tools/rebuilds.py. The values are the steps that take other input; later steps depend on their
# outputs.
TAKEN: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "a comment in board.yaml",
            "an empty line in board.yaml",
            "the order of the keys of board.yaml",
            "the title of the board",
            "another name of the board",
            "the name of the NOR's part",
            "a hint for programmers",
            "the watchdog of trials, without trial=on",
            "a comment in the chip's YAML",
            "a comment in the family's YAML",
            "the order of the chip's interrupts",
            "the chip's device id",
            "executable RAM for relocatable models",
            "the stack of the boot ROM",
            "the fuse word of signed releases",
            "a comment in the NOR's YAML",
            "how long the NOR is busy",
            "the parameter tables of the NOR",
        ),
        frozenset({ORIGIN}),
    ),
    **dict.fromkeys(
        (
            "the description of another board",
            "a comment in model.yaml",
            "the order of the keys of model.yaml",
            "the description of the model",
            "the quality of the model",
            "the labels of the test vectors",
            "one bit of an expected output",
            "a file of another model",
            "a page that nothing reads",
        ),
        frozenset[str](),
    ),
    "the baud rate of the console": frozenset({CONSOLE_HEADER, ORIGIN}),
    **dict.fromkeys(
        ("the clock that the board starts with",),
        frozenset({CLOCK_HEADER, NOR_HEADER, "Flash virtual-nucleo-n657.json", ORIGIN}),
    ),
    **dict.fromkeys(
        ("the fastest clock of the NOR", "the dummy cycles of the NOR"),
        frozenset({NOR_HEADER, ORIGIN}),
    ),
    **dict.fromkeys(
        ("the size of slot vectors", "the size of slot appli"),
        frozenset({SLOTS_HEADER, PLAN, MANIFEST, SIZES, ORIGIN}),
    ),
    "the size of slot weights": frozenset({SLOTS_HEADER, NETWORK, PLAN, MANIFEST, SIZES, CHECK, ORIGIN}),
    "a pool's figures in board.yaml": frozenset({NETWORK, ORIGIN}),
    "the figures of a pool of the chip": frozenset({NETWORK, ORIGIN}),
    "the size of a pool that is not full": frozenset({NETWORK, CHECK, ORIGIN}),
    "the number of interrupts": frozenset({"Header n6_soc_interrupts.h", ORIGIN}),
    "an unused memory of the chip": frozenset({"Header n6_soc_memories.h", CHECK, ORIGIN}),
    "the result of the model": frozenset({PLAN}),
    "a waiver": frozenset({CHECK}),
    "the size of a memory pool, by the model": frozenset({NETWORK, CHECK}),
    "one bit of a weight": frozenset({NETWORK, ORIGIN}),
    "one bit of a bias": frozenset({NETWORK, ORIGIN}),
    "the description inside the model file": frozenset({NETWORK, ORIGIN}),
    "one bit of a test input": frozenset({VECTORS, ORIGIN}),
}


def planned(root: Path, **choices: object) -> Plan:
    given = Choices(launched=str(root), probe="virtual", **choices)  # type: ignore[arg-type]
    return application_plan(given, read_environment(), {"build", "flash"}, "virtual")


def matrix_pair(root: Path) -> Plan:
    given = Choices(launched=str(root), probe="virtual", board=BOARD, models=("keyword",), pair="keyword")
    return remembered_or_planned(given, {"run"}, local_site(root / "build", {}))


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def differing(before: Plan, after: Plan, edited: set[str]) -> frozenset[str]:
    """Return 'Verb file' of steps that have changed or read an edited file."""
    known = {step.name: step for step in before.steps}
    return frozenset(
        f"{step.verb} {Path(step.name).name}"
        for step in after.steps
        if known.get(step.name) != step or edited & {*step.sources, *step.templates}
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a project with its own boards and models."""
    for name in ("boards", "models"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_an_edit_reaches_the_steps_that_use_what_was_edited(project: Path, every: int) -> None:
    before, original = planned(project), contents(project)
    found = {}
    for change in [each for each in CHANGES if each.name in TAKEN][::every]:
        change.make(project)
        edited = {file for file, data in contents(project).items() if original.get(file) != data}
        found[change.name] = differing(before, planned(project), edited)
        for file in edited:
            (project / file).write_bytes(original[file])
    assert found == {name: TAKEN[name] for name in found}
    assert every > 1 or found.keys() == TAKEN.keys()
    assert planned(project) == before


def test_a_run_of_a_matrix_is_known_by_its_emulator(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator counts by its content, not by its release.

    A cached run of another emulator may differ.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "cache"))
    plans, known = [], []
    for release in ("7.2", "10.0"):
        monkeypatch.setenv("N6BUILD_QEMU", release)
        plans.append(matrix_pair(project))
        known.append("")
        for content in (f"an emulator on {release}", f"another one on {release}"):
            write_atomically(place_of_emulator(machine_sources(load_board(BOARD).soc)), content)
            plans.append(matrix_pair(project))
            known.append(sha256(content.encode()))
    runs = [next(step for step in plan.steps if step.verb == "Run") for plan in plans]
    assert [run.tools for run in runs] == [(Tool("qemu-system-arm", digest),) for digest in known]
    assert {differing(plans[0], plan, set()) for plan in plans[1:3]} == {frozenset({"Run run.json"})}
    # The sources of the machine count, and so do the changes of QEMU's own sources.
    assert project_path(MACHINE_FILES / "n6virt_xspi.c") in runs[0].sources
    assert "n6build.board.virtual_board.qemu" in library_code().parts_of("n6build.steps.run_board")


def test_what_reaches_no_step_of_one_application_reaches_those_of_another(project: Path) -> None:
    """Values that the steps above do not take are used by other steps."""
    reloc = {"loader": "reloc", "models": ("keyword",)}
    before = planned(project, **reloc)
    chip = project / "boards/soc/stm32n6.yaml"
    chip.write_text(chip.read_text().replace("executable_ram: 512K", "executable_ram: 256K"))
    assert differing(before, planned(project, **reloc), set()) == {PLAN, CHECK}


@pytest.mark.parametrize("name", board_names())
def test_a_board_comes_through_parameters_as_it_is(name: str, tmp_path: Path) -> None:
    """Registers and similar lists are then in the order of their names.

    Their order in the YAML makes no difference.
    """
    board = load_board(name)
    script = program_places.program_script(program_places.appli_ram(board.soc))
    for step, make, text in (
        *(
            (step, firmware_headers.make_board_headers, text)
            for step, text in zip(
                board_header_steps(str(tmp_path), board), board_header.header_texts(board).values(), strict=True
            )
        ),
        (program_script_step(f"{tmp_path}/p.ld", board, "appli"), firmware_headers.make_program_script, script),
    ):
        make(Call((Path(step.name),), (), step.parameters, tmp_path))
        assert sorted(Path(step.name).read_text().splitlines()) == sorted(text.splitlines())
        assert step.sources == ()


def test_checks_of_somebody_else_s_program_stay_on_the_machine_that_knows_its_sources(project: Path) -> None:
    program = project / "appli.bin"
    program.write_bytes(struct.pack("<II", 0x34200000, 0x34000409) + b"\xfe\xe7" * 2)
    for choices, is_shared in (({}, True), ({"appli": str(program)}, False)):
        (check,) = (step for step in planned(project, models=("anomaly",), **choices).steps if step.verb == "Check")
        assert check.shared == is_shared
