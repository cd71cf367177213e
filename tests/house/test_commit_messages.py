"""The hook for commit messages: short imperative subjects, then a blank line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from this_tree import ROOT

HOOK = ROOT / "tools/hooks/commit-msg"


def refused(message: str, folder: Path) -> str:
    """Return the hook's objection, or an empty string if it has none."""
    (folder / "message").write_text(message)
    result = subprocess.run([HOOK, folder / "message"], capture_output=True, text=True, check=False)
    assert bool(result.returncode) == bool(result.stderr)
    return result.stderr.partition("\n")[0]


@pytest.mark.parametrize(
    "message",
    [
        "Fix the lost header\n",
        f"Fix {'x' * 68}\n\nThe reason, on lines that may be as long as they like: {'y' * 200}\n",
        "Fix the größte header\n\n# Please enter the commit message\n",
        "Merge branch 'x' into a branch with a very long name, as Git itself writes the subject of it\n",
    ],
)
def test_a_short_subject_and_a_reason_pass(message: str, tmp_path: Path) -> None:
    assert refused(message, tmp_path) == ""


@pytest.mark.parametrize(
    ("message", "objection"),
    [
        (f"Fix {'x' * 69}\n", "commit message: the subject has more than 72 letters"),
        ("fix the header\n", "commit message: the subject does not begin with a capital letter"),
        ("Fix the header.\n", "commit message: the subject ends with a full stop"),
        ("Fix the header\nsince it was lost\n", "commit message: the second line is not blank"),
        ("\n", "commit message: the subject does not begin with a capital letter"),
    ],
)
def test_others_are_refused_with_the_reason(message: str, objection: str, tmp_path: Path) -> None:
    assert refused(message, tmp_path).startswith(objection)
