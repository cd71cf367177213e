"""The comment for a merge request, from a base branch's file to Markdown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from end_to_end.conftest import Project

KEYWORD = ("model=keyword", "merge-report")
FOLDER = "build/nucleo-n657/keyword"


def used(project: Project, name: str) -> int:
    (sizes,) = sizes_of(project)
    return next(int(figure["used"]) for figure in sizes["figures"] if figure["name"] == name)


def sizes_of(project: Project) -> list[dict[str, Any]]:
    return list(json.loads((project.root / FOLDER / "sizes.json").read_text())["applications"])


# In every run: tests/report/test_merge.py.
@pytest.mark.slow
def test_a_change_of_the_appli_is_in_the_comment(project: Project) -> None:
    assert "Compared No comparison" in project.done(*KEYWORD).output
    base = project.root / "base.json"
    base.write_bytes((project.root / FOLDER / "merge_report.json").read_bytes())
    before = used(project, "Appli in RAM")

    assert "Compared No size has changed" in project.scons(*KEYWORD, f"base={base}").output
    again = project.scons(*KEYWORD, f"base={base}")
    assert again.actions == [], "the same sizes and the same base are no reason to write it again"

    project.replace(
        "firmware/appli/n6_link.c",
        "static n6_message_t request, answer;",
        "static n6_message_t request, answer; static volatile uint8_t more[4096]; more[0]++;",
    )
    project.done(*KEYWORD, f"base={base}")
    grown = used(project, "Appli in RAM") - before
    assert grown >= 4096
    markdown = (project.root / FOLDER / "merge_report.md").read_text()
    assert f"**{grown:+,}**" in markdown
    assert "| bank AXISRAM3 | " in markdown
    assert "sizes changed in 1 of 1 application." in markdown


@pytest.mark.slow
def test_a_base_that_is_none(project: Project) -> None:
    (project.root / FOLDER).mkdir(parents=True)
    (project.root / FOLDER / "sizes.json").write_text("{}")
    assert "N6-SIZES-003" in project.scons(*KEYWORD, f"base={FOLDER}/sizes.json").refused().output
    (project.root / "base.json").write_text("{}")
    assert "base.json: error N6-SIZES-001" in project.scons(*KEYWORD, "base=base.json").refused().output


@pytest.mark.slow
def test_a_matrix_makes_one_comment_of_all(project: Project) -> None:
    pairs = ("matrix", "boards=nucleo-n657,stm32n6570-dk", "models=keyword", "-j2")
    assert project.scons(*pairs).status == 0
    report = project.root / "build/matrix/merge_report.json"
    base = project.root / "base.json"
    base.write_bytes(report.read_bytes())
    result = project.scons(*pairs, "base=base.json")
    assert "Compared No size has changed, build/matrix/merge_report.md" in result.output
    assert report.with_suffix(".md").read_text().count("<details>") == 2
    base.write_text("[]")
    refused = project.scons(*pairs, "base=base.json").refused()
    assert "N6-SIZES-001" in refused.output
    assert refused.actions == [], "refused before anything is built"
