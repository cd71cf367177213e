"""Real inputs and outputs of third-party tools, which are not part of n6build.

N6BUILD_SAMPLES names their folder, by default shared/samples beside the checkout. If it is set but
empty, the tests run without them.
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
    """Return a file or folder of the samples, or skip the test if it is missing."""
    folder = samples_folder()
    if folder is None:
        pytest.skip("no samples: N6BUILD_SAMPLES names no folder, and there is no shared/samples beside the checkout")
    if not (folder / path).exists():
        pytest.skip(f"the samples have no {path}")
    return folder / path


def sample_core(release: str) -> Path:
    """Return a release of ST Edge AI Core, or the folder of its runtime.

    The folder of 2.1 is a link into a project of the samples. In some copies it is a text with the
    link's target.
    """
    core = sample(f"core/{release}")
    middleware = core / "Middlewares/ST/AI"
    if middleware.is_dir():
        return core
    target = (middleware.parent / middleware.read_text().strip()).resolve()
    if not target.is_dir():
        pytest.skip(f"the samples have no {target.name} of Core {release}")
    return target
