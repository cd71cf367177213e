"""Packages of the reference interpreters, found without importing them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

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
