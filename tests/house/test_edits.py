"""Texts that tests replace in copies of the project are in the project.

Without this, only the slow tests would find that a changed line was edited by one of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FUNCTIONS = {"replace", "edit"}
_WITH_FILE = 3


def edits() -> Iterator[tuple[str, str, str, str]]:
    """Yield place, file, old and new text of each edit that is written out."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_bytes())):
            if not isinstance(call, ast.Call) or len(call.args) != _WITH_FILE:
                continue
            function = call.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            file, old, new = (each.value if isinstance(each, ast.Constant) else None for each in call.args)
            if (
                name in _FUNCTIONS
                and isinstance(file, str)
                and "/" in file
                and isinstance(old, str)
                and (ROOT / file).is_file()
            ):
                yield f"{path.relative_to(ROOT)}:{call.lineno}", file, old, new if isinstance(new, str) else ""


def test_every_edited_text_is_there() -> None:
    found = list(edits())
    assert len(found) > 70
    made = [(file, new) for _, file, _, new in found]
    lost = [
        f"{place}: {file} has no {old!r}"
        for place, file, old, _ in found
        if old not in (ROOT / file).read_text() and not any(where == file and old in new for where, new in made)
    ]
    assert lost == []
