"""A float model with fixed shapes, and the samples of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import onnx

from n6build.compile.quantise.float_model import (
    Input,
    fix_shapes,
    inputs_of,
    keep_outputs,
    read_float_model,
    with_known_opset,
)
from n6build.compile.quantise.samples import Samples, open_samples
from n6build.describe.quantise import Quantise


@dataclass(frozen=True)
class Opened:
    """A float model with fixed shapes, and its samples.

    Attributes:
        model: The model.
        inputs: Inputs with fixed shapes.
        samples: Samples of these inputs.
        lines: Lines about shapes and outputs.
    """

    model: onnx.ModelProto
    inputs: list[Input]
    samples: Samples
    lines: tuple[str, ...]


def opened(file: Path, files: list[Path], settings: Quantise) -> Opened:
    """Read a float model, give it fixed shapes, and open its samples.

    Raises:
        N6Error: N6-QUANT-001 to N6-QUANT-005, N6-MODEL-020, N6-FILE-00x.
    """
    # An old file lists its initializers as inputs, which its conversion needs.
    model = with_known_opset(read_float_model(file), file.name)
    lines = keep_outputs(model, settings.outputs, file.name)
    samples = open_samples(files, inputs_of(model))
    lines += fix_shapes(model, settings.shape, samples.shapes, file.name)
    return Opened(model, inputs_of(model), samples, tuple(lines))
