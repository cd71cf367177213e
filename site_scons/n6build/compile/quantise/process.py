"""Jobs for processes that compute with ONNX Runtime."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.paths import LIBRARY
from n6build.engine.step import canonical

_MOST_OF_A_REASON = 300


def answer_of(module: str, job: Any, where: str) -> tuple[dict[str, Any], bytes]:
    """Return the answer of a process: its head, and bytes behind it.

    Args:
        module: Module that the process runs.
        job: A dataclass, which the process reads as JSON.
        where: Name of the model, for messages.

    Raises:
        N6Error: The error in the answer; N6-QUANT-009 if the process ends without one.
    """
    result = subprocess.run(
        [sys.executable, "-m", module],
        input=canonical(asdict(job)).encode(),
        capture_output=True,
        # The order of sets of texts would differ from run to run.
        env={**dict(read_environment().commands), "PYTHONPATH": str(LIBRARY.parent), "PYTHONHASHSEED": "0"},
        check=False,
    )
    head, _, data = result.stdout.partition(b"\n")
    try:
        if result.returncode:
            raise ValueError
        answer: dict[str, Any] = parse_json(head)
        error = answer.get("error")
    except WRONG_FIELDS as wrong:
        what = f"the process that computes with ONNX Runtime ended without an answer ({_ending(result)})"
        raise N6Error(
            "N6-QUANT-009", what, where=where, hint="give fewer or smaller samples, or a smaller model"
        ) from wrong
    if error:
        raise N6Error(error["id"], error["what"], where=error["where"], hint=error["hint"])
    return answer, data


def _ending(result: subprocess.CompletedProcess[bytes]) -> str:
    if result.returncode < 0:
        return signal.Signals(-result.returncode).name
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_MOST_OF_A_REASON] if lines else f"exit status {result.returncode}"
