"""All backends, and the choice of the one that takes a model."""

from __future__ import annotations

from n6build.base.environment import Environment
from n6build.base.members import members
from n6build.compile.backend import Backend, ModelSource

BACKENDS = members("n6build.compile.*.backend", "BACKEND", Backend)


def backend_for(source: ModelSource, asked: str, environment: Environment) -> Backend:
    """Return the backend that takes a model.

    Args:
        source: The model.
        asked: Name of a backend, or 'auto'.
        environment: Environment of the build.

    Raises:
        N6Error: N6-NET-024 if that backend cannot take the model.
    """
    if asked == "auto":
        by_preference = sorted(BACKENDS, key=lambda backend: -backend.preference)
        # If no backend suits, the check of the last one reports the cause.
        found = next((each for each in by_preference if each.suits(source, environment)), by_preference[-1])
    else:
        found = next(backend for backend in BACKENDS if backend.name == asked)
    found.check(source)
    return found
