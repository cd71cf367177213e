"""A float model with fixed shapes, and the samples of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.compile.quantise.float_model import (
    Input,
    fix_shapes,
    inputs_of,
    keep_outputs,
    read_float_model,
    with_known_opset,
)
from n6build.compile.quantise.media import is_array, open_media
from n6build.compile.quantise.samples import Samples, open_samples
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise


@dataclass(frozen=True)
class Opened:
    """A float model with fixed shapes, and its samples.

    Attributes:
        model: Bytes of the model.
        inputs: Inputs with fixed shapes.
        samples: Samples of these inputs.
        lines: Lines about shapes and outputs.
    """

    model: bytes
    inputs: list[Input]
    samples: Samples
    lines: tuple[str, ...]


def opened(file: Path, files: list[Path], settings: Quantise, how: Preprocess) -> Opened:
    """Read a float model, give it fixed shapes, and open its samples.

    Args:
        file: The float model.
        files: Files with samples.
        settings: Settings of stage 0.
        how: Pre-processing of pictures, sounds and tables.

    Raises:
        N6Error: N6-QUANT-001 to N6-QUANT-005, N6-MODEL-020, N6-NET-00x, N6-FILE-00x.
    """
    if file.suffix == ".tflite":
        from n6build.compile.quantise.tflite_model import read_float_tflite  # noqa: PLC0415 - of an extra.

        real = read_float_tflite(file, settings, files)
        return Opened(real.data, real.inputs, samples_of(files, real.inputs, how), real.lines)
    # An old file lists its initializers as inputs, which its conversion needs.
    model = with_known_opset(read_float_model(file), file.name)
    lines = keep_outputs(model, settings.outputs, file.name)
    # Arrays tell open sizes; pictures and sounds get the size that the input has.
    arrays = open_samples(files, inputs_of(model)) if is_array(files[0]) else None
    lines += fix_shapes(model, settings.shape, arrays.shapes if arrays else {}, file.name)
    inputs = inputs_of(model)
    return Opened(model.SerializeToString(), inputs, arrays or open_media(files, inputs, how), tuple(lines))


def samples_of(files: list[Path], inputs: list[Input], how: Preprocess) -> Samples:
    """Open the samples of inputs whose shapes are known.

    Raises:
        N6Error: N6-QUANT-005, N6-QUANT-014.
    """
    return open_samples(files, inputs) if is_array(files[0]) else open_media(files, inputs, how)
