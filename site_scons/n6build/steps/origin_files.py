"""Steps for provenance, bill of materials and notices of a flash manifest.

Step for notices.txt, the licences of all code linked into the images. The file is beside the flash
manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from n6build.base.environment import Environment
from n6build.base.files import digest_of, files_in, is_file, read_bytes, read_part, read_text, to_json, write_atomically
from n6build.base.paths import FIRMWARE, ROOT, project_path
from n6build.base.version import version
from n6build.compile.ll_aton import version_text
from n6build.compile.runtimes import RuntimeVersion
from n6build.compile.toolchain import licence_documents
from n6build.engine.perform import current_site
from n6build.engine.step import Call, Step, Tool, to_parameters
from n6build.place.image.signing import is_private_key
from n6build.steps.code_behind import FUNCTION
from n6build.tell.linked import LIBRARIES, linked_archives
from n6build.tell.notices import HEAD_BYTES, Texts, notices_text
from n6build.tell.provenance import Material, Provenance, portable_name, provenance_json, read_provenance


@dataclass(frozen=True)
class BillOfMaterialsParameters:
    """Parameters of the step.

    Attributes:
        application: Name of the application.
        runtime: Linked runtime.
        libraries: Versions of the compiler's libraries, by name.
    """

    application: str
    runtime: RuntimeVersion
    libraries: dict[str, str]


def bill_of_materials_step(
    output: str,
    application: str,
    provenance: str,
    maps: Sequence[str],
    runtime: RuntimeVersion,
    libraries: Mapping[str, str],
) -> Step:
    """Return the step that writes the bill of materials.

    Args:
        output: Path of sbom.cdx.json.
        application: Name of the application.
        provenance: Path of provenance.json.
        maps: Linker maps of this project's programs.
        runtime: Linked runtime.
        libraries: Versions of the compiler's libraries, by name.
    """
    return Step(
        verb="Bill",
        stage="origin",
        outputs=(output,),
        sources=(provenance, *maps),
        parameters=to_parameters(BillOfMaterialsParameters(application, runtime, dict(libraries))),
        function="n6build.steps.origin_files:make_bill_of_materials",
    )


def make_bill_of_materials(call: Call) -> None:
    """Write the bill of materials."""
    from n6build.tell.sbom import sbom_json  # noqa: PLC0415 - planning needs no library for bills.

    given = call.parameters_as(BillOfMaterialsParameters)
    provenance, *maps = call.sources
    runtime = given.runtime.name, version_text(given.runtime.version)
    text = sbom_json(given.application, read_provenance(provenance), runtime, linked_archives(maps), given.libraries)
    write_atomically(call.outputs[0], text)


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
        function="n6build.steps.origin_files:make_headers_read",
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


_C = (".c", ".h", ".S")
_LICENCES = ("LICEN[CS]E*", "COPYING*", "NOTICE*")
# Number of folders searched for a licence: that of a source and those above it.
_LEVELS = 6
_OURS = ROOT / "LICENSE"
_VENDORED = "third_party"
_APACHE = "Apache License, Version 2.0: http://www.apache.org/licenses/LICENSE-2.0"


@dataclass(frozen=True)
class LicenceNoticesParameters:
    """Parameters of the step.

    The sources are n6build's licence, linker maps, third-party sources and licence files, in this order.

    Attributes:
        application: Name of the application.
        ours: The first source is n6build's licence.
        maps: Number of linker maps.
        sources: Number of third-party sources.
        foreign: Programs that were linked elsewhere.
    """

    application: str
    ours: bool
    maps: int
    sources: int
    foreign: tuple[str, ...]


def notices_step(
    output: str,
    application: str,
    behind: Iterable[Step],
    maps: Sequence[str],
    further: Iterable[Path],
    foreign: Sequence[str],
    environment: Environment,
) -> Step:
    """Return the step that writes the notices.

    Args:
        output: Path of notices.txt.
        application: Name of the application.
        behind: All steps that the manifest depends on.
        maps: Linker maps.
        further: Folders with third-party headers.
        foreign: Third-party programs.
        environment: Environment in which the compiler is found.
    """
    steps = list(behind)
    made = {file for step in steps for file in step.outputs}
    compiled = {file for step in steps if step.depfile for file in step.sources if file.endswith(_C)} - made
    linked = {file for step in steps for file in step.sources if file.endswith(".a")} - made
    sources = sorted(file for file in compiled if _is_of_others(file))
    nearby = [*(PurePath(file).parent for file in (*sources, *sorted(linked))), *further]
    licences = dict.fromkeys(path for folder in dict.fromkeys(nearby) for path in _licences_near(Path(folder)))
    documents = licence_documents(environment, [name for library in LIBRARIES for name in library.documents])
    ours = (project_path(_OURS),) if is_file(_OURS) else ()
    given = LicenceNoticesParameters(
        application, bool(ours), len(maps), len(sources), tuple(map(portable_name, foreign))
    )
    return Step(
        verb="Notices",
        stage="origin",
        outputs=(output,),
        sources=(*ours, *maps, *sources, *map(project_path, (*licences, *documents))),
        parameters=to_parameters(given),
        function="n6build.steps.origin_files:make_licence_notices",
    )


def _is_of_others(source: str) -> bool:
    path = Path(source).absolute()
    return not path.is_relative_to(FIRMWARE) or _VENDORED in path.relative_to(FIRMWARE).parts


def _licences_near(folder: Path) -> list[Path]:
    """Return the licences in the folder, or in the nearest folder above that has any.

    n6build's own licence is not one of them.
    """
    for place in [folder.absolute(), *folder.absolute().parents][:_LEVELS]:
        found = [path for pattern in _LICENCES for path in files_in(place, pattern) if is_file(path)]
        if place == ROOT:
            return []
        if found:
            return found
    return []


def make_licence_notices(call: Call) -> None:
    """Write the notices."""
    given = call.parameters_as(LicenceNoticesParameters)
    ours, others = call.sources[: given.ours], call.sources[given.ours :]
    maps, others = others[: given.maps], others[given.maps :]
    sources, licences = others[: given.sources], others[given.sources :]
    texts = Texts(
        read_text(ours[0]) if ours else _APACHE,
        {portable_name(path): read_part(path, 0, HEAD_BYTES).decode(errors="replace") for path in sources},
        {portable_name(path): read_text(path) for path in licences},
        given.foreign,
    )
    write_atomically(call.outputs[0], notices_text(given.application, texts, linked_archives(maps)))
