"""Options that name a FIFO or a device: an error at once, and no replacement."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from trust.host_verifier import key_file

from end_to_end.conftest import Project

# Words that follow the option, and the error.
CASES = {
    "data=NAME": ("model=keyword build", "N6-FILE-002"),
    "data=NAME@0x73000000": ("model=keyword build", "N6-FILE-002"),
    "appli=NAME": ("build", "N6-FILE-002"),
    "fsbl=NAME": ("appli=NAME build", "N6-FILE-002"),
    "trust_key=NAME": ("trust=full model=keyword build", "N6-FILE-002"),
    "inputs=NAME": ("model=keyword probe=virtual run", "N6-OPTION-022"),
    "expected=NAME": ("model=keyword probe=virtual run", "N6-OPTION-022"),
    "audio=NAME": ("model=keyword probe=virtual run", "N6-OPTION-022"),
    "captured=NAME": ("model=keyword compare", "N6-CAPTURE-001"),
    "base=NAME": ("model=keyword merge-report", "N6-OPTION-022"),
    "svd=NAME": ("model=keyword vscode", "N6-OPTION-022"),
    "romfs=NAME": ("romfs", "N6-YAML-001"),
    "model=NAME": ("build", "N6-MODEL-001"),
    "board=NAME": ("model=keyword", "N6-BOARD-001"),
    # An output: a build of root would remove a device of the system.
    "log=NAME": ("loader=reloc model=keyword reloc", "N6-FILE-001"),
}
_ALWAYS = ("appli=NAME", "trust_key=NAME", "log=NAME")


def device(name: str) -> None:
    """Make a device without an end: no test may name one of the system."""
    os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, 5))


MAKERS: dict[str, Callable[[str], None]] = {"fifo": os.mkfifo, "device": device}


@pytest.mark.parametrize("kind", ["fifo", pytest.param("device", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "option", [each if each in _ALWAYS else pytest.param(each, marks=pytest.mark.slow) for each in CASES]
)
def test_is_refused_and_stays(option: str, kind: str, project: Project) -> None:
    name = str(project.home / kind)
    try:
        MAKERS[kind](name)
    except PermissionError:
        pytest.skip("only root makes devices")
    before = Path(name).stat()
    words, id = CASES[option]
    assert f"error {id}" in project.scons(*f"{option} {words}".replace("NAME", name).split()).refused().output
    assert Path(name).stat()[:6] == before[:6]


@pytest.mark.slow
def test_a_key_behind_a_link_is_read(project: Project) -> None:
    key = key_file(project.home)
    (project.home / "link.pem").symlink_to(key)
    project.done("model=keyword", "trust=code", f"trust_key={project.home / 'link.pem'}", "build")
