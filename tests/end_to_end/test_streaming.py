"""A streaming model on the virtual board, whose variables go on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streaming_models

from end_to_end.conftest import Project


def _inputs(shape: tuple[int, ...], count: int, folder: Path) -> Path:
    file = folder / "inputs.npy"
    np.save(file, np.random.default_rng(37).integers(-128, 128, (count, *shape), np.int8))
    return file


@pytest.mark.slow
def test_a_sequence_begins_anew_with_each_pass_over_the_inputs(project: Project, tmp_path: Path) -> None:
    model = tmp_path / "ring.tflite"
    model.write_bytes(streaming_models.ring())
    shape = (1, streaming_models.FRAME, 1, streaming_models.CHANNELS)
    options = (f"model={model}", f"inputs={_inputs(shape, 3, tmp_path)}", "probe=virtual")
    for more in ((), ("loader=reloc",)):
        result = project.done(*options, *more, "runs=7", "flash", "run")
        assert "7 of 7 outputs equal the reference interpreter bit for bit" in result.output, result.output
    # Without an input of its own, the firmware runs those in flash.
    result = project.done(f"model={model}", "probe=virtual", "flash", "run")
    assert "outputs equal the reference interpreter bit for bit" in result.output, result.output
