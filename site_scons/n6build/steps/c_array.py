"""Step that writes a binary file as a C array."""

from __future__ import annotations

from n6build.base.files import read_bytes, write_atomically
from n6build.engine.step import Call, Step
from n6build.place.reloc.c_file import c_array


def c_array_step(output: str, file: str) -> Step:
    """Return the step that writes a binary file as a C array.

    Args:
        output: Path of the C file.
        file: Any binary file.
    """
    return Step(
        verb="Array", stage="reloc", outputs=(output,), sources=(file,), function="n6build.steps.c_array:make_c_array"
    )


def make_c_array(call: Call) -> None:
    """Write the C file."""
    file = call.sources[0]
    write_atomically(call.outputs[0], c_array(read_bytes(file), file.stem))
