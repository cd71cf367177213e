"""Families of modules: one module for each operator, backend, check and so on.

A new member takes a new module, and no entry in a list.
"""

from __future__ import annotations

import importlib
import os
from typing import TypeVar

T = TypeVar("T")

LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def members(pattern: str, name: str, kind: type[T]) -> tuple[T, ...]:
    """Return the value `name` of each module that matches a pattern, by module name.

    A module may have several values, as a tuple.

    Args:
        pattern: Module name with one `*`, as in 'n6build.compile.*.backend'. It has to be a literal
            in the call:
            engine/closure.py finds it there, so that the modules count among the imports of the calling
            module.
        name: Name of the value or the tuple in each module.
        kind: Type of the value.

    Raises:
        TypeError: A value is not a `kind`.
        AttributeError: A module has no such value.
    """
    found: list[T] = []
    for module in modules_matching(pattern, {"n6build": LIBRARY}):
        value = getattr(importlib.import_module(module), name)
        values = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(each, kind) for each in values):
            raise TypeError(f"{module}.{name} is not a {kind.__name__}")
        found += values
    return tuple(found)


def member_names(pattern: str) -> tuple[str, ...]:
    """Return the part of each module's name that matches the `*`, sorted.

    The modules are not loaded.

    Args:
        pattern: Pattern as for `members`.
    """
    before, _, after = pattern.partition("*")
    found = modules_matching(pattern, {"n6build": LIBRARY})
    return tuple(module.removeprefix(before).removesuffix(after) for module in found)


def modules_matching(pattern: str, roots: dict[str, str]) -> list[str]:
    """Return the sorted names of the modules that match a pattern.

    Args:
        pattern: Pattern as for `members`.
        roots: Name of a top-level package -> its folder.
    """
    before, _, after = pattern.partition(".*")
    top, _, rest = before.partition(".")
    if top not in roots:
        return []
    folder = os.path.join(roots[top], *rest.split("."))
    behind = after.lstrip(".").replace(".", os.sep)
    names = []
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        stem = entry.removesuffix(".py")
        path = os.path.join(folder, stem, behind) + ".py" if behind else os.path.join(folder, entry)
        if stem.isidentifier() and stem != "__init__" and path.endswith(".py") and os.path.isfile(path):
            names.append(f"{before}.{stem}{after}")
    return names
