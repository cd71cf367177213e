"""Step for notices.txt, the licences of all code linked into the images.

The file is beside the flash manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from n6build.base.environment import Environment
from n6build.base.files import files_in, is_file, read_part, read_text, write_atomically
from n6build.base.paths import FIRMWARE, ROOT, project_path
from n6build.compile.toolchain import licence_documents
from n6build.engine.step import Call, Step, to_parameters
from n6build.tell.linked import LIBRARIES, linked_archives
from n6build.tell.notices import HEAD_BYTES, Texts, notices_text
from n6build.tell.provenance import portable_name

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
        function="n6build.steps.licence_notices:make_licence_notices",
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
