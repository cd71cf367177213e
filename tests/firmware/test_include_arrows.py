"""Folders of the firmware include each other in one direction."""

from __future__ import annotations

import graphlib
import re
from pathlib import Path

from n6build.base.paths import FIRMWARE

_INCLUDED = re.compile(r'^\s*#include "(?:[\w.]+/)*(\w+\.h)"', re.MULTILINE)
# main.c of the FSBL starts the trial of an Appli, which loads it as the FSBL does.
_ONE_PROGRAM = {"trial/fsbl": "fsbl"}


def folder_of(path: Path) -> str:
    name = path.parent.relative_to(FIRMWARE).as_posix()
    return _ONE_PROGRAM.get(name, name)


def test_no_folders_include_each_other_in_a_circle() -> None:
    files = [path for path in FIRMWARE.rglob("*.[ch]") if "third_party" not in path.parts]
    owners = {path.name: folder_of(path) for path in files if path.suffix == ".h"}
    arrows: dict[str, set[str]] = {}
    for path in files:
        included = {owners[name] for name in _INCLUDED.findall(path.read_text()) if name in owners}
        arrows.setdefault(folder_of(path), set()).update(included - {folder_of(path)})
    assert "reloc" in arrows["trust/reloc"]
    graphlib.TopologicalSorter(arrows).prepare()
