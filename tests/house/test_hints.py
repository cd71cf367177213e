"""Hints in messages are valid: the named targets, options and files exist.

The same holds for make targets, tools and keys.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from n6build.compile.neural_art.backend import NpuOptions
from n6build.compile.st_edge_ai.st_edge_ai_options import CompilerOptions
from n6build.describe.backend_names import backend_names
from n6build.describe.hardware.board import BoardFile
from n6build.describe.model import ModelFile
from n6build.describe.project_settings import OPTIONS
from n6build.describe.targets import TARGETS
from n6build.describe.until import MODES

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("site_scons/**/*.py"), *ROOT.glob("tools/*.py")])
_OPTIONS = {option.name: option for option in OPTIONS}
# A message is an argument of one of these calls, or is first assembled under one of these names.
_CALLS = {"N6Error", "Finding", "Meaning", "_error", "_wrong", "_fail", "_failure", "_damaged", "_text", "fail"}
_NAMES = {"hint", "what", "_HINTS", "_TEXTS", "_MESSAGE_HINTS", "_FIRMWARE_HINTS", "UNPLUG", "fix"}
# These names occur in messages, but belong to other programs or to a line of a table.
_NOT_OURS = {"signo", "kind", "off"}


# The backends own the schema of these keys.
_OF_BACKENDS = {
    *(f"network.{name}" for name in backend_names()),
    *(f"network.st_edge_ai.{field.name}" for field in fields(CompilerOptions)),
    *(f"network.neural_art.{field.name}" for field in fields(NpuOptions)),
}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def text_of(node: ast.AST) -> str:
    """Return a literal's text, with '{}' for each inserted value."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def literals_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for each literal; an f-string is one literal."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        if text := text_of(node):
            yield node.lineno, text
        return
    for child in ast.iter_child_nodes(node):
        yield from literals_in(child)


def messages(path: Path) -> list[tuple[int, str]]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            parts = [*node.args, *(each.value for each in node.keywords)] if called in _CALLS else []
            parts += [each.value for each in node.keywords if each.arg in _NAMES]
        elif isinstance(node, ast.Assign):
            named = {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            parts = [node.value] if named & _NAMES else []
        elif isinstance(node, ast.Return) and node.value is not None:
            # A function may return sentences that another one prints.
            parts = [node.value]
        else:
            continue
        for part in parts:
            found |= {(line, text) for line, text in literals_in(part) if " " in text}
    return sorted(found)


@cache
def all_messages() -> list[tuple[str, str]]:
    """Return (place, text) of all messages in the sources and the index of errors."""
    found = [(f"{path.relative_to(ROOT)}:{line}", text) for path in SOURCES for line, text in messages(path)]
    return found + [
        (f"docs/errors.md:{number}", line)
        for number, line in enumerate((ROOT / "docs/errors.md").read_text().splitlines(), 1)
        if line.startswith("| N6-")
    ]


def of(pattern: str) -> list[tuple[str, Any]]:
    """Return (place, match) for each match of the pattern in a message.

    A match is a text, or a tuple if the pattern has several groups.
    """
    return [(where, found) for where, text in all_messages() for found in re.findall(pattern, text)]


def test_messages_are_found() -> None:
    assert len(all_messages()) > 600
    assert ("scons", "doctor") in {("scons", found) for _, found in of(r"\bscons (\w+)")}


def test_targets() -> None:
    """The first word behind `scons` that is no option and no switch is a target."""
    known = set(TARGETS)
    named = of(r"(?<!\w)scons((?: (?:\.\.\.|-\w+|[a-z_]+=[^ `]*))*) ([a-z][\w-]*)")
    assert len(named) > 20
    assert [(where, target) for where, (_, target) in named if target not in known] == []


def test_make_targets() -> None:
    known = make_targets()
    named = of(r"`make ([a-z-]+)") + of(r"^make ([a-z-]+)(?:$| \()")
    assert len(named) > 4
    assert [(where, target) for where, target in named if target not in known] == []


def test_options() -> None:
    wrong = []
    named = of(r"(?<![\w.=$-])([a-z_]+)=([^\s,;:'`\"()]*)")
    for where, (name, value) in named:
        option = _OPTIONS.get(name)
        known = option is not None and (
            not option.choices or value in ("", "{}") or "{" in value or value in option.choices
        )
        if name == "mode":
            known = value in MODES or "{" in value
        if not known and name not in _NOT_OURS:
            wrong.append((where, f"{name}={value}"))
    assert len(named) > 40
    assert wrong == []


def test_files() -> None:
    """Paths of this project in messages exist."""
    named = of(r"(?<![\w/])((?:tools|firmware|boards|models|site_scons|docs)/[\w/.-]*\w)")
    missing = [(where, path) for where, path in named if not (ROOT / path).exists()]
    assert named
    assert missing == []


def keys(kind: Any, prefix: str = "") -> Iterator[str]:
    for field in fields(kind):
        name = f"{prefix}{field.name}"
        yield name
        hint = get_type_hints(kind)[field.name]
        for inner in (hint, *get_args(hint)):
            if is_dataclass(inner):
                yield from keys(inner, f"{name}.")


@pytest.mark.parametrize(
    ("kind", "roots"),
    [
        (ModelFile, "network|vectors|application|quantise"),
        (BoardFile, "nor|slots|console|external_ram"),
    ],
)
def test_keys(kind: Any, roots: str) -> None:
    """Keys of model.yaml and board.yaml in messages exist."""
    known = {*keys(kind), *_OF_BACKENDS}
    named = of(rf"(?<![\w./])((?:{roots})\.[a-z_][\w.]*\w)(?![\w./(])")
    unknown = [
        (where, key)
        for where, key in named
        if key not in known and not key.endswith((".c", ".h", ".md", ".py", ".yaml", ".raw"))
    ]
    assert named
    assert unknown == []
