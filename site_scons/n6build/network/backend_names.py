"""The names of all backends, found without loading them."""

from __future__ import annotations

from functools import cache

from n6build.base.members import LIBRARY, modules_matching


@cache
def backend_names() -> tuple[str, ...]:
    """Sorted: the packages of `network` that have a module `backend`."""
    found = modules_matching("n6build.network.*.backend", {"n6build": LIBRARY})
    return tuple(module.split(".")[-2] for module in found)
