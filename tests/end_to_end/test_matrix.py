"""Every board with every model in one call, and the cache of a second checkout."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from end_to_end.conftest import Project, make_project

PAIRS = ("matrix", "boards=nucleo-n657,stm32n6570-dk", "models=keyword,anomaly", "-j2")
INSTALLED = ("matrix", "boards=nucleo-n657", "models=keyword", "loader=reloc", "slots=2", "-j2")


def results(project: Project) -> dict[tuple[str, str], dict[str, Any]]:
    pairs = json.loads((project.root / "build/matrix/matrix.json").read_text())
    return {(pair["board"], pair["model"]): pair for pair in pairs}


def test_every_pair_is_built_and_run(project: Project) -> None:
    result = project.done(*PAIRS)
    assert "Matrix 4 of 4 passed" in result.output
    assert "warning" not in result.output
    assert {pair: each["equal"] for pair, each in results(project).items()} == {
        ("nucleo-n657", "keyword"): 10,
        ("nucleo-n657", "anomaly"): 10,
        ("stm32n6570-dk", "keyword"): 10,
        ("stm32n6570-dk", "anomaly"): 10,
    }
    again = project.scons(*PAIRS)
    assert again.actions == []
    assert again.output.count("up to date") >= 4
    assert again.output.count("the same") == 4
    assert (project.root / "build/matrix/matrix.html").read_text().count('<tr class="passed"') == 4
    assert not list(project.root.rglob("firmware.hex"))


@pytest.mark.slow
def test_parts_of_a_matrix_are_joined_and_compared_with_the_commit_before(project: Project) -> None:
    """Two shards imitate two machines with the same build.

    Afterwards, changed pairs run again, and nothing else.
    """
    pairs = (*PAIRS[:1], "boards=nucleo-n657", *PAIRS[2:])
    for number in (1, 2):
        assert "Matrix 1 of 1 passed" in project.done(*pairs, f"shard={number}/2").output
    (project.root / "n6build.yaml").write_text("matrix: {history: figures.jsonl, most_growth: {instructions: 1}}\n")
    parts = sorted((project.root / "build/matrix").glob("shard-*.json"))
    merged = project.call(sys.executable, "-m", "n6build", "matrix-merge", *parts).done()
    assert "Matrix 2 of 2 passed" in merged.output
    history = project.root / "figures.jsonl"
    (line,) = history.read_text().splitlines()
    before = json.loads(line) | {"commit": "0" * 40}
    before["figures"]["nucleo-n657/keyword"]["instructions"] //= 2
    history.write_text(f"{json.dumps(before)}\n{line}\n")
    project.change_one_weight("keyword")
    result = project.scons(*pairs).refused()
    assert [action for action in result.actions if action.startswith("Run")] == ["Run keyword/run.json"]
    assert re.search(r"n6build.yaml:1: matrix.most_growth.instructions: error N6-MATRIX-006: .*keyword", result.output)
    assert "Matrix 2 of 2 passed" in result.output


@pytest.mark.slow
def test_one_pair_that_fails_is_no_reason_not_to_try_the_others(project: Project) -> None:
    assert project.scons(*PAIRS).status == 0
    # The file's digest is no longer the one in model.yaml.
    path = project.root / "models/keyword/keyword.tflite"
    path.write_bytes(path.read_bytes() + b"\0")
    result = project.scons(*PAIRS).refused()
    assert "Matrix 2 of 4 passed" in result.output
    assert result.output.count("broken") == 2
    failed = results(project)["nucleo-n657", "keyword"]
    assert "N6-MODEL" in failed["failure"]
    suite = ElementTree.parse(project.root / "build/matrix/matrix.xml").find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "2"


@pytest.mark.slow
def test_a_second_checkout_takes_what_the_first_has_built(
    project: Project, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The second checkout takes linked and installed models from the cache.

    It also takes runs, and programs its boards itself.
    """
    cache = f"cache={tmp_path / 'cache'}"
    pairs = (*PAIRS[:1], "boards=nucleo-n657", *PAIRS[2:])
    assert project.scons(*pairs, cache).status == 0
    assert project.scons(*INSTALLED, cache).status == 0
    other = make_project(tmp_path_factory.mktemp("second-machine"))
    result = other.done(*pairs, cache)
    assert "Matrix 2 of 2 passed" in result.output
    assert {action.split()[0] for action in result.actions} == {"Flash"}
    assert {each["built"] for each in results(other).values()} == {"cache"}
    installed = other.done(*INSTALLED, cache)
    assert {action.split()[0] for action in installed.actions} == {"Flash"}
    run = "build/nucleo-n657/keyword-reloc/run.json"
    assert (other.root / run).read_bytes() == (project.root / run).read_bytes()


@pytest.mark.slow
def test_a_model_in_another_slot_is_run_by_whoever_has_it_there(project: Project, tmp_path: Path) -> None:
    """The flash memory differs from all that the cache knows."""
    cache = f"cache={tmp_path / 'cache'}"
    assert project.scons(*INSTALLED, cache).status == 0
    for revision in (1, 2):
        project.change_one_weight("keyword")
        result = project.scons(*INSTALLED, cache)
        assert f"Update keyword, written to slot {'ab'[revision % 2]} as revision {revision}" in result.output
        assert [action for action in result.actions if action.startswith("Run")] == ["Run keyword-reloc/run.json"]


def test_a_board_or_model_that_does_not_exist(project: Project) -> None:
    assert "did you mean 'nucleo-n657'?" in project.scons("matrix", "boards=nucleo-n658").output
    assert "N6-MODEL-001" in project.scons("matrix", "models=keywort").output


@pytest.mark.slow
def test_the_results_of_a_run_as_junit(project: Project) -> None:
    assert project.scons("model=keyword", "probe=virtual", "flash", "run").status == 0
    suite = ElementTree.parse(project.root / "build/nucleo-n657/keyword/run.xml").find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("nucleo-n657 keyword", "10", "0")
