"""Installation of the fake compiler in the tree of ST Edge AI Core.

Packs of X-CUBE-AI have the same tree.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARY = HERE.parents[1] / "site_scons"
BUILDS = {
    "2.0": "2.0.0-20049",
    "2.1": "2.1.0-20194 329b0e98d",
    "2.2": "2.2.0-20266 2adc00962",
    "3.0": "3.0.0-20426 123672867",
    "4.0.0": "4.0.0-20500 359356bb0",
    "4.0.1": "4.0.1-20581 7ed50de05",
}


def install(root: Path, release: str = "4.0.1", *, scenario: str = "success", machine: str = "one") -> Path:
    """Install the fake compiler; return its executable.

    Args:
        root: Root of the tree.
        release: Release of ST Edge AI Core.
        scenario: Key of stedgeai.FAILURES, or 'success'.
        machine: Machine whose paths and dates the output contains.
    """
    folder = root / "Utilities" / "linux"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "build": BUILDS.get(release, release),
        "scenario": scenario,
        "machine": machine,
        "library": str(LIBRARY),
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    executable = folder / "stedgeai"
    script = HERE / "stedgeai.py"
    executable.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "{folder}/settings.json" "$@"\n')
    executable.chmod(0o755)
    return executable
