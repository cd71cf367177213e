"""Step for n6_release.c, the list of all parts of a signed application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import file_size, read_bytes, write_atomically
from n6build.describe.formats.encryption import ENCRYPTION
from n6build.describe.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.memory_plan.plan import Content
from n6build.place.reloc.reader import read_reloc_file
from n6build.place.reloc.slots import released_part
from n6build.place.trust.choice import LEVELS, Trust
from n6build.place.trust.release import Part, SlotParts, part_of, release_bytes, subject

_IN_A_LINE = 16


@dataclass(frozen=True)
class ReleasedImage:
    """An image in a flash slot that belongs to a release.

    Attributes:
        image: Path of the image.
        content: Content of the image.
        model: Name of the model.
        file: Model or its split weights, without a trailer; empty for other contents.
    """

    image: str
    content: Content
    model: str
    file: str = ""


@dataclass(frozen=True)
class _Listed:
    """A part of the release as a parameter of the step."""

    kind: str
    model: str
    file: str


@dataclass(frozen=True)
class ReleaseParameters:
    """Parameters of the step.

    Attributes:
        level: Number of the level that the Appli verifies.
        encrypted: Images of weights end with the record of their encryption.
        parts: Parts of the release; each has an image in the sources, a model also its file.
    """

    level: int
    encrypted: bool
    parts: tuple[_Listed, ...]


def release_step(folder: str, images: Sequence[ReleasedImage], trust: Trust) -> Step:
    """Return the step that writes <folder>/n6_release.c."""
    listed = tuple(_Listed(each.content.kind, each.model, each.content.file) for each in images)
    return Step(
        verb="Release",
        stage="image",
        outputs=(f"{folder}/n6_release.c",),
        sources=tuple(path for each in images for path in (each.image, each.file) if path),
        parameters=to_parameters(ReleaseParameters(LEVELS[trust.level], trust.encryption is not None, listed)),
        function="n6build.steps.release_table:make_release",
    )


def make_release(call: Call) -> None:
    """Write n6_release.c; an empty image is no part."""
    given = call.parameters_as(ReleaseParameters)
    sources = iter(call.sources)
    parts = [part for each in given.parts if (part := _part(each, next(sources), sources, given.encrypted))]
    write_atomically(call.outputs[0], _source(release_bytes(given.level, parts)))


def _part(listed: _Listed, path: Path, sources: Iterator[Path], encrypted: bool) -> Part | None:
    identity = subject(listed.kind, listed.model, listed.file)
    image = read_bytes(path)
    if listed.kind in ("model", "params"):
        file = next(sources)
        size = file_size(file)
        weights = 0 if listed.kind == "params" else read_reloc_file(file).weights_offset
        return released_part(image, size, weights, identity)
    if not image:
        return None
    # The data begins at the start of the image; the trailer and, with encrypted weights, a record end it.
    at = len(image) - SLOT_TRAILER.size - (ENCRYPTION.size if encrypted and listed.kind == "weights" else 0)
    return part_of(image, SlotParts(SLOT_TRAILER.unpack(image, at)["bytes"], 0, at), identity)


def _source(release: bytes) -> str:
    rows = [release[at : at + _IN_A_LINE] for at in range(0, len(release), _IN_A_LINE)]
    lines = "".join(f"    {', '.join(f'0x{byte:02x}' for byte in row)},\n" for row in rows)
    head = "/* Generated: all parts of this application by their SHA-256. The signature of the Appli covers it. */\n"
    return f'{head}#include "n6_trust.h"\n\nconst uint8_t n6_release[{len(release)}] = {{\n{lines}}};\n'
