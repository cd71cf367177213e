"""Jobs for processes that compute with ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from n6build.base.bounded import WRONG_FIELDS, decode_json, parse_json
from n6build.base.errors import N6Error
from n6build.base.worker_process import ending_of, run_worker
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise
from n6build.engine.step import canonical, to_parameters


@dataclass(frozen=True)
class QuantiseJob:
    """A job of the quantiser.

    Attributes:
        model: Float model.
        samples: Files with samples.
        settings: Settings of model.yaml.
        compiles: The reference compiler takes the int8 model, and can refuse operators beforehand.
        preprocess: Pre-processing of pictures, sounds and tables.
    """

    model: str
    samples: tuple[str, ...]
    settings: Quantise
    compiles: bool
    preprocess: Preprocess = field(default_factory=Preprocess)


@dataclass(frozen=True)
class QuantiseAnswer:
    """The answer of the process that quantises, beside the file.

    Attributes:
        lines: Lines about shapes and outputs, and about the samples as the last one.
    """

    lines: tuple[str, ...]


T = TypeVar("T")


def answer_of(module: str, job: object, kind: type[T], where: str) -> tuple[T, bytes]:
    """Return the answer of a process: a value, and bytes behind it.

    Args:
        module: Module that the process runs.
        job: A dataclass, which the process reads as JSON.
        kind: Dataclass of the value.
        where: Name of the model, for messages.

    Raises:
        N6Error: The error in the answer; N6-QUANT-009 if the process ends without one.
    """
    # Without the seed, the order of sets of texts would differ from run to run.
    result = run_worker(module, to_parameters(job).encode(), PYTHONHASHSEED="0")
    head, _, data = result.stdout.partition(b"\n")
    try:
        if result.returncode:
            raise ValueError
        answer: Any = parse_json(head)
        if error := answer.get("error"):
            raise N6Error(error["id"], error["what"], where=error["where"], hint=error["hint"])
        return decode_json(canonical(answer["value"]).encode(), kind), data
    except WRONG_FIELDS as wrong:
        what = f"the process that computes with ONNX Runtime ended without an answer ({ending_of(result)})"
        raise N6Error(
            "N6-QUANT-009", what, where=where, hint="give fewer or smaller samples, or a smaller model"
        ) from wrong
