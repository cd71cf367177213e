"""The cases of tools/bench.py, and the documented commands that name them."""

from __future__ import annotations

import re

import bench
import pytest
from this_tree import ROOT

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("firmware/**/*.md")]


def test_every_case_is_listed_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--list"]) == 0
    listed = dict(re.findall(r"^([\w-]+) +(Yield .+\.)$", capsys.readouterr().out, re.MULTILINE))
    assert list(listed) == list(bench.CASES)


def test_the_documentation_names_cases_that_exist() -> None:
    named = {name for page in PAGES for name in re.findall(r"tools/bench\.py ([a-z][\w-]*)", page.read_text())}
    assert named <= bench.CASES.keys()
    assert {"front", "kernels", "scale", "remote", "remote-matrix", "neural-art"} <= named


@pytest.mark.parametrize("words", [["unknown"], ["front", "unknown=1"], ["front", "file"]])
def test_unknown_words_end_with_the_known_ones(words: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"pipeline, stages|has these options: runs"):
        bench.main(words)
