"""The common changes of CONTRIBUTING.md need only the files of their example.

Each example is laid over a copy of the project.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from end_to_end.conftest import Project, make_project
from n6build.describe.hardware.boards import load_board
from programmer_stand_ins.board import Settings, make_desk

EXAMPLES = Path(__file__).resolve().parent / "examples"
TESTS = EXAMPLES.parents[1]
BOARD = load_board("nucleo-n657")
_ROW = re.compile(r"^\| \[(\w+)\]\(tests/house/examples/(\w+)\) \| (\d+) \|", re.MULTILINE)


def with_example(folder: Path, name: str) -> Project:
    """Copy the project, add the files of an example, and apply its patch."""
    project = make_project(folder)
    shutil.copytree(EXAMPLES / name, project.root, dirs_exist_ok=True)
    for patch in project.root.glob("*.patch"):
        subprocess.run(["git", "apply", "--unidiff-zero", patch], cwd=project.root, check=True)
    return project


def _counts(path: Path) -> bool:
    """Return whether a file counts; tests and `__init__.py` do not."""
    return path.name != "__init__.py" and path.parts[0] != "tests"


def files_of(name: str) -> list[Path]:
    """Return the example's paths in the project: new files and patched files."""
    found = [path for path in sorted((EXAMPLES / name).rglob("*")) if path.is_file() and path.suffix != ".pyc"]
    patches = [path for path in found if path.suffix == ".patch"]
    edited = [re.findall(r"^\+\+\+ b/(.*)$", path.read_text(), re.MULTILINE) for path in patches]
    new = [path.relative_to(EXAMPLES / name) for path in found if path not in patches]
    return [*new, *(Path(file) for files in edited for file in files)]


def test_the_table_of_changes_counts_their_files() -> None:
    table = {folder: int(count) for _, folder, count in _ROW.findall((TESTS.parent / "CONTRIBUTING.md").read_text())}
    counted = {path.name: sum(map(_counts, files_of(path.name))) for path in EXAMPLES.iterdir()}
    assert table == counted


@pytest.mark.parametrize("patch", sorted(EXAMPLES.rglob("*.patch")), ids=lambda path: path.parent.name)
def test_a_patch_of_an_example_applies(patch: Path, tmp_path: Path) -> None:
    for name in re.findall(r"^\+\+\+ b/(.*)$", patch.read_text(), re.MULTILINE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TESTS.parent / name, tmp_path / name)
    subprocess.run(["git", "apply", "--unidiff-zero", patch], cwd=tmp_path, check=True)


# In every run: test_a_check and test_an_option here, tests/network/test_new_operator.py; boards themselves in
# tests/hardware.
@pytest.mark.slow
def test_a_board(tmp_path: Path) -> None:
    project = with_example(tmp_path, "board")
    result = project.done("board=trainer-n6", "model=anomaly", "probe=virtual", "flash", "run")
    assert "outputs equal the reference interpreter bit for bit" in result.output
    assert "trainer-n6 Trainer N6, 32 MB NOR" in project.scons("boards").output


@pytest.mark.slow
def test_a_chip(tmp_path: Path) -> None:
    project = with_example(tmp_path, "chip")
    project.replace("boards/openmv-n6/board.yaml", "soc: stm32n657", "soc: stm32n6-small")
    project.done("board=openmv-n6", "model=anomaly", "build")
    assert "N6_AXISRAM5_SIZE 0x00030000u" in (project.root / "build/openmv-n6/include/n6_soc_memories.h").read_text()


@pytest.mark.slow
def test_a_nor_with_other_commands(tmp_path: Path) -> None:
    project = with_example(tmp_path, "nor")
    project.replace("boards/nucleo-n657/board.yaml", "commands: macronix-octal", "commands: inverted-modes")
    result = project.done("board=nucleo-n657", "model=anomaly", "probe=virtual", "flash", "run")
    assert "nor id=0x00c2803a mode=opi-dtr" in result.output
    assert "outputs equal the reference interpreter bit for bit" in result.output


def test_an_option(tmp_path: Path) -> None:
    project = with_example(tmp_path, "option")
    assert re.search(r"greeting +said before anything else \[N6BUILD_GREETING\]", project.scons("-h").output)
    assert project.scons("greeting=moin", "plan", "network").status == 0
    refused = project.scons("boards", N6BUILD_GREETING="moim")
    assert "N6BUILD_GREETING: error N6-OPTION-002: invalid value 'moim' for option 'greeting'" in refused.output
    assert "did you mean 'moin'?" in refused.output


