"""The step that writes checksums.txt, for archives of a build.

The file has the SHA-256 of each image of the flash.
"""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.files import read_bytes, sha256, write_atomically
from n6build.engine.step import Call, Step


def checksums_step(output: str, files: Sequence[str]) -> Step:
    """Return the step that writes checksums.txt.

    Args:
        output: Path of checksums.txt.
        files: Images of the flash, in the order of the list.
    """
    return Step(
        verb="Checksums",
        stage="image",
        outputs=(output,),
        sources=tuple(files),
        function="n6build.steps.checksums:make_checksums",
    )


def make_checksums(call: Call) -> None:
    """Write a line for each file, as sha256sum prints it."""
    lines = [f"{sha256(read_bytes(path))}  {path.name}\n" for path in call.sources]
    write_atomically(call.outputs[0], "".join(lines))
