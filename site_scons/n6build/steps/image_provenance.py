"""Step for provenance.json, the inputs of the images beside the flash manifest."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import digest_of, read_bytes, write_atomically
from n6build.base.version import version
from n6build.engine.step import Call, Step, Tool, to_parameters
from n6build.place.image.signing import is_private_key
from n6build.steps.code_behind import FUNCTION
from n6build.tell.provenance import Material, Provenance, portable_name, provenance_json


@dataclass(frozen=True)
class ImageProvenanceParameters:
    """Parameters of the step.

    The sources are the manifest, images, lists of headers and further inputs, in this order.

    Attributes:
        images: Number of images.
        headers: Number of lists of headers.
        options: See `Provenance`.
        facts: See `Provenance`.
        tools: Tools of the steps that the manifest depends on.
        n6build: Version of n6build.
        code: Digest of the Python code of these steps; empty until `with_code`.
    """

    images: int
    headers: int
    options: dict[str, str]
    facts: dict[str, str | list[str]]
    tools: tuple[Tool, ...]
    n6build: str
    code: str = ""


def provenance_step(
    output: str,
    manifest: Step,
    images: Sequence[str],
    headers: Sequence[str],
    behind: Sequence[Step],
    descriptions: Sequence[str],
    options: Mapping[str, str],
    facts: Mapping[str, str | list[str]],
) -> Step:
    """Return the step that writes the provenance.

    Args:
        output: Path of provenance.json.
        manifest: Step of the flash manifest.
        images: Images that the manifest lists.
        headers: Lists from `headers_read_steps`.
        behind: All steps that the manifest depends on.
        descriptions: YAML files that contain parameters of these steps.
        options: See `Provenance`.
        facts: See `Provenance`.
    """
    made = {file for step in behind for file in step.outputs}
    read = {*descriptions, *(file for step in behind for file in (*step.sources, *step.templates))} - made
    sources = (file for file in read if not is_private_key(file))
    tools = sorted({tool for step in behind for tool in step.tools}, key=lambda tool: (tool.name, tool.digest))
    given = ImageProvenanceParameters(len(images), len(headers), dict(options), dict(facts), tuple(tools), version())
    return Step(
        verb="Origin",
        stage="origin",
        outputs=(output,),
        sources=(manifest.name, *images, *headers, *sorted(sources)),
        parameters=to_parameters(given),
        function=FUNCTION,
    )


def make_image_provenance(call: Call) -> None:
    """Write the statement of provenance."""
    given = call.parameters_as(ImageProvenanceParameters)
    manifest, *others = call.sources
    images, others = others[: given.images], others[given.images :]
    headers, sources = others[: given.headers], others[given.headers :]
    listed = [json.loads(read_bytes(path)) for path in headers]
    materials = [Material(portable_name(path), digest_of(path), "source") for path in sources]
    materials += [Material(name, digest, "header") for each in listed for name, digest in each["headers"].items()]
    materials += [Material(tool.name, tool.digest, "tool") for tool in given.tools]
    if given.code:
        materials.append(Material(f"n6build {given.n6build} (Python)", given.code, "tool"))
    unrecorded = sorted({name for each in listed for name in each["unrecorded"]})
    facts = {**given.facts, **({"headers not recorded of": unrecorded} if unrecorded else {})}
    folder = manifest.parent
    subjects = {Path(os.path.relpath(path, folder)).as_posix(): digest_of(path) for path in (manifest, *images)}
    statement = Provenance(subjects, given.options, facts, tuple(materials), given.n6build)
    write_atomically(call.outputs[0], provenance_json(statement))
