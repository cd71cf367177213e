"""Does one step whose function is in the library, where nothing is but its inputs: what a worker of a build farm runs.

    python -m n6build.plan.alone step.json build

step.json: a plan of this single step. build: folder of all build products. It works in the folder in which it is called, and
prints what the step prints. Exit status: 0, or 2 with the error on stderr.
"""

from __future__ import annotations

import sys
from pathlib import Path

from n6build.base.bounded import parse_json
from n6build.base.errors import N6Error
from n6build.plan.call import call_function
from n6build.plan.plan import read_trusted_plan_json

MODULE = "n6build.plan.alone"


def main(plan: str, build: str) -> int:
    """Exit status. plan: the file."""
    try:
        (step,) = read_trusted_plan_json(parse_json(Path(plan).read_bytes())).steps
        for output in step.outputs:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
        call_function(step, Path.cwd(), Path(build).absolute())
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
