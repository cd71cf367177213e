"""Relocatable models whose code runs unprivileged (confine=on).

The tests check the code's rights, and that it has no others.
"""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import pytest
from core_tree import make_core
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot, RunResult, run_nor
from n6build.describe.hardware.boards import load_board

from end_to_end.conftest import Project, make_project
from end_to_end.crafted_models import HANGS, MASKED, RETURNS, halfwords, load, put_code, writes
from end_to_end.test_reloc import EQUAL, application, board_folder, images_of, program, update_of

BOARD = load_board("nucleo-n657")
# The slowest clock is chosen because the virtual board runs every instruction of a hanging model's ten
# seconds.
ARGUMENTS = ("loader=reloc", "probe=virtual", "model=keyword", "confine=on", "clock=hsi")
APPLI = BOARD.soc.load_and_run.load_address
NOT_ITS_OWN = "N6-FW-083 accesses memory that is not its own"
EVERY = [each for each in itertools.product(("copy", "xip"), "01") if each != ("copy", "0")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with `keyword` in slot A.

    Its outputs equal those of a model that is not confined.
    """
    project = make_project(tmp_path_factory.mktemp("confined"))
    assert EQUAL in project.done(*ARGUMENTS, "slots=2", "flash", "run").output
    return project


@pytest.mark.slow
@pytest.mark.parametrize(("load_mode", "split"), EVERY)
def test_a_model_computes_the_same(load_mode: str, split: str, project: Project) -> None:
    assert EQUAL in project.done(*ARGUMENTS, f"load={load_mode}", f"split={split}", "flash", "run").output


@pytest.mark.slow
@pytest.mark.parametrize("options", [("profile=noextmem",), ("board=stm32n6570-dk", "profile=extram")])
def test_a_model_with_other_pools_computes_the_same(options: tuple[str, ...], project: Project) -> None:
    assert EQUAL in project.done(*ARGUMENTS, *options, "flash", "run").output


@pytest.mark.slow
def test_two_models_take_turns(project: Project) -> None:
    result = project.scons("loader=reloc", "probe=virtual", "model=keyword,anomaly", "confine=on", "flash", "run")
    assert "20 of 20 outputs equal" in result.output, result.output


@pytest.mark.slow
def test_a_runtime_that_calls_models_on_its_own_is_refused(project: Project, tmp_path: Path) -> None:
    core = make_core(tmp_path / "core", (1, 1, 3, 275))
    result = project.scons(*ARGUMENTS, "backend=reference", "build", STEDGEAI_CORE_DIR=str(core)).refused()
    assert "N6-CONFINE-001: 'confine=on' needs n6build's runtime" in result.output


def boot_with(
    code: bytes,
    project: Project,
    tmp_path: Path,
    entry: str = "input_buffers_info",
    *,
    last: str = "n6 done",
    times: int = 1,
) -> RunResult:
    """Boot with a newer model with this code in slot B.

    Args:
        last: The run ends with the `times`-th line that begins with this text.
    """
    left = itertools.count(1)

    def stop(line: str) -> bool:
        return line.startswith("n6 fault") or (line.startswith(last) and next(left) == times)

    folder, app = tmp_path / "board", tmp_path / "application"
    shutil.copytree(board_folder(project), folder)
    shutil.copytree(application(project), app)
    put_code(app / "model.bin", code, entry)
    program(folder, images_of(update_of(app, folder)))
    return run_nor(
        find_emulator(BOARD.soc),
        NorBoot(folder / "nor.bin", BOARD),
        programs=[project.root / "build/nucleo-n657/fsbl/fsbl.elf", application(project) / "appli/appli.elf"],
        stop=stop,
    )


def reads(address: int) -> bytes:
    return load(0, address) + halfwords(0x6801)  # ldr r1, [r0]


def calls(address: int) -> bytes:
    return load(0, address | 1) + halfwords(0x4700)  # bx r0


def asks(number: int, address: int, size: int) -> bytes:
    """Return code that requests a service by SVC."""
    return load(0, address) + load(1, size) + halfwords(0xDF00 | number) + RETURNS


def base_of(peripheral: str) -> int:
    base = BOARD.soc.peripherals[peripheral].base
    assert base is not None
    return base


ESCAPES = {
    "writes to the Appli": writes(APPLI + 0x2000, 0),
    "reads from the Appli": reads(APPLI + 0x2000),
    "calls the Appli": calls(APPLI + 0x4000),
    "writes to a peripheral": writes(base_of("RCC"), 0),
    "writes to the NPU": writes(base_of("NPU"), 1),
    "resets the chip": writes(0xE000ED0C, 0x05FA0004) + HANGS,
    "switches the MPU off": writes(0xE000ED94, 0),
    "moves its stack to the Appli": load(0, APPLI + 0xF0000) + halfwords(0x4685, 0xB401),  # mov sp, r0; push {r0}
    "has lines of the Appli invalidated": asks(2, APPLI, 0x1000),
    "asks for what there is not": asks(9, 0, 0),
    "says that its inputs are in the Appli": load(0, APPLI + 0x2000) + RETURNS,
}


_ALWAYS = ("writes to the Appli", "calls the Appli", "resets the chip", "has lines of the Appli invalidated")


@pytest.mark.parametrize(
    "how", [each if each in _ALWAYS else pytest.param(each, marks=pytest.mark.slow) for each in ESCAPES]
)
def test_a_model_reaches_nothing_that_is_not_its_own(how: str, built: Project, tmp_path: Path) -> None:
    result = boot_with(ESCAPES[how], built, tmp_path)
    assert f"n6 model keyword slot=b refused {NOT_ITS_OWN}" in result.lines, result.lines
    assert len([line for line in result.lines if line.startswith("n6 appli start")]) == 1
    assert re.search(r"n6 model keyword slot=a revision=0 .* ok", "\n".join(result.lines))
    assert result.lines[-1] == "n6 done runs=10"


@pytest.mark.slow
def test_a_model_that_masks_interrupts_is_interrupted(built: Project, tmp_path: Path) -> None:
    result = boot_with(MASKED + HANGS, built, tmp_path)
    assert "n6 model keyword slot=b refused N6-FW-058 faults or does not end" in result.lines
    assert result.lines[-1] == "n6 done runs=10"


@pytest.mark.slow
def test_a_model_that_breaks_out_or_hangs_later_ends_with_the_id_and_a_reset(project: Project, tmp_path: Path) -> None:
    """The application makes the first inference, as there is no self-test here."""
    before = "    if (!N6_RUNTIME_DRIVES_NPU && !network->keeps_state) {"
    project.replace("firmware/appli_reloc/n6_model.c", before, f'    if (input != NULL) {{ return ""; }}\n{before}')
    assert project.scons(*ARGUMENTS, "slots=2", "flash").status == 0
    for name, code, error in (
        ("out", writes(APPLI + 0x2000, 0), "N6-FW-083 a model accesses memory that is not its own"),
        ("hangs", MASKED + HANGS, "N6-FW-086 a model faults or does not end"),
    ):
        (tmp_path / name).mkdir()
        result = boot_with(code, project, tmp_path / name, "ec_inference_init", last="n6 fsbl start", times=2)
        assert result.lines[-2:] == (f"n6 appli error {error}", "n6 fsbl start board=nucleo-n657")
