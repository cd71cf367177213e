"""What an interpreter may be given, and what it may use: model files come from outside, and their sizes are looked at first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from n6build.compare.tensors import RefusedError

# No NOR of a board is larger.
MAX_MODEL_BYTES = 512 << 20
MAX_ITEMS = 200_000
MAX_RANK = 8
# Converters put the names of everything that they merged into one.
MAX_NAME = 4096
# A YOLO of 640 x 640 has 200 MB of them.
MAX_ACTIVATION_BYTES = 2 << 30
_ADDRESS_SPACE = 8 << 30
_CPU_SECONDS = 900


def limit_this_process() -> None:
    """Memory and processor time; a loop of a model that never ends is ended by the system."""
    import resource  # noqa: PLC0415 - only a process that interprets a model needs it.

    for what, limit in ((resource.RLIMIT_AS, _ADDRESS_SPACE), (resource.RLIMIT_CPU, _CPU_SECONDS)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def bounded(count: int, what: str, limit: int = MAX_ITEMS) -> int:
    """The count. Raises RefusedError where it is negative or above the limit."""
    if not 0 <= count <= limit:
        raise RefusedError(f"it has {count} {what}, at most {limit} are possible")
    return count


def check_activations(sizes: Iterable[tuple[Sequence[int], int]]) -> None:
    """sizes: shape and bytes of an element of each activation. Raises RefusedError where they are too large together."""
    total = sum(math.prod(shape) * each for shape, each in sizes)
    if total > MAX_ACTIVATION_BYTES:
        raise RefusedError(f"its tensors have {total} bytes, at most {MAX_ACTIVATION_BYTES} are possible")
