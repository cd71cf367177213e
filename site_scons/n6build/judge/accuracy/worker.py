"""Separate process that measures an int8 model.

`python -m n6build.judge.accuracy.worker` reads a job from stdin and writes the figures to stdout, as a
line of JSON.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.compile.quantise.worker import own_stdout
from n6build.judge.accuracy.jobs import AccuracyJob


def main() -> None:
    """Answer a job; the output of the library goes to stderr."""
    from n6build.judge.accuracy.run_both import measured  # noqa: PLC0415 - builds import this module, too.

    with own_stdout() as answers:
        job = decode_json(sys.stdin.buffer.read(), AccuracyJob)
        try:
            head: dict[str, object] = {"value": asdict(measured(job))}
        except N6Error as error:
            head = {"error": error.as_dict()}
        answers.write(json.dumps(head).encode() + b"\n")


if __name__ == "__main__":
    main()
