"""Boards whose outputs differ from the reference by a known cause.

They run real models.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import one_op_models
from n6build.compile.artifacts.description import IoBuffer
from n6build.judge.compare.diagnosis import Diagnosis, Reference, diagnose
from n6build.judge.compare.input_causes import ChangedInput, changed_inputs, unrelated_inputs
from n6build.judge.compare.interpret import ports_of, reference_rows
from n6build.judge.compare.readings import CapturedOutput
from n6build.judge.compare.tensors import Port
from n6build.place.memory_plan.vectors import seeded_array
from numpy.typing import NDArray
from samples import sample

ROOT = Path(__file__).resolve().parents[2]
OWN = ("keyword", "miniresnet", "anomaly", "picture")
Table = NDArray[Any]


@dataclass(frozen=True)
class Board:
    """A model with the reference's outputs, for unchanged and for changed inputs.

    Attributes:
        takes: Input of the model.
        gives: Output of the model.
        changes: Changes of the inputs, with the outputs for each.
        unrelated: Outputs for unrelated inputs.
        known_unrelated: Outputs for the unrelated inputs of the comparison itself.
    """

    model: Path
    takes: Port
    gives: Port
    inputs: Table
    outputs: Table
    changes: tuple[tuple[ChangedInput, Table], ...]
    unrelated: Table
    known_unrelated: Table

    def steps(self, table: Table) -> Table:
        """Return the outputs with a row for each vector."""
        return table.reshape(len(table), -1).astype(np.float64)

    def diagnose(self, captured: Table, *, is_raw: bool = False, rows: int | None = None) -> Diagnosis:
        """Return the diagnosis of captured outputs.

        Args:
            captured: Values of a board, or their bytes.
            is_raw: True if these are bytes.
            rows: Number of vectors; that of `captured` if it is None.
        """
        values = captured.reshape(-1)
        output = CapturedOutput(self.gives, rows or len(captured), values, is_raw, ("out",))
        changed = tuple((change, self.steps(table)) for change, table in self.changes)
        steps = self.steps(self.outputs)
        reference = Reference(steps, changed, self.steps(self.known_unrelated), lambda _: np.empty((0, 0)))
        return diagnose(output, reference, (), 0.99, top1=False)


def named(diagnosis: Diagnosis) -> set[str]:
    """Return all named causes."""
    return {cause for fit in diagnosis.fits for cause in fit.causes}


def picture_model() -> bytes:
    """Return a convolution of a colour picture.

    Its result depends on the order of channels and rows.
    """
    random = np.random.default_rng(5)
    weights = random.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    quantisations = (one_op_models.Quantisation(1 / 255, -128), one_op_models.Quantisation(0.02, 3))
    return one_op_models.conv_2d((10, 8, 3), weights, np.zeros(4, np.int32), [0.004] * 4, *quantisations)


def pictures(count: int, shape: tuple[int, ...]) -> Table:
    """Return grey levels of smooth pictures that are no palindromes."""
    random = np.random.default_rng(7)
    noise = random.normal(size=(count, *shape))
    for _ in range(2):
        noise = noise + np.roll(noise, 1, 1) + np.roll(noise, 1, 2)
    levels = (noise - noise.min()) / (noise.max() - noise.min()) * 230 + 10 + np.arange(shape[-1]) * 4
    return np.asarray(np.clip(np.rint(levels), 0, 255))


@functools.cache
def board(name: str) -> Board:
    """Return the board of one model.

    Args:
        name: Name of a model of the project, 'picture' for the picture model, or path of a sample.
    """
    if name == "picture":
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "picture.tflite"
            model.write_bytes(picture_model())
            return _board(model, (pictures(4, (10, 8, 3)) - 128).astype(np.int8))
    if name in OWN:
        model = ROOT / f"models/{name}/{name}.tflite"
        return _board(model, np.load(model.parent / "inputs.npy"))
    model = sample(f"models/{name}")
    (port,), _ = ports_of(model)
    is_last = model.suffix == ".tflite"
    levels = pictures(4, port.shape[1:] if is_last else (*port.shape[2:], port.shape[1]))
    is_float = port.type == "float32"
    values = levels / 127.5 - 1 if is_float else np.rint(levels / 255 / port.scale + port.zero_point)
    return _board(model, (values if is_last else np.moveaxis(values, -1, 1)).astype(port.type))


def _board(model: Path, inputs: Table) -> Board:
    (takes,), gives = ports_of(model)
    changes = changed_inputs(inputs, takes, channels_last=model.suffix == ".tflite")
    known = unrelated_inputs(inputs, takes)
    made = _rows(model, [inputs, *(each.values for each in changes), noise(takes, 24), known])
    tables = tuple(zip(changes, made[1:-2], strict=True))
    return Board(model, takes, gives[0], inputs, made[0], tables, made[-2], made[-1])


def noise(port: Port, count: int) -> Table:
    """Return random inputs."""
    size = int(np.prod(port.shape)) * np.dtype(port.type).itemsize
    buffer = IoBuffer("x", None, size, port.type, (count, *port.shape), port.scale, port.zero_point)  # type: ignore[arg-type]
    wide = IoBuffer("x", None, size * count, buffer.type, buffer.shape, buffer.scale, buffer.zero_point)
    made: Table = seeded_array([wide])[0].reshape(count, *port.shape)
    return made


def _rows(model: Path, groups: Sequence[Table]) -> list[Table]:
    made = reference_rows(model, [[row] for group in groups for row in group])
    firsts = [run[0] for run in made]
    ends = np.cumsum([len(group) for group in groups])
    return [np.stack(firsts[end - len(group) : end]) for group, end in zip(groups, ends, strict=True)]
