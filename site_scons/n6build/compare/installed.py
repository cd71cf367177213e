"""Which interpreters there are, and whether they are installed. Imports none of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

# Of the package, in pyproject.toml.
EXTRA = "compare"
INSTALL = f"make setup installs the extra [{EXTRA}]"
# By suffix of the model: what is imported, and the name under which it is installed.
_INTERPRETERS = {".tflite": ("ai_edge_litert", "ai-edge-litert"), ".onnx": ("onnxruntime", "onnxruntime")}


def missing_interpreter(model: Path) -> str | None:
    """Name of the package that runs this kind of model (.tflite, .onnx), where it is not installed."""
    module, package = _INTERPRETERS[model.suffix]
    return None if importlib.util.find_spec(module) else package
