"""One step in a folder with nothing but its inputs, for workers of a build farm.

    python -m n6build.engine.step_process step.json build

step.json is a plan of this single step, whose function is in the library. build is the folder of
all build products. The program works in the folder in which it is called, and prints the output of
the step. Files that the step consults have come in pieces. Exit status: 0, or 2 with the error on
stderr; also 2 if the step has changed such a file, since the change would be lost.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from n6build.base.bounded import parse_json
from n6build.base.environment import ensure_home
from n6build.base.errors import N6Error
from n6build.base.files import read_in_chunks, write_chunks_atomically
from n6build.base.regular_file import content_of
from n6build.engine.call import call_function
from n6build.engine.plan import read_plan_json

MODULE = "n6build.engine.step_process"
# This folder has a folder for each file that the step consults, under the path of the file.
PIECES = ".n6build-pieces"


def main(plan: str, build: str) -> int:
    """Do the step, and return the exit status.

    Args:
        plan: Path of step.json.
        build: Folder of all build products.
    """
    ensure_home()
    try:
        (step,) = read_plan_json(parse_json(content_of(plan))).steps
        for output in step.outputs:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
        consulted = {Path(path): sorted(Path(PIECES, path).iterdir()) for path in step.consulted}
        for path, pieces in consulted.items():
            write_chunks_atomically(path, chain.from_iterable(map(read_in_chunks, pieces)))
        call_function(step, Path.cwd(), Path(build).absolute())
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    changed = [path for path, pieces in consulted.items() if not _consists_of(path, pieces)]
    if changed:
        sys.stderr.write(f"the step changed {changed[0]}, which does not exist here\n")
        return 2
    return 0


def _consists_of(path: Path, pieces: Sequence[Path]) -> bool:
    """Return whether the file is these pieces, one after the other."""
    offset = 0
    for piece in pieces:
        data = content_of(piece)
        if b"".join(read_in_chunks(path, offset=offset, size=len(data))) != data:
            return False
        offset += len(data)
    return offset == path.stat().st_size


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
