"""Separate process for the quantiser: `python -m n6build.compile.quantise.worker`.

It reads a job from stdin and writes the int8 model to stdout, behind a line of JSON. The library
prints to stdout and keeps memory; both end with this process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, BinaryIO

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.compile.quantise.process import QuantiseJob

if TYPE_CHECKING:
    from n6build.compile.quantise.quantise_onnx import Quantised


def main() -> None:
    """Answer a job; the output of the library goes to stderr."""
    with own_stdout() as answers:
        job = decode_json(sys.stdin.buffer.read(), QuantiseJob)
        try:
            made = _quantised(job)
            head: dict[str, object]
            head, data = {"value": {"lines": made.lines}}, made.data
        except N6Error as error:
            head, data = {"error": error.as_dict()}, b""
        answers.write(json.dumps(head).encode() + b"\n" + data)


def _quantised(job: QuantiseJob) -> Quantised:
    if job.model.endswith(".tflite"):
        from n6build.compile.quantise.quantise_tflite import quantised_tflite  # noqa: PLC0415 - of an extra.

        return quantised_tflite(job)
    from n6build.compile.quantise.quantise_onnx import quantised  # noqa: PLC0415 - builds import this module, too.

    return quantised(job)


def own_stdout() -> BinaryIO:
    """Return the process' stdout, which from now on gets nothing else."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main()
