"""The project's tasks, done by blobs on clips outside training and calibration.

The blobs run on their own results.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import main
from benchmarks.held_out import held_out

from own_blobs.compiled import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("task", ["keyword", "miniresnet"])
def test_of_held_out_clips_at_most_one_in_a_hundred_gets_another_class(task: str, tmp_path: Path) -> None:
    found = held_out(task, 240, tmp_path)
    assert found.same is not None
    assert found.same >= 0.99 * found.clips
    # The classes may only differ if LiteRT itself hardly prefers one.
    assert found.undecided <= 2
    assert min(found.npu, found.litert) >= 0.95
    # Roundings add up over a network, but no further than this.
    assert found.far.max() <= 8


@pytest.mark.slow
def test_an_autoencoder_tells_anomalies_as_well(tmp_path: Path) -> None:
    found = held_out("anomaly", 100, tmp_path)
    assert found.npu == pytest.approx(found.litert, abs=0.005)


@pytest.mark.slow
def test_the_tables_of_the_documentation_are_what_one_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The tables cover the project's own models; other files come from elsewhere."""
    assert main(["neural-art"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    page = (ROOT / "docs/neural-art-compiler.md").read_text().splitlines()
    # There are three headers with a line below each, three models, and three tasks.
    assert len(rows) == 12
    assert [row for row in rows if row not in page] == []
