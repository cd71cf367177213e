"""A remembered plan is reused only while all its sources are unchanged."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from called import call

ROOT = Path(__file__).resolve().parents[2]
# Plans a copy in a process of its own; prints the number of steps, and whether they had to be computed.
PLAN = """
import json, os, sys
from pathlib import Path
from dataclasses import replace
from n6build.base import uses
from n6build.describe.choices import Choices
from n6build.base.environment import read_environment
from n6build.engine.closure import library_code
from n6build.engine.remember import remembered_plan

def chosen(values):
    return Choices(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})

opened = []
def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, os.PathLike)):
        flags = arguments[2] if event == "open" and isinstance(arguments[2], int) else 0
        if not flags & (os.O_WRONLY | os.O_RDWR):
            opened.append(os.path.abspath(os.fsdecode(arguments[0])))

made = []
def make():
    from n6build.steps.pipeline import application_plan
    sys.addaudithook(hook)
    with uses.recorded() as used:
        plan = application_plan(chosen(json.loads(sys.argv[1])), environment, {"build", "run"}, "virtual", notes)
    made.append(plan)
    ours = str(Path.cwd()) + "/"
    known = {use.path for use in used.lines}
    missed = [path for path in opened if path.startswith(ours) and path not in known and "/build/" not in path]
    missed = [path for path in missed if not path.endswith((".py", ".pyc")) and "/site_scons" not in path]
    print("missed", sorted(set(missed)))
    return plan

environment = read_environment()
build = Path("build").absolute()
notes = build / ".n6build"
plan = remembered_plan(sys.argv[1], build, library_code(), "n6build.steps.pipeline", make, keep=True)
print("steps", len(plan.steps), "made" if made else "remembered")
"""
CHOICES: list[dict[str, object]] = [
    {"probe": "virtual"},
    {"probe": "virtual", "loader": "reloc", "split": True},
    {"probe": "virtual", "models": ["keyword", "anomaly"], "profile": "noextmem"},
]


def planned(project: Path, choices: dict[str, object]) -> list[str]:
    environment = {"PYTHONPATH": str(project / "site_scons"), "PATH": _path(), "HOME": str(project)}
    result = call(sys.executable, "-c", PLAN, json.dumps(choices), cwd=project, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def _path() -> str:
    compiler = shutil.which("arm-none-eabi-gcc")
    assert compiler, "arm-none-eabi-gcc is missing: make setup"
    return f"{Path(compiler).parent}:/usr/bin:/bin"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name in ("site_scons", "boards", "models", "firmware", "tools"):
        shutil.copytree(ROOT / name, root / name)
    for path in root.rglob("*.pyc"):
        path.touch()
    return root


@pytest.mark.parametrize("choices", CHOICES, ids=["linked", "reloc", "two models"])
def test_planning_reads_nothing_that_is_not_noted(project: Path, choices: dict[str, object]) -> None:
    shutil.rmtree(project / "build", ignore_errors=True)
    lines = planned(project, choices)
    assert lines[0] == "missed []"
    assert lines[1].endswith(" made")
    assert planned(project, choices) == [lines[1].replace(" made", " remembered")]


def appended(file: str, text: str = "\n# new\n") -> Callable[[Path], None]:
    def change(project: Path) -> None:
        with (project / file).open("a") as opened:
            opened.write(text)

    return change


def a_new_source(project: Path) -> None:
    (project / "firmware/fsbl/n6_new.c").write_text("int n6_new;\n")


def a_new_board(project: Path) -> None:
    shutil.copytree(project / "boards/nucleo-n657", project / "boards/other")


def damaged(project: Path) -> None:
    (path,) = (project / "build/.n6build/plans").glob("*.json")
    path.write_bytes(path.read_bytes()[:-100])


def another_plan(project: Path) -> None:
    """Write a cache with a plan that was edited by hand."""
    (path,) = (project / "build/.n6build/plans").glob("*.json")
    document = json.loads(path.read_text())
    del document["plan"]["steps"][0]["outputs"]
    path.write_text(json.dumps(document))


CHANGES = {
    "a board": (appended("boards/nucleo-n657/board.yaml"), "made"),
    "the chip": (appended("boards/soc/stm32n657.yaml"), "made"),
    "what the chip's file includes": (appended("boards/soc/stm32n6.yaml"), "made"),
    "the model's description": (appended("models/miniresnet/model.yaml"), "made"),
    "a new C file": (a_new_source, "made"),
    "a template that includes": (appended("firmware/templates/network.c.j2"), "made"),
    "the code that plans": (appended("site_scons/n6build/steps/firmware.py"), "made"),
    "the version of the runtime": (appended("firmware/runtime/ll_aton_version.h", "\n/* new */\n"), "made"),
    "a damaged note": (damaged, "made"),
    "a note that is no plan": (another_plan, "made"),
    "the content of a model file": (appended("models/miniresnet/miniresnet.tflite", "x"), "made"),
    "another board": (a_new_board, "remembered"),
    "a C file": (appended("firmware/fsbl/main.c", "\n/* new */\n"), "remembered"),
}


@pytest.mark.slow
def test_a_plan_is_made_again_where_it_may_be_another(project: Path, tmp_path: Path) -> None:
    """The changes follow one another: each begins with the plan of the one before."""
    copy = Path(shutil.copytree(project, tmp_path / "project", ignore=shutil.ignore_patterns("build")))
    for path in copy.rglob("*.pyc"):
        path.touch()
    planned(copy, CHOICES[0])
    found = {}
    for name, (change, _) in CHANGES.items():
        change(copy)
        found[name] = planned(copy, CHOICES[0])[-1].split()[-1]
    assert found == {name: expected for name, (_, expected) in CHANGES.items()}
