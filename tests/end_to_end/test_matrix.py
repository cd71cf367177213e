"""Every board with every model in one call, and a second checkout that has nothing left to build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from end_to_end.conftest import Project, make_project

PAIRS = ("matrix", "boards=nucleo-n657,stm32n6570-dk", "models=keyword,anomaly", "-j2")


def results(project: Project) -> dict[tuple[str, str], dict[str, Any]]:
    pairs = json.loads((project.root / "build/matrix/matrix.json").read_text())
    return {(pair["board"], pair["model"]): pair for pair in pairs}


def test_every_pair_is_built_and_run(project: Project) -> None:
    result = project.scons(*PAIRS)
    assert result.status == 0, result.output
    assert "Matrix 4 of 4 passed" in result.output
    assert "warning" not in result.output
    assert {pair: each["equal"] for pair, each in results(project).items()} == {
        ("nucleo-n657", "keyword"): 10,
        ("nucleo-n657", "anomaly"): 10,
        ("stm32n6570-dk", "keyword"): 10,
        ("stm32n6570-dk", "anomaly"): 10,
    }
    again = project.scons(*PAIRS)
    assert {action.split()[0] for action in again.actions} == {"Run"}
    assert again.output.count("up to date") >= 4
    assert again.output.count("the same") == 4
    assert (project.root / "build/matrix/matrix.html").read_text().count('<tr class="passed"') == 4


def test_one_pair_that_fails_is_no_reason_not_to_try_the_others(project: Project) -> None:
    assert project.scons(*PAIRS).status == 0
    # A file that is not the one that its model.yaml knows.
    path = project.root / "models/keyword/keyword.tflite"
    path.write_bytes(path.read_bytes() + b"\0")
    result = project.scons(*PAIRS)
    assert result.status == 2
    assert "Matrix 2 of 4 passed" in result.output
    assert result.output.count("broken") == 2
    failed = results(project)["nucleo-n657", "keyword"]
    assert "N6-MODEL" in failed["failure"]
    suite = ElementTree.parse(project.root / "build/matrix/matrix.xml").find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "2"


def test_a_second_checkout_takes_what_the_first_has_built(
    project: Project, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = f"cache={tmp_path / 'cache'}"
    assert project.scons(*PAIRS, cache).status == 0
    other = make_project(tmp_path_factory.mktemp("second-machine"))
    result = other.scons(*PAIRS, cache)
    assert result.status == 0, result.output
    assert "Matrix 4 of 4 passed" in result.output
    ran = {action.split()[0] for action in result.actions}
    assert ran <= {"Flash", "Run"}, result.actions
    assert {each["built"] for each in results(other).values()} == {"cache"}


def test_a_board_or_model_that_does_not_exist(project: Project) -> None:
    assert "did you mean 'nucleo-n657'?" in project.scons("matrix", "boards=nucleo-n658").output
    assert "N6-MODEL-001" in project.scons("matrix", "models=keywort").output


def test_the_results_of_a_run_as_junit(project: Project) -> None:
    assert project.scons("model=keyword", "probe=virtual", "flash", "run").status == 0
    suite = ElementTree.parse(project.root / "build/nucleo-n657/keyword/run.xml").find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("nucleo-n657 keyword", "10", "0")
