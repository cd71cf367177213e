"""The map of the source tree, made from the docstrings of the library's packages."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from n6build.base.paths import LIBRARY

from reference_docs.markdown import code, page, table, text

_HEAD = """\
This page is for you if you change n6build itself: it tells you which package holds the code that you look for. It is made
from the docstrings of the packages in `site_scons/n6build`. A package imports those above it in this list, never those
below; `make lint` checks that."""


def house_page(root: Path) -> str:
    """Return the page with every package, what comes in, what goes out, and its parts.

    Args:
        root: Folder of pyproject.toml, whose first contract has the packages in their order.
    """
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name for layer in reversed(layers) for name in sorted(layer.split(" | "))]
    packages = (name for name in names if (LIBRARY / name).is_dir())
    return page("The source tree", _HEAD, *(part for name in packages for part in _package(name)))


def _package(name: str) -> list[str]:
    first, *rest = _docstring(LIBRARY / name).split("\n\n", 1)
    lines = [text(line) for part in rest for line in _sentences(part)]
    rows = [
        (code(path.relative_to(LIBRARY / name).as_posix()), text(" ".join(_docstring(path).split("\n\n")[0].split())))
        for path in sorted(LIBRARY.joinpath(name).rglob("*"))
        if (path / "__init__.py").is_file()
    ]
    return [f"## {name}", text(first), *lines, table(("part", "content"), rows)]


def _sentences(words: str) -> list[str]:
    """Return the lines of a docstring, continuations joined to `In:` and `Out:`."""
    found: list[str] = []
    for line in words.strip().splitlines():
        if not found or line.startswith(("In: ", "Out: ", "Start with ")):
            found.append(line)
        else:
            found[-1] += " " + line
    return found


def _docstring(package: Path) -> str:
    return ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