@pytest.mark.slow
def test_a_backend(tmp_path: Path) -> None:
    project = with_example(tmp_path, "backend")
    (project.root / "constant.tflite").write_bytes((project.root / "models/anomaly/anomaly.tflite").read_bytes())
    result = project.done("model=constant.tflite", "network")
    assert "Backend constant, as the reference backend" in result.output
    assert "Backend reference" in project.scons("model=constant.tflite", "backend=reference", "network").output
    assert "constant, neural_art, prebuilt, reference, st_edge_ai" in " ".join(project.scons("-h").output.split())
    project.replace("models/anomaly/model.yaml", "network:", "network:\n  constant: {greting: hi}")
    wrong = project.scons("model=anomaly", "network")
    assert "network.constant.greting: error N6-YAML-003: unknown key 'greting'" in wrong.output


# In every run: test_a_check and test_an_option here, tests/network/test_new_operator.py; steps themselves in
# tests/plan.
@pytest.mark.slow
def test_a_stage(tmp_path: Path) -> None:
    project = with_example(tmp_path, "stage")
    assert project.scons("model=anomaly", "build").status == 0
    listed = (project.root / "build/nucleo-n657/anomaly/checksums.txt").read_text().splitlines()
    assert [line.split()[1] for line in listed] == [
        "fsbl_image.bin",
        "appli_image.bin",
        "vectors.bin",
        "weights_xSPI2.bin",
    ]
    assert "Checksums" not in project.scons("model=anomaly", "build").output
    project.replace("models/anomaly/model.yaml", "name: anomaly", "name: anomaly  # again")
    assert "Checksums" not in project.scons("model=anomaly", "build").output
    project.change_one_weight("anomaly")
    assert project.scons("model=anomaly", "build").output.count("Checksums") == 1


def test_a_check(tmp_path: Path) -> None:
    project = with_example(tmp_path, "check")
    result = project.scons("model=keyword", "check")
    assert result.status == 2
    assert json.loads((project.root / "build/last_error.json").read_text())["id"] == "N6-CHECK-099"
    assert "fewer than our camera gives" in result.output
    assert (
        "hint: train the model with a larger input; or accept it with a reason: checks.waive.N6-CHECK-099"
        in result.output
    )
    waiver = "checks: {waive: {N6-CHECK-099: it sees enough}}\nresult: classification"
    project.replace("models/keyword/model.yaml", "result: classification", waiver)
    result = project.done("model=keyword", "check")
    assert "waived: it sees enough" in result.output


@pytest.mark.slow
def test_a_programmer(tmp_path: Path) -> None:
    project = with_example(tmp_path, "programmer")
    desk = make_desk(tmp_path / "desk", Settings(size=BOARD.nor.size, erase=BOARD.nor.sector))
    stand_ins = project.root / "tests"
    shutil.copytree(TESTS / "programmer_stand_ins", stand_ins / "programmer_stand_ins", dirs_exist_ok=True)
    command = desk.commands / "flashcat"
    command.write_text(
        f"#!{sys.executable} -IS\nimport sys\nfrom pathlib import Path\nsys.path.insert(0, {str(stand_ins)!r})\n"
        "from programmer_stand_ins.flashcat import main\n"
        f"with open({str(desk.commands / 'calls')!r}, 'a') as calls:\n    calls.write(' '.join(sys.argv[1:]) + '\\n')\n"
        f"sys.exit(main(Path({str(desk.folder)!r}), sys.argv[1:]))\n"
    )
    command.chmod(0o755)
    path = f"{desk.commands}:{os.environ['PATH']}"
    result = project.done("model=keyword", "probe=flashcat", "flash", PATH=path)
    assert result.flashed == "4 of 4 sectors programmed and verified (256.0 KiB)"
    verbs = [call.split()[1] for call in desk.calls() if call != "list"]
    assert verbs[0] == "id"
    assert {"read", "write"} <= set(verbs)
    assert project.scons("model=keyword", "probe=flashcat", "flash", PATH=path).flashed == "already up to date"
    # The help, `doctor` and spelling hints list the new programmer, too.
    assert "(flashcat, openocd, probe-rs, pyocd, stm32cubeprogrammer)" in " ".join(project.scons("-h").output.split())
    assert "programs a real board: probe=flashcat" in project.scons("doctor", PATH=path).output
    assert "did you mean 'flashcat'" in project.scons("probe=flashcap:0041", "flash", PATH=path).output
