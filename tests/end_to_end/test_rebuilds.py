"""docs/rebuilds.md agrees with the measurement of tools/rebuilds.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.rebuilds import CHANGES, REASONS, prepared, ran_after, row

PAGE = (Path(__file__).resolve().parents[2] / "docs/rebuilds.md").read_text()
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| [^|]+ \| \d+ \| ", line)]


def test_the_page_has_a_row_for_each_change_and_a_reason_for_each_step_that_made_nothing_new() -> None:
    assert [line.split(" | ")[0].removeprefix("| ") for line in ROWS] == [change.name for change in CHANGES]
    idle = {verb for line in ROWS for verb in re.findall(r"`(\w+)`", line.rsplit(" | ", 1)[1])}
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)) == {
        verb: why for verb, why in REASONS.items() if verb in idle
    }
    assert idle <= {*REASONS}


@pytest.mark.slow
def test_what_the_page_says_is_measured(tmp_path: Path) -> None:
    project = prepared(tmp_path)
    assert [row(change, ran_after(change, project, tmp_path)) for change in CHANGES] == ROWS
