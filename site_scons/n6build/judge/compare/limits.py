"""Limits for models and for the process of an interpreter.

Model files come from outside: their sizes are checked first.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from n6build.judge.compare.tensors import RefusedError

# Extra of n6build's package in pyproject.toml.
EXTRA = "compare"
INSTALL = f"run make setup, which installs the extra [{EXTRA}]"
# Module to import and package to install, by the model's suffix.
_INTERPRETERS = {".tflite": ("ai_edge_litert", "ai-edge-litert"), ".onnx": ("onnxruntime", "onnxruntime")}


def missing_interpreter(model: Path) -> str | None:
    """Return the package for this kind of model if it is not installed, or None.

    Args:
        model: File of the model, .tflite or .onnx.
    """
    module, package = _INTERPRETERS[model.suffix]
    return None if importlib.util.find_spec(module) else package


def package_of(model: Path) -> str:
    """Return the package that runs this kind of model."""
    return _INTERPRETERS[model.suffix][1]


# No board has a larger NOR.
MAX_MODEL_BYTES = 512 << 20
MAX_ITEMS = 200_000
MAX_RANK = 8
# Converters combine the names of merged operators into one long name.
MAX_NAME = 4096
# A YOLO of 640 x 640 has 200 MB of activations.
MAX_ACTIVATION_BYTES = 2 << 30
_ADDRESS_SPACE = 8 << 30
_CPU_SECONDS = 900


def limit_this_process() -> None:
    """Limit memory and processor time of this process.

    The system then ends an endless loop of a model.
    """
    import resource  # noqa: PLC0415 - only a process that interprets a model needs it.

    for what, limit in ((resource.RLIMIT_AS, _ADDRESS_SPACE), (resource.RLIMIT_CPU, _CPU_SECONDS)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def bounded(count: int, what: str, limit: int = MAX_ITEMS) -> int:
    """Return the count if it is within the limit.

    Raises:
        RefusedError: If it is negative or above the limit.
    """
    if not 0 <= count <= limit:
        raise RefusedError(f"it has {count} {what}, more than {limit}")
    return count


def check_activations(sizes: Iterable[tuple[Sequence[int], int]]) -> None:
    """Check the size of all activations together.

    Args:
        sizes: Shape and bytes of an element, for each activation.

    Raises:
        RefusedError: If they are too large together.
    """
    total = sum(math.prod(shape) * each for shape, each in sizes)
    if total > MAX_ACTIVATION_BYTES:
        raise RefusedError(f"its tensors have {total} bytes, more than {MAX_ACTIVATION_BYTES}")
