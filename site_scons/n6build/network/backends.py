"""All backends, and the one that takes a model."""

from __future__ import annotations

from n6build.base.environment import Environment
from n6build.base.members import members
from n6build.network.backend import Backend, ModelSource

BACKENDS = members("n6build.network.*.backend", "BACKEND", Backend)


def backend_for(source: ModelSource, asked: str, environment: Environment) -> Backend:
    """asked: name of a backend, or 'auto'. Raises N6-NET-024 where that backend cannot take the model."""
    if asked == "auto":
        by_preference = sorted(BACKENDS, key=lambda backend: -backend.preference)
        # The last one reports why it cannot.
        found = next((each for each in by_preference if each.suits(source, environment)), by_preference[-1])
    else:
        found = next(backend for backend in BACKENDS if backend.name == asked)
    found.check(source)
    return found
