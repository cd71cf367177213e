"""checksums.txt: SHA-256 of everything that goes to flash, for who archives a build."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.files import read_bytes, sha256, write_atomically
from n6build.plan.step import Call, Step


def checksums_step(output: str, files: Sequence[str]) -> Step:
    """files: images of the flash, in the order of the list."""
    return Step(
        verb="Checksums",
        stage="image",
        outputs=(output,),
        sources=tuple(files),
        function="n6build.steps.checksums:make",
    )


def make(call: Call) -> None:
    """A line for each file, as sha256sum prints it."""
    lines = [f"{sha256(read_bytes(path))}  {path.name}\n" for path in call.sources]
    write_atomically(call.outputs[0], "".join(lines))
