"""Step that records the headers of compilations and their digests for provenance."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import digest_of, to_json, write_atomically
from n6build.engine.perform import current_site
from n6build.engine.step import Call, Step, to_parameters
from n6build.tell.provenance import portable_name


@dataclass(frozen=True)
class HeadersReadParameters:
    """Parameters of the step.

    Attributes:
        objects: Names of the compilations.
    """

    objects: tuple[str, ...]


def headers_read_steps(folder: str, steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return a step for each group of compilations with the same header folders.

    Args:
        folder: Folder that each step writes into.
        steps: Steps of the application; steps without a depfile are skipped.
    """
    groups: dict[tuple[str, ...], list[Step]] = {}
    for step in steps:
        if step.depfile:
            groups.setdefault(step.include_folders, []).append(step)
    return tuple(_step(folder, folders, group) for folders, group in groups.items())


def _step(folder: str, folders: tuple[str, ...], group: Sequence[Step]) -> Step:
    objects = tuple(step.name for step in group)
    # The name is a digest, not a number, so that another group does not change the names of the rest. It is relative to the
    # build folder, because CMake's configurations share their rules.
    name = hashlib.sha256("\n".join(os.path.relpath(each, folder) for each in objects).encode()).hexdigest()[:8]
    return Step(
        verb="Headers",
        stage="origin",
        outputs=(f"{folder}/headers-{name}.json",),
        sources=tuple(dict.fromkeys(source for step in group for source in step.sources)),
        parameters=to_parameters(HeadersReadParameters(objects)),
        include_folders=folders,
        after=tuple(dict.fromkeys((*objects, *(file for step in group for file in step.after)))),
        function="n6build.steps.headers_read:make_headers_read",
        # The step reads the record of this build folder.
        shared=False,
        quiet=True,
    )


def make_headers_read(call: Call) -> None:
    """Write the digests of all headers by name.

    The engine records the headers of each compilation, and this step reads that record.
    """
    objects = call.parameters_as(HeadersReadParameters).objects
    sources = {source.as_posix() for source in call.sources}
    # The path of the build folder may begin with '..'.
    build = Path(os.path.abspath(call.build))  # noqa: PTH100
    site = current_site()
    entries = {name: site.ledger.entries.get(name) if site else None for name in objects}
    read = {path for entry in entries.values() if entry is not None for path, digest in entry.inputs.items() if digest}
    # Leave out generated headers: they follow from other materials.
    headers = sorted(path for path in read - sources if not Path(path).absolute().is_relative_to(build))
    document = {
        "headers": {portable_name(path): digest_of(Path(path)) for path in headers},
        # If the record of the build folder was removed, the provenance lacks the headers of these objects.
        "unrecorded": sorted(portable_name(name) for name, entry in entries.items() if entry is None),
    }
    write_atomically(call.outputs[0], to_json(document))
