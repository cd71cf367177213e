"""The project's tasks, done by blobs that run on their own results, on clips that neither training nor calibration saw."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from own_blobs.compiled import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from bench_held_out import held_out


@pytest.mark.slow
@pytest.mark.parametrize("task", ["keyword", "miniresnet"])
def test_of_held_out_clips_at_most_one_in_a_hundred_gets_another_class(task: str, tmp_path: Path) -> None:
    found = held_out(task, 100, tmp_path)
    assert found.same is not None
    assert found.same >= 99
    assert min(found.npu, found.litert) >= 0.95
    # Roundings add up over a network, but no further than this.
    assert found.far.max() <= 8


@pytest.mark.slow
def test_an_autoencoder_tells_anomalies_as_well(tmp_path: Path) -> None:
    found = held_out("anomaly", 100, tmp_path)
    assert found.npu == pytest.approx(found.litert, abs=0.005)
