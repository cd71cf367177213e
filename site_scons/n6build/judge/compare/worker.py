"""Separate process for an interpreter: `python -m n6build.judge.compare.worker`.

It reads a request from stdin and writes an answer to stdout. Interpreters are native libraries, made
for trusted models. Here, a damaged model ends only this process, within limits of memory and time, and
not the build.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from n6build.base.bounded import parse_json
from n6build.base.npy import arrays_of
from n6build.judge.compare.limits import limit_this_process
from n6build.judge.compare.tensors import Port, ReferenceTensor, RefusedError, first_line

_JSON = "json"
MAX_WHY = 300
# "[ONNXRuntimeError] : 1 : FAIL : /folder/file.h:46 void function(int) " precedes the message.
_WHERE_IN_ITS_SOURCE = re.compile(r"^\[\w+\] : \d+ : \w+ : (?:\S+\.(?:h|cc):\d+ .*?\) (?=[A-Z]))?")


@dataclass(frozen=True)
class Request:
    """A request to an interpreter.

    Attributes:
        format: Format of the model.
        model: Bytes of the model.
        runs: Inputs of each inference; empty for a request of only the model's inputs and outputs.
        tensors: True for every tensor in place of the outputs.
    """

    format: Literal["tflite", "onnx"]
    model: bytes
    runs: Sequence[Sequence[NDArray[np.generic]]]
    tensors: bool


@dataclass(frozen=True)
class Answer:
    """An answer of an interpreter.

    Attributes:
        refused: Reason why no inference was computed, or empty.
        inputs_at_fault: True if the inputs are the reason.
        outputs: Outputs of each inference.
        tensors: Tensors of all inferences, one after another.
        takes: Inputs of the model.
        gives: Outputs of the model.
        instead: Reason why another resolver than LiteRT's reference kernels ran the model, or empty.
    """

    refused: str = ""
    inputs_at_fault: bool = False
    outputs: tuple[tuple[NDArray[np.generic], ...], ...] = ()
    tensors: tuple[ReferenceTensor, ...] = ()
    takes: tuple[Port, ...] = ()
    gives: tuple[Port, ...] = ()
    instead: str = ""


def pack_request(request: Request) -> bytes:
    """Return a request as bytes for stdin of the worker."""
    head = {"format": request.format, "tensors": request.tensors, "runs": [len(each) for each in request.runs]}
    arrays = [np.frombuffer(request.model, np.uint8), *(each for run in request.runs for each in run)]
    return _pack(head, arrays)


def unpack_answer(data: bytes) -> Answer:
    """Return the answer in the bytes from stdout of the worker.

    Raises:
        WRONG_FIELDS: One of these errors if it is no answer.
    """
    head, arrays = _unpack(data)
    described = head["tensors"]
    values = arrays[len(arrays) - len(described) :]
    tensors = tuple(
        ReferenceTensor(**{**each, "inputs": tuple(each["inputs"]), "shape": tuple(each["shape"])}, values=array)
        for each, array in zip(described, values, strict=True)
    )
    takes, gives = (tuple(Port(**{**each, "shape": tuple(each["shape"])}) for each in ports) for ports in head["ports"])
    outputs = _grouped(arrays, head["outputs"])
    return Answer(
        str(head["refused"]), bool(head["inputs_at_fault"]), outputs, tensors, takes, gives, str(head["instead"])
    )


def _pack_answer(answer: Answer) -> bytes:
    described = [{key: value for key, value in vars(each).items() if key != "values"} for each in answer.tensors]
    head = {
        "refused": answer.refused[:MAX_WHY],
        "inputs_at_fault": answer.inputs_at_fault,
        "instead": answer.instead[:MAX_WHY],
        "outputs": [len(each) for each in answer.outputs],
        "tensors": described,
        "ports": [[vars(each) for each in ports] for ports in (answer.takes, answer.gives)],
    }
    return _pack(head, [*(each for run in answer.outputs for each in run), *(each.values for each in answer.tensors)])


def _unpack_request(data: bytes) -> Request:
    head, arrays = _unpack(data)
    return Request(head["format"], arrays[0].tobytes(), _grouped(arrays[1:], head["runs"]), head["tensors"])


def _grouped(arrays: Sequence[NDArray[Any]], counts: Sequence[int]) -> tuple[tuple[NDArray[Any], ...], ...]:
    starts = [sum(counts[:place]) for place in range(len(counts))]
    return tuple(tuple(arrays[start : start + count]) for start, count in zip(starts, counts, strict=True))


def _pack(head: object, arrays: Sequence[NDArray[Any]]) -> bytes:
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    named: dict[str, Any] = {_JSON: text, **{str(place): each for place, each in enumerate(arrays)}}
    # The arrays contain no objects. Argument allow_pickle is new in numpy 2; older releases would store an array of that name.
    np.savez(buffer, **named)
    return buffer.getvalue()


def _unpack(data: bytes) -> tuple[Any, list[NDArray[Any]]]:
    found = arrays_of(data)
    return parse_json(found.pop(_JSON).tobytes()), [found[str(place)].copy() for place in range(len(found))]


def _answer(request: Request) -> Answer:
    try:
        model = _open(request)
    except Exception as error:  # An interpreter may raise any error.
        return Answer(_why(error))
    outputs = []
    tensors: list[ReferenceTensor] = []
    for run in request.runs:
        try:
            given = _fitting(model.inputs(), run)
        except RefusedError as error:
            return Answer(str(error), inputs_at_fault=True)
        try:
            model.run(given)
            if request.tensors:
                tensors += model.tensors()
            else:
                outputs.append(tuple(each.copy() for each in model.outputs()))
        except Exception as error:
            return Answer(_why(error))
    if request.tensors:
        return Answer(tensors=tuple(tensors), instead=model.instead)
    takes, gives = tuple(model.inputs()), tuple(model.output_ports())
    return Answer(outputs=tuple(outputs), takes=takes, gives=gives, instead=model.instead)


def _open(request: Request) -> Any:
    if request.format == "tflite":
        from n6build.judge.compare.tflite_interpreter import TfliteModel  # noqa: PLC0415 - only the requested interpreter.

        return TfliteModel(request.model, all_tensors=request.tensors)
    from n6build.judge.compare.onnx_interpreter import OnnxModel  # noqa: PLC0415

    return OnnxModel(request.model, all_tensors=request.tensors)


def _fitting(ports: Sequence[Port], given: Sequence[NDArray[Any]]) -> list[NDArray[np.generic]]:
    if len(given) != len(ports):
        raise RefusedError(f"{len(given)} inputs, but the model has {len(ports)}")
    fitting = []
    for port, values in zip(ports, given, strict=True):
        if values.dtype.name != port.type:
            raise RefusedError(f"input '{port.name}' is {port.type}, but the values are {values.dtype.name}")
        if values.size != math.prod(port.shape):
            raise RefusedError(
                f"input '{port.name}' has {math.prod(port.shape)} elements, but {values.size} values are given"
            )
        fitting.append(np.ascontiguousarray(values.reshape(port.shape)))
    return fitting


def _why(error: Exception) -> str:
    return _WHERE_IN_ITS_SOURCE.sub("", first_line(error))


def main() -> None:
    """Answer a request; the output of the interpreters goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit_this_process()
    request = _unpack_request(sys.stdin.buffer.read())
    with answers:
        answers.write(_pack_answer(_answer(request)))


if __name__ == "__main__":
    main()
