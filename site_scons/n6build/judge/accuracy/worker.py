"""Separate process that measures an int8 model.

`python -m n6build.judge.accuracy.worker` reads a job from stdin and writes the figures to stdout, as a line of JSON.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.compile.quantise.float_model import MAX_BYTES, first_line
from n6build.compile.quantise.opened_model import opened
from n6build.compile.quantise.samples import fitted
from n6build.compile.quantise.sessions import FloatSession
from n6build.compile.quantise.worker import own_stdout
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise
from n6build.judge.accuracy.labels import folder_labels, read_labels
from n6build.judge.accuracy.measure import Accuracy, Sums
from n6build.judge.compare.onnx_interpreter import OnnxModel


@dataclass(frozen=True)
class AccuracyJob:
    """A measurement.

    Attributes:
        float_model: The float model.
        int8_model: The int8 model that was made from it.
        samples: Files with samples.
        labels: File with labels; empty without any.
        classes: Names of the classes.
        settings: Settings of stage 0.
        preprocess: Pre-processing of pictures, sounds and tables.
        by_folder: Folders of the samples name their classes.
    """

    float_model: str
    int8_model: str
    samples: tuple[str, ...]
    labels: str
    classes: tuple[str, ...]
    settings: Quantise
    preprocess: Preprocess = field(default_factory=Preprocess)
    by_folder: bool = False


def measured(job: AccuracyJob) -> Accuracy:
    """Run both models on the samples, the int8 one by the reference interpreter.

    Raises:
        N6Error: N6-QUANT-005 to N6-QUANT-012.
    """
    file = Path(job.float_model)
    found = opened(file, [Path(each) for each in job.samples], job.settings, job.preprocess)
    labels = _labels(job, found.samples.count)
    try:
        real = FloatSession(found.model)
        int8 = OnnxModel(read_at_most(Path(job.int8_model), MAX_BYTES), all_tensors=False)
    except Exception as error:  # The library raises errors of many kinds.
        what = f"the interpreter refuses the model: {first_line(error)}"
        raise N6Error("N6-QUANT-008", what, where=Path(job.int8_model).name) from error
    ports = int8.output_ports()
    sums = Sums(real.outputs)
    for number in found.samples.spread(job.settings.most):
        sample = fitted(found.samples, number, found.inputs)
        wanted = real.run(sample)
        int8.run([sample[port.name] for port in int8.inputs()])
        got = [_real(values, port.scale, port.zero_point) for values, port in zip(int8.outputs(), ports, strict=True)]
        sums.add(wanted, got, None if labels is None else labels[number])
    return sums.figures()


def _labels(job: AccuracyJob, count: int) -> list[int] | None:
    if job.by_folder:
        return folder_labels([Path(each) for each in job.samples], job.classes)
    return read_labels(Path(job.labels), job.classes, count) if job.labels else None


def _real(values: NDArray[np.generic], scale: float, zero_point: int) -> NDArray[np.generic]:
    if values.dtype.kind == "f":
        return values
    return (np.asarray(values, np.float64) - zero_point) * scale


def main() -> None:
    """Answer a job; the output of the library goes to stderr."""
    with own_stdout() as answers:
        job = decode_json(sys.stdin.buffer.read(), AccuracyJob)
        try:
            head: dict[str, object] = {"value": asdict(measured(job))}
        except N6Error as error:
            head = {"error": error.as_dict()}
        answers.write(json.dumps(head).encode() + b"\n")


if __name__ == "__main__":
    main()
