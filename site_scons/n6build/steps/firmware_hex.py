"""Step for one Intel hex file of all images."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.files import write_chunks_atomically
from n6build.engine.step import Call, Step
from n6build.place.image.hexfile import hex_chunks
from n6build.place.image.manifest import read_manifest


def firmware_hex_step(output: str, manifest: str, images: Sequence[str]) -> Step:
    """Return the step that writes the Intel hex file.

    Args:
        output: Path of the Intel hex file.
        manifest: Path of flash_manifest.json.
        images: Files that the manifest lists.
    """
    return Step(
        verb="Hex",
        stage="image",
        outputs=(output,),
        sources=(manifest, *images),
        function="n6build.steps.firmware_hex:make_firmware_hex",
    )


def make_firmware_hex(call: Call) -> None:
    """Write the Intel hex file."""
    manifest = call.sources[0]
    write_chunks_atomically(call.outputs[0], hex_chunks(read_manifest(manifest).segments, manifest.parent))
