"""Every public name of the library is described.

It has a docstring, its signature has types, and the errors that it raises are named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Their results are fields of a dataclass, so type checkers see the type that the field declares.
FIELDS = {
    *("word", "names", "switch", "number", "count", "path", "paths", "folder", "size", "placed_files", "listed_paths"),
}
_ID = re.compile(r"N6-([A-Z]+)-(\d[\dx]{2})((?:(?:,| and| or| to) -\d{3})*)")


@dataclass(frozen=True)
class Definition:
    """A public function or class.

    Attributes:
        place: File and line.
        name: Dotted name within its module.
    """

    place: str
    name: str
    node: ast.FunctionDef | ast.ClassDef


@cache
def sources() -> tuple[Path, ...]:
    return tuple(sorted([*ROOT.glob("site_scons/**/*.py"), *ROOT.glob("tools/*.py")]))


@cache
def public() -> tuple[Definition, ...]:
    return tuple(each for path in sources() for each in _public_in(path, ast.parse(path.read_text()), ""))


def _public_in(path: Path, parent: ast.Module | ast.ClassDef, prefix: str) -> Iterator[Definition]:
    for node in parent.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield Definition(f"{path.relative_to(ROOT)}:{node.lineno}", f"{prefix}{node.name}", node)
            if isinstance(node, ast.ClassDef):
                yield from _public_in(path, node, f"{prefix}{node.name}.")


def functions() -> list[tuple[Definition, ast.FunctionDef]]:
    return [(each, each.node) for each in public() if isinstance(each.node, ast.FunctionDef)]


def test_modules_and_public_names_have_a_docstring() -> None:
    assert len(public()) > 800
    assert [path.relative_to(ROOT) for path in sources() if not ast.get_docstring(ast.parse(path.read_text()))] == []
    assert [f"{each.place} {each.name}" for each in public() if not ast.get_docstring(each.node)] == []


def test_a_docstring_ends_like_a_sentence() -> None:
    wrong = [
        f"{each.place} {each.name}"
        for each in public()
        if (text := ast.get_docstring(each.node)) and not text.endswith((".", ":", "`", "?")) and "    " not in text
    ]
    assert wrong == []


def test_public_signatures_do_not_say_any() -> None:
    """Nodes and environments of SCons have no types that could be named."""
    wrong = []
    for each, node in functions():
        if each.place.startswith("site_scons/n6build/") and not (
            each.place.startswith("site_scons/n6build/describe/option.py") and each.name in FIELDS
        ):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            types = [node.returns, *(argument.annotation for argument in named if argument is not None)]
            if any(re.search(r"\bAny\b", ast.unparse(kind)) for kind in types if kind is not None):
                wrong.append(f"{each.place} {each.name}")
    assert wrong == []


def raised_by(function: ast.FunctionDef) -> set[str]:
    """Return the ids of errors that a function raises itself, not in a nested one."""
    found = set()
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) == "N6Error":
            id = node.exc.args[0]
            if isinstance(id, ast.Constant):
                found.add(str(id.value))
        waiting += ast.iter_child_nodes(node)
    return found


def is_named(id: str, text: str) -> bool:
    """Return whether the text names the id, also as part of a list or range.

    Examples of lists are 'N6-OPTION-006 to -009 and -011' and 'N6-YAML-00x'.
    """
    area, number = id.removeprefix("N6-").split("-")
    for named, first, more in _ID.findall(text):
        numbers = re.findall(r"(,| and| or| to) -(\d{3})", more)
        if named == area and (
            re.fullmatch(first.replace("x", r"\d"), number) or number in [each for _, each in numbers]
        ):
            return True
        before = first
        for word, last in numbers:
            if named == area and word == " to" and before <= number <= last:
                return True
            before = last
    # A range may have two full ids: 'N6-SOC-001 to N6-SOC-007'.
    ranges = re.findall(rf"N6-{area}-(\d{{3}}) to N6-{area}-(\d{{3}})", text)
    return any(low <= number <= high for low, high in ranges)


@pytest.mark.parametrize(
    ("id", "text", "named"),
    [
        ("N6-STEP-007", "Raises N6-STEP-007 for a function.", True),
        ("N6-STEP-007", "Raises N6-STEP-001, -002, -005 to -008.", True),
        ("N6-STEP-003", "Raises N6-STEP-001, -002, -005 to -008.", False),
        ("N6-STEP-006", "Raises N6-STEP-001 to N6-STEP-007.", True),
        ("N6-YAML-004", "Raises N6-YAML-00x.", True),
        ("N6-YAML-004", "Raises N6-SOC-00x.", False),
    ],
)
def test_an_id_is_found_as_it_is_written(id: str, text: str, named: bool) -> None:
    assert is_named(id, text) is named


def test_errors_that_a_public_function_raises_are_in_its_docstring() -> None:
    wrong = [
        f"{each.place} {each.name}: {id}"
        for each, node in functions()
        for id in sorted(raised_by(node))
        if not is_named(id, ast.get_docstring(node) or "")
    ]
    assert sum(len(raised_by(node)) for _, node in functions()) > 30
    assert wrong == []


_FRAGMENT = re.compile(
    r"(?:What|Which|Whether|Whose|Where|Why|How|Who|Of|As|From|To|In|For|By|None|With|Without)\b|[a-z_]+(?:, [a-z_]+)*: "
)
_LONGEST_FIRST_LINE = 80


def first_lines() -> Iterator[tuple[str, str]]:
    """Yield place and first line of every docstring, of private names and tests, too."""
    for folder in ("site_scons", "tools", "tests", "models"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                    yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text.splitlines()[0]


def test_the_first_line_of_a_docstring_stands_alone() -> None:
    lines = list(first_lines())
    assert len(lines) > 5000
    assert [f"{place}: {line}" for place, line in lines if _FRAGMENT.match(line)] == []
    assert [f"{place}: {line}" for place, line in lines if len(line) > _LONGEST_FIRST_LINE] == []
