"""Names from outside are data: they are not executed and do not break anything.

Every input path is tried, and unsupported names are refused.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from end_to_end.conftest import Project, make_project

# Each name would make the file PWNED if SCons substituted it or a shell saw it. There is no comma, because it
# separates models.
SUBSTITUTED = "${__import__('os').system('touch PWNED')}"
NAMES = [
    SUBSTITUTED,
    "`touch PWNED`",
    "$(touch PWNED)",
    "a;touch PWNED;",
    "a&touch PWNED&",
    "a|touch PWNED",
    'quote\'d "twice"',
    "back\\slash",
    "$HOME $$ $SOURCE ${TARGET}",
    "#hash",
    "-o",
    "per%cent *?[star] {{ 7 * 7 }}",
    "Zürich 漢字",
    "new\nline",
    "e\x1b]0;title\x07\x1b[2J",
    ".hidden",
    "..",
]
# The project's own SConstruct handles many applications at once. Planned-only applications have their nodes.
SCRIPT = """
import json
from dataclasses import replace
from SCons.Script import DefaultEnvironment, Environment, SetOption

DefaultEnvironment(tools=[])
SetOption("hash_format", "sha256")
env = Environment(tools=["n6", "n6_options", "n6_application"])
env.N6Database()
for number, way in enumerate(json.load(open("ways.json"))):
    # Each has a virtual board of its own.
    choices = replace(env.N6Options(way["arguments"]), pair=str(number))
    plan = env.N6Plan(choices, way["goals"])
    nodes = env.N6Steps(plan)
    env.Default([nodes[path] for path in nodes if way["made"] and path.endswith(way["made"])])
