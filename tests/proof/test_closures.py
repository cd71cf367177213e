"""The signature of a step has all the code that the step runs."""

from __future__ import annotations

import ast
import importlib.machinery
import io
import json
import re
import sys
import tokenize
from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest
from n6build.engine.closure import Code, imports_in
from n6build.engine.plan import FORMAT
from slow_rows import telling_rows

from proof.conftest import KINDS, LIBRARY, Build, Builds

FILES = sorted(LIBRARY.rglob("*.py"))
# The function that a step names.
STEP_FUNCTION = re.compile(r"^def \w+\(call: Call\) -> None:\n", re.MULTILINE)
STEPS = sorted(
    "n6build." + ".".join(path.relative_to(LIBRARY).with_suffix("").parts)
    for path in FILES
    if STEP_FUNCTION.search(path.read_text())
)
_DYNAMIC = {"exec", "eval", "__import__", "import_module", "run_module", "run_path", "exec_module", "load_module"}

# importlib has these loaders for every folder of sys.path.
_LOADERS = (
    (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
    (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
    (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
)


def shown(path: Path) -> str:
    return path.relative_to(LIBRARY).as_posix()


def package_of(path: Path) -> str:
    parts = path.relative_to(LIBRARY.parent).with_suffix("").parts
    return ".".join(parts[:-1])


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return the nodes of a module, parsed once: three tests look at each module."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def imports_by_ast(path: Path) -> set[str]:
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an absolute name says more to a reader"
            found.add(str(node.module))
            found |= {f"{node.module}.{alias.name}" for alias in node.names if alias.name != "*"}
    return found


def without_texts(text: str) -> str:
    """Return the source with every string literal emptied."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.STRING:
            (first, begin), (last, end) = token.start, token.end
            lines[first - 1 : last] = [f"{lines[first - 1][:begin]}''{lines[last - 1][end:]}"]
    return "".join(lines)


def offenders(found_in: Callable[[Path], Collection[str]]) -> dict[str, Collection[str]]:
    """Return the findings in the modules of the library, by path, if there are any."""
    assert len(FILES) > 500
    return {shown(path): found for path in FILES if (found := found_in(path))}


def test_imports_are_found_as_the_parser_finds_them() -> None:
    """A docstring may add an import that is none, but no import may be missed."""

    def missed_or_made_up(path: Path) -> set[str]:
        text, package = path.read_text(), package_of(path)
        expected = imports_by_ast(path)
        found = imports_in(text.encode(), package)
        if found == expected:
            return set()
        return (expected - found) | (expected ^ imports_in(without_texts(text).encode(), package))

    assert offenders(missed_or_made_up) == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a import (  # why\n    b,  # one\n    c as d,\n)", {"a", "a.b", "a.c"}),
        ("def f():\n\tfrom . import a", {"p.q", "p.q.a"}),
        ("from ..r.s import *", {"p.r.s"}),
        ("if x:\n    import a; y()", {"a"}),
    ],
)
def test_imports_of_all_forms_are_found(text: str, found: set[str]) -> None:
    assert imports_in(text.encode(), "p.q") == found


def test_a_module_that_is_imported_by_an_imported_one_counts(tmp_path: Path) -> None:
    for name, text in {
        "__init__.py": "",
        "a.py": "def f():\n    from p.b import c\n",
        "b/__init__.py": "",
        "b/c.py": "import p.d\n",
        "d.py": "",
    }.items():
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text(text)
    before = Code({"p": tmp_path / "p"}).digest_of("p.a")
    assert list(Code({"p": tmp_path / "p"}).parts_of("p.a")) == ["p", "p.a", "p.b", "p.b.c", "p.d"]
    for name in ("__init__.py", "b/__init__.py", "b/c.py", "d.py"):
        with (tmp_path / "p" / name).open("a") as file:
            file.write("# new\n")
        now = Code({"p": tmp_path / "p"}).digest_of("p.a")
        assert now != before, name
        before = now


@pytest.mark.parametrize(
    "name", ["q/__init__.py", "q/__init__.pyc", f"q{EXTENSION_SUFFIXES[0]}", f"q{EXTENSION_SUFFIXES[-1]}", "q.pyc"]
)
def test_of_two_files_for_one_name_the_one_counts_that_python_takes(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    (folder / "q").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "q.py").touch()
    (folder / name).touch()
    taken = importlib.machinery.FileFinder(str(folder), *_LOADERS).find_spec("p.q")
    assert taken is not None
    assert str(taken.origin) in Code({"p": folder}).files_of("p.q")


@pytest.mark.parametrize("pattern", ["p.family.*", "p.*.entry"])
def test_members_of_a_family_count_and_so_does_a_new_one(pattern: str, tmp_path: Path) -> None:
    def write(name: str, text: str) -> None:
        (tmp_path / "p" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / name).write_text(text)

    def parts() -> set[str]:
        return set(Code({"p": tmp_path / "p"}).parts_of("p.a"))

    for name in ("__init__.py", "family/__init__.py", "family/one.py", "b/__init__.py", "b/entry.py"):
        write(name, "")
    write("a.py", f'X = members("{pattern}", "X", int)\n')
    member = "p.family.one" if pattern == "p.family.*" else "p.b.entry"
    assert parts() == {"p", "p.a", member.rpartition(".")[0], member}
    write("family/two.py", "")
    write("c/__init__.py", "")
    write("c/entry.py", "")
    new = {"p.family.two"} if pattern == "p.family.*" else {"p.c", "p.c.entry"}
    assert parts() == {"p", "p.a", member.rpartition(".")[0], member} | new


def dynamic_imports(path: Path) -> list[str]:
    used = []
    for node in nodes_of(path):
        if isinstance(node, ast.Name) and node.id in _DYNAMIC:
            used.append(node.id)
        elif isinstance(node, ast.Attribute) and node.attr in _DYNAMIC:
            used.append(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            used += [name for name in names if name in ("runpy", "imp", "builtins", *_DYNAMIC)]
    return used


def test_nothing_is_imported_under_a_name_that_is_made_up() -> None:
    # A step's function is imported by the name in the signature, members of a family by names that the closure lists, and
    # commands, which no step uses, by the names of a table.
    allowed = ("engine/call.py", "base/members.py", "cli/main.py")
    assert offenders(dynamic_imports) == {file: ["import_module"] for file in allowed}


def uses_of_the_environment(path: Path) -> set[str]:
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.name
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute | ast.alias)
    }
    return names & {"environ", "environb", "getenv", "getenvb", "expandvars"}


def test_the_environment_is_read_in_one_place() -> None:
    # The front imports nothing and uses no value: it compares all values with those of an earlier call.
    assert {*offenders(uses_of_the_environment)} <= {"base/environment.py", "engine/ask.py"}


def called_steps(build: Build) -> Iterator[dict[str, Any]]:
    """Yield the steps with a function that builds of a project have done.

    They come from the plans that scons has made for it.
    """
    done = {json.loads(line)["name"] for line in (build.root / "build/.n6build/ledger.jsonl").read_text().splitlines()}
    for path in sorted((build.root / "build/.n6build/plans").iterdir()):
        for step in json.loads(path.read_bytes())["plan"]["steps"]:
            if step.get("function") and step["outputs"][0] in done:
                yield step


def modules_called(build: Build) -> set[str]:
    return {step["function"].partition(":")[0] for step in called_steps(build)}


@pytest.fixture(scope="session")
def reached(builds: Builds) -> set[str]:
    return {module for name in KINDS for module in modules_called(builds.original(name))}


# A debugger needs a board on a cable: tests/end_to_end/test_real_boards.py covers it.
_ON_A_CABLE = "n6build.steps.debug_board"


@pytest.mark.parametrize("module", [module for module in STEPS if module != _ON_A_CABLE])
def test_every_step_is_in_some_build(module: str, reached: set[str]) -> None:
    assert module in reached


# The linked application includes the steps of the FSBL.
@pytest.mark.parametrize("name", telling_rows(KINDS, "fsbl".__ne__))
def test_a_step_loads_nothing_that_it_is_not_signed_with(name: str, builds: Builds, tmp_path: Path) -> None:
    build = builds.copy(name, tmp_path)
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"format": FORMAT, "goals": {}, "steps": list(called_steps(build))}))
    environment = build.kind.environment(build.project)
    result = build.project.call(sys.executable, "-m", "n6build.prove.loaded", plan, folder=None, **environment)
    assert (result.status, result.output.strip()) == (0, "")
