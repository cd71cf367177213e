"""Run of a model on its reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from n6build.base.bounded import WRONG_FIELDS
from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.base.worker_process import ending_of, run_worker
from n6build.judge.compare import worker
from n6build.judge.compare.limits import INSTALL, MAX_MODEL_BYTES, missing_interpreter
from n6build.judge.compare.tensors import Port, ReferenceTensor


def interpret(model: Path, inputs: Sequence[NDArray[np.generic]]) -> tuple[ReferenceTensor, ...]:
    """Return every activation of one inference, in the order of execution.

    The inputs come first.

    Args:
        model: A .tflite file (LiteRT with its reference kernels; with its optimised ones, and a line that
            reports it, if these refuse the model), or a .onnx file (onnxruntime without optimisations: the
            outputs of QuantizeLinear).
        inputs: Inputs in the model's types and order.

    Raises:
        N6Error: N6-COMPARE-001 if the interpreter is not installed; N6-COMPARE-002 if it refuses the
            model; N6-COMPARE-003 if the inputs do not fit; N6-FILE-002; N6-FILE-003.
    """
    return _ask(model, [inputs], tensors=True).tensors


def interpret_rows(
    model: Path, runs: Sequence[Sequence[NDArray[np.generic]]]
) -> tuple[tuple[ReferenceTensor, ...], ...]:
    """Return `interpret` of several inferences, with the interpreter started once."""
    tensors = _ask(model, runs, tensors=True).tensors
    count = len(tensors) // max(1, len(runs))
    return tuple(tensors[first : first + count] for first in range(0, len(tensors), max(1, count)))


def reference_rows(
    model: Path, runs: Sequence[Sequence[NDArray[np.generic]]]
) -> tuple[tuple[NDArray[np.generic], ...], ...]:
    """Return the model's outputs for each inference, with one start.

    Errors are those of `interpret`.
    """
    return _ask(model, runs, tensors=False).outputs


def ports_of(model: Path) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Return the inputs and outputs of a model; raises errors as `interpret`."""
    answer = _ask(model, [], tensors=False)
    return answer.takes, answer.gives


def _ask(model: Path, runs: Sequence[Sequence[NDArray[np.generic]]], *, tensors: bool) -> worker.Answer:
    package = missing_interpreter(model)
    if package:
        what = f"package {package}, which runs this model, is not installed"
        raise N6Error("N6-COMPARE-001", what, where=model.name, hint=INSTALL)
    data = read_at_most(model, MAX_MODEL_BYTES)
    kind: Literal["tflite", "onnx"] = "tflite" if model.suffix == ".tflite" else "onnx"
    result = run_worker(worker.__name__, worker.pack_request(worker.Request(kind, data, runs, tensors)))
    try:
        if result.returncode:
            raise ValueError
        answer = worker.unpack_answer(result.stdout)
    except WRONG_FIELDS as error:
        raise _refused(model, f"the interpreter ended without an answer ({ending_of(result)})") from error
    if answer.refused and answer.inputs_at_fault:
        raise N6Error("N6-COMPARE-003", f"cannot be run on these inputs: {answer.refused}", where=model.name)
    if answer.refused:
        raise _refused(model, answer.refused)
    if answer.instead and runs:
        say(
            "Reference",
            f"{model.name} runs on LiteRT's optimised kernels",
            f"its reference kernels refuse it: {answer.instead}",
        )
    return answer


def _refused(model: Path, why: str) -> N6Error:
    hint = "save or download the file again: it may be incomplete"
    return N6Error("N6-COMPARE-002", f"cannot be run by the reference interpreter: {why}", where=model.name, hint=hint)
