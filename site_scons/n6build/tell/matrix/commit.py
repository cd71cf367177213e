"""Commit of the project that a result belongs to."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from n6build.base.captured import run_captured

UNKNOWN = "unknown"
Commit = Annotated[str, Meta(pattern=r"^([0-9a-f]{7,64}(-dirty)?|unknown)\Z")]
_TIMEOUT_S = 20


def commit_of(project: Path) -> str:
    """Return the commit that is checked out, with '-dirty' if a file differs from it.

    The result is 'unknown' if git does not know the commit.
    """
    try:
        status, commit = run_captured(["git", "-C", project, "rev-parse", "--verify", "HEAD"], _TIMEOUT_S)
        changed, _ = run_captured(["git", "-C", project, "diff", "--quiet", "HEAD"], _TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return UNKNOWN
    if status:
        return UNKNOWN
    return f"{commit.strip()}-dirty" if changed else commit.strip()
