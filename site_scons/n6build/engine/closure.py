"""The code behind a step: modules and packages that its module imports.

It has all modules of the library and all third-party packages that are imported, directly or not.
They are found by reading the sources. Imports inside functions count, and so does the pattern in a
call of `members`; an import inside a docstring adds at most an unnecessary module. No module is
imported by a name computed at run time; a test makes sure of that.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from n6build.base.members import modules_matching
from n6build.base.paths import LIBRARY
from n6build.base.regular_file import content_of
from n6build.engine.packages import Packages, installed_packages

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^#\n]*)|import[ \t]+([^#\n]*))", re.MULTILINE
)
_MEMBERS = re.compile(rb'\bmembers\(\s*"([\w.]+\.\*[\w.]*)"')
_COMMENT = re.compile(rb"#[^\n]*")
# Suffixes in the order in which importlib's FileFinder tries them, for packages before modules.
MODULE_SUFFIXES = (
    *importlib.machinery.EXTENSION_SUFFIXES,
    *importlib.machinery.SOURCE_SUFFIXES,
    *importlib.machinery.BYTECODE_SUFFIXES,
)
_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


@dataclass(frozen=True)
class _Module:
    """A module of the library.

    Attributes:
        direct: Modules of the library that it imports itself.
        tops: Names of third-party packages that it imports.
    """

    path: str
    digest: str
    direct: tuple[str, ...]
    tops: tuple[str, ...]


@dataclass
class Code:
    """The source code of top-level packages and modules.

    An object reads each file only once.

    Attributes:
        roots: Name of a top-level package or module -> its folder or file.
        digests: Known results of `digest_of`, by module.
        state: State of all files before any was read; empty if it does not distinguish them from
            later ones.
        known: Number of digests that come from an earlier call.
    """

    roots: Mapping[str, Path]
    digests: dict[str, str] = field(default_factory=dict)
    state: str = ""
    known: int = 0
    _modules: dict[str, _Module | None] = field(default_factory=dict)
    _files: dict[str, str | None] = field(default_factory=dict)
    _names: dict[str, frozenset[str]] = field(default_factory=dict)
    _closures: dict[str, dict[str, str]] = field(default_factory=dict)

    def files_of(self, module: str) -> list[str]:
        """Return the sorted paths of all files below `roots` that an import may load.

        Args:
            module: Name of the module that is imported.
        """
        return sorted(found.path for name in self.parts_of(module) if (found := self._modules.get(name)) is not None)

    def parts_of(self, module: str) -> dict[str, str]:
        """Return the digests of all modules and packages behind a module.

        Returns:
            Name -> digest of modules below `roots` and of third-party distributions, sorted by
            name.
        """
        if module not in self._closures:
            parts: dict[str, str] = {}
            waiting = [name for name in _with_parents(module) if self._file(name)]
            while waiting:
                name = waiting.pop()
                if name in parts:
                    continue
                found = self._module(name)
                if found is not None:
                    parts[name] = found.digest
                    waiting += found.direct
                    for top in found.tops:
                        parts |= self._packages.behind(top)
            self._closures[module] = dict(sorted(parts.items()))
        return self._closures[module]

    def digest_of(self, module: str) -> str:
        """Return the SHA-256 of `parts_of` a module and of Python's version."""
        if module not in self.digests:
            text = "\n".join([_PYTHON, *(f"{name} {digest}" for name, digest in self.parts_of(module).items())])
            self.digests[module] = hashlib.sha256(text.encode()).hexdigest()
        return self.digests[module]

    def _module(self, name: str) -> _Module | None:
        if name not in self._modules:
            path = self._file(name)
            self._modules[name] = self._read(name, path) if path else None
        return self._modules[name]

    def _read(self, name: str, path: str) -> _Module:
        data = content_of(path)
        package = name if os.path.basename(path).startswith("__init__.") else name.rpartition(".")[0]
        imported = imports_in(data, package)
        for pattern in _MEMBERS.findall(data):
            roots = {top: str(folder) for top, folder in self.roots.items()}
            imported |= set(modules_matching(pattern.decode(), roots))
        ours = {part for each in imported if self._is_ours(each) for part in _with_parents(each) if self._file(part)}
        tops = {each.partition(".")[0] for each in imported if not self._is_ours(each)}
        others = tops - sys.stdlib_module_names
        return _Module(path, hashlib.sha256(data).hexdigest(), tuple(ours), tuple(others))

    @cached_property
    def _packages(self) -> Packages:
        return Packages(installed_packages())

    def _is_ours(self, name: str) -> bool:
        return name.partition(".")[0] in self.roots

    def _file(self, name: str) -> str | None:
        if name not in self._files:
            self._files[name] = self._find(name)
        return self._files[name]

    def _find(self, name: str) -> str | None:
        top, _, rest = name.partition(".")
        if top not in self.roots:
            return None
        root = str(self.roots[top])
        if root.endswith(".py"):
            return root if not rest else None
        base = f"{root}/{rest.replace('.', '/')}" if rest else root
        for stem in (f"{base}/__init__", base) if rest else (f"{base}/__init__",):
            folder, _, beginning = stem.rpartition("/")
            for suffix in MODULE_SUFFIXES:
                if beginning + suffix in self._names_in(folder) and os.path.isfile(stem + suffix):
                    return stem + suffix
        return None

    def _names_in(self, folder: str) -> frozenset[str]:
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._names[folder] = frozenset()
        return self._names[folder]


def _with_parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def imports_in(data: bytes, package: str) -> set[str]:
    """Return the names that a module's source imports.

    Args:
        data: The source.
        package: Package of the module, for relative imports.
    """
    found: set[str] = set()
    for match in _IMPORT.finditer(data):
        source, names, plain = match.groups()
        if plain is not None:
            found |= {_first_word(part) for part in plain.decode().split(",")}
            continue
        module = _absolute(source.decode(), package)
        found.add(module)
        listed = _COMMENT.sub(b"", names).decode().strip("() \t\n")
        found |= {f"{module}.{word}" for part in listed.split(",") if (word := _first_word(part)) and word != "*"}
    return {name for name in found if name}


def _first_word(text: str) -> str:
    words = text.split()
    return words[0].strip("\\;") if words else ""


def _absolute(source: str, package: str) -> str:
    level = len(source) - len(source.lstrip("."))
    if not level:
        return source
    base = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join([*base, *([source[level:]] if source[level:] else [])])


def library_code() -> Code:
    """Return the code of n6build."""
    return Code({"n6build": LIBRARY})