"""
# Options that name files for a board, a page or an editor. They are only planned, with these arguments and
# goals.
PLANNED = [
    ({}, ("fsbl", "appli", "linker_map", "linker_script", "data"), ("flash", "run")),
    ({"board": "stm32n6570-dk"}, ("audio", "svd", "base"), ("flash", "run", "vscode", "merge-report")),
]


def assert_nothing_was_run(folder: Path) -> None:
    assert not list(folder.rglob("PWNED"))


def ways_of(root: Path, number: int, name: str, compiled: Path) -> Iterator[dict[str, object]]:
    """Write files with this name, and yield the applications that use them.

    Args:
        number: Number of the name.
        compiled: A compiled network.
    """
    own = root / "models/anomaly"

    def way(made: str, *goals: str, **arguments: str) -> dict[str, object]:
        return {"arguments": arguments, "goals": goals, "made": made}

    for folder in ("bare", f"described/{name}", f"compiled/{name}"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(own / "anomaly.tflite", root / "bare" / f"{name}.tflite")
    bare = {"model": f"bare/{name}.tflite", "probe": "virtual"}
    rows = f"files/{name}.npy"
    yield way("network.c", "network", "flash", "run", **bare, inputs=rows, expected=rows)

    file = name if name.isprintable() else "plain"
    described = {
        "name": f"mine-{number}",
        "file": f"{file}.tflite",
        "description": name,
        "quality": {"metric": name, "value": 1.0, "on": name},
        "made_by": name,
        "classes": [name, "b"],
        "vectors": {"inputs": f"{file}.npy", "labels": [name]},
        "reference": {"waive": name},
        "checks": {"waive": {"N6-CHECK-014": name}},
    }
    shutil.copy(own / "anomaly.tflite", root / f"described/{name}/{file}.tflite")
    shutil.copy(own / "inputs.npy", root / f"described/{name}/{file}.npy")
    (root / f"described/{name}/model.yaml").write_text(json.dumps(described))
    yield way("network.c", "network", model=f"described/{name}")

    for path in compiled.iterdir():
        shutil.copy(path, root / f"compiled/{name}" / (f"{name}.xSPI2.raw" if path.suffix == ".raw" else path.name))
    yield way("network.c", "network", model=f"compiled/{name}", profile="noextmem")

    for more, options, goals in PLANNED:
        yield way("", *goals, **bare, **more, **dict.fromkeys(options, f"files/{name}.npy"))


def file_system(root: Path) -> dict[str, object]:
    """Return a description whose pattern matches files with these names."""
    folder = root / "rom" / SUBSTITUTED
    folder.mkdir(parents=True)
    for name in NAMES:
        if name.isascii() and name.isprintable():
            (folder / f"{name}.txt").write_text("label\n")
    entries = {"0": {"size": 65536, "entries": [{"type": "txt", "path": "*.txt"}]}}
    (folder / f"{SUBSTITUTED}.json").write_text(json.dumps(entries))
    arguments = {"board": "openmv-n6", "model": "anomaly", "romfs": f"rom/{SUBSTITUTED}/{SUBSTITUTED}.json"}
    return {"arguments": arguments, "goals": ["romfs"], "made": "romfs0.img"}


# In every run: test_a_name_that_is_not_utf_8_is_refused,
# test_a_file_that_is_not_there_is_named_without_driving_the_terminal, tests/report/test_report.py (names),
# tests/plan/test_picture.py (names).
@pytest.mark.slow
def test_every_way_in(project: Project) -> None:
    assert project.scons("model=anomaly", "network").status == 0
    compiled = project.root / "build/nucleo-n657/anomaly/network"
    ways = [way for number, name in enumerate(NAMES) for way in ways_of(project.root, number, name, compiled)]
    ways.append(file_system(project.root))
    (project.root / "ways.json").write_text(json.dumps(ways))
    (project.root / "SConstruct").write_text(SCRIPT)
    cache = project.home / SUBSTITUTED
    result = project.done(N6BUILD_CACHE=str(cache))
    assert not set("\x1b\x07") & set(result.output)
    # The networks are a bare file, a description and a folder with a compiled network.
    folders = {action for action in result.actions if action.startswith("Network")}
    assert len(folders) == 3 * len(NAMES)
    assert "Romfs romfs/romfs0.img" in result.actions
    assert [path.name for path in sorted((project.root / "build").iterdir()) if path.name != ".n6build"] == [
        "nucleo-n657",
        "openmv-n6",
    ]
    assert cache.is_dir()
    assert_nothing_was_run(project.root.parent)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        f'it\'s "mine" (1) & $x`touch PWNED`$(touch PWNED);#%{SUBSTITUTED}',
        pytest.param("-o new\nline\x1b[2J\\", marks=pytest.mark.slow),
    ],
    ids=["shell and scons", "control characters"],
)
def test_the_name_of_the_checkout(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    project = make_project(folder)
    result = project.done("model=anomaly", "probe=virtual", "flash", "run")
    assert "10 of 10 outputs equal" in result.output
    assert project.scons("model=anomaly", "probe=virtual", "flash").actions == []
    assert "\x1b" not in result.output
    assert_nothing_was_run(tmp_path)


REFUSED = [
    ("models/mine/model.yaml", {"name": "mine", "file": "a\nb\x1b[2J.tflite"}, "model.yaml:1: file: error N6-YAML-004"),
    ("models/mine/model.yaml", {"name": "../mine", "file": "x"}, "model.yaml:1: name: error N6-MODEL-007"),
    ("models/mine/model.yaml", {"name": "fsbl", "file": "x"}, "model.yaml:1: name: error N6-MODEL-007"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("file", "content", "message"), REFUSED, ids=["terminal", "way out", "another's folder"])
def test_a_description_with_such_a_name_is_refused_where_models_are_listed(
    project: Project, file: str, content: dict[str, str], message: str
) -> None:
    path = project.root / file
    path.parent.mkdir()
    path.write_text(json.dumps(content))
    result = project.scons("models").refused()
    assert f"models/mine/{message}" in result.output
    assert "\x1b" not in result.output


def test_a_name_that_is_not_utf_8_is_refused(project: Project) -> None:
    name = os.fsdecode(b"mod\xffel.tflite")
    shutil.copy(project.root / "models/anomaly/anomaly.tflite", project.root / name)
    assert "mod\\udcffel.tflite: error N6-FILE-004" in project.scons(f"model={name}", "network").refused().output


def test_a_file_that_is_not_there_is_named_without_driving_the_terminal(project: Project) -> None:
    result = project.scons(
        "model=anomaly", "data=no\x1b[2Jthing@0x70180000", "build/nucleo-n657/anomaly/data_1.bin"
    ).refused()
    assert "no\\x1b[2Jthing: error N6-FILE-002" in result.output
    assert "\x1b" not in result.output
