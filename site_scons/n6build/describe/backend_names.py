"""The names of all backends, found without loading them."""

from __future__ import annotations

from functools import cache

from n6build.base.members import member_names


@cache
def backend_names() -> tuple[str, ...]:
    """Return the sorted names of the packages of `network` with a module `backend`."""
    return member_names("n6build.compile.*.backend")
