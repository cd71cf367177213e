"""CONTRIBUTING.md's promises about the tree that no other tool checks."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "site_scons/n6build"
MODULES = sorted(LIBRARY.rglob("*.py"))
TOOLS = sorted((ROOT / "site_scons/site_tools").glob("*.py"))
LONGEST = 400
# A run of this many equal statements, compared by more than their line breaks, belongs in one place.
RUN = 6


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_a_module_has_one_reason_to_exist_and_less_than_400_lines() -> None:
    lengths = {shown(path): len(path.read_text().splitlines()) for path in [*MODULES, *TOOLS]}
    assert len(lengths) > 500
    assert {name: length for name, length in lengths.items() if length >= LONGEST} == {}


@pytest.mark.parametrize("path", TOOLS, ids=shown)
def test_a_tool_of_scons_is_thin(path: Path) -> None:
    """A tool does not report errors or parse files; the library does.

    A tool has about one page, and the one that makes nodes has two.
    """
    tree = ast.parse(path.read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not names & {"N6Error", "BuildError"}
    assert not imported & {"json", "re", "struct", "subprocess"}
    described = sum(len(text.splitlines()) for node in ast.walk(tree) if (text := _docstring(node)))
    assert len(path.read_text().splitlines()) - described < (160 if path.stem == "n6" else 125)


def _docstring(node: ast.AST) -> str | None:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return ast.get_docstring(node, clean=False) if isinstance(node, kinds) else None


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return (number, text) of the lines with statements.

    Imports, comments, docstrings, lone brackets and names of arguments do not count.
    """
    text = path.read_text()
    without = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            without |= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = [(number, line.split("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [
        (number, line)
        for number, line in lines
        # A line that only passes an argument on under its own name does not count either.
        if number not in without and any(map(str.isalnum, line)) and not re.fullmatch(r"(\w+)=_?\1,", line)
    ]


def test_no_run_of_lines_is_there_twice() -> None:
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in MODULES:
        lines = _lines(path)
        for start in range(len(lines) - RUN + 1):
            run = tuple(line for _, line in lines[start : start + RUN])
            places[run].append(f"{shown(path)}:{lines[start][0]}")
    assert [where for where in places.values() if len(where) > 1] == []


# Reads that do not go through base/regular_file.py, with the reason.
_OTHER_READERS = {
    "base/processor.py": "/proc, whose files have no size",
    "base/regular_file.py": "it opens all others",
    "cli/main.py": "/dev/null, for a console that was closed",
    "compile/st_edge_ai/run_compiler.py": "/proc, whose files have no size",
    "engine/ask.py": "the answer of the front, before anything is imported; without waiting",
    "engine/local.py": "the FIFO of make's job server",
    "engine/keep.py": "/proc, whose files have no size",
    "engine/ledger.py": "a record that it appends to",
    "engine/lock.py": "a lock that it opens for writing",
    "place/trust/signers.py": "a session with a token, which is no file",
    "prove/loaded.py": "/dev/null, and a pipe of its own",
}
# Names of files that `open_regular` has opened, for libraries that read from such.
_OPEN_FILES = {"file", "opened"}
_READING = {"read_bytes", "read_text", "open", "fromfile", "memmap", "file_digest"}


def _reads_of_files(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that open a file for reading by its name."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if isinstance(function, ast.Name) and name != "open":
            continue  # Functions of base/files.py have the names of methods of a path.
        modes = [str(each.value) for each in (*call.args, *(word.value for word in call.keywords)) if _is_mode(each)]
        is_in_memory = name == "open" and any("BytesIO" in ast.unparse(each) for each in call.args)
        is_open = bool(call.args) and ast.unparse(call.args[0]) in _OPEN_FILES
        writes = name == "open" and any(set(mode) & set("wax+") for mode in modes)
        if name in _READING and not writes and not is_in_memory and not is_open:
            yield call


def _is_mode(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) <= 3


def test_one_function_opens_files() -> None:
    """Any other read could wait for a FIFO, or never end at a device."""
    found = defaultdict(list)
    for path in LIBRARY.rglob("*.py"):
        for call in _reads_of_files(ast.parse(path.read_bytes())):
            found[str(path.relative_to(LIBRARY))].append(f"{call.lineno}: {ast.unparse(call)}")
    assert {file: calls for file, calls in found.items() if file not in _OTHER_READERS} == {}
    assert set(_OTHER_READERS) - set(found) == set(), "no longer read by themselves"
