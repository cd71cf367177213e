"""Real inputs and outputs of the tools that this project works with. They belong to others and are no part of it.

N6BUILD_SAMPLES names their folder, by default shared/samples beside the checkout; set to nothing, it tests without them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).absolute().parents[2] / "shared" / "samples"


def samples_folder() -> Path | None:
    named = os.environ.get("N6BUILD_SAMPLES", str(_BESIDE))
    return Path(named).absolute() if named and Path(named).is_dir() else None


def sample(path: str) -> Path:
    """A file or folder of the samples. The test that asks for it is skipped where it is not there."""
    folder = samples_folder()
    if folder is None:
        pytest.skip("no samples: N6BUILD_SAMPLES names no folder, and there is no shared/samples beside the checkout")
    if not (folder / path).exists():
        pytest.skip(f"the samples have no {path}")
    return folder / path


def sample_core(release: str) -> Path:
    """A release of ST Edge AI Core, or the folder of its runtime.

    That of 2.1 is a link into a project of the samples, which some copies have as a text with its target.
    """
    core = sample(f"core/{release}")
    middleware = core / "Middlewares/ST/AI"
    if middleware.is_dir():
        return core
    target = (middleware.parent / middleware.read_text().strip()).resolve()
    if not target.is_dir():
        pytest.skip(f"the samples have no {target.name} of Core {release}")
    return target
