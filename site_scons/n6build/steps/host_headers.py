"""Steps for headers and link inputs of programs that n6build does not build.

Link inputs of a program not built by n6build, under fixed names. The names do not depend on board,
model and profile: Make, CMake and IDEs name these two files once. If a build changes neither file,
the program is not linked again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import digest_of, files_in, read_bytes, read_text, remove_others, sha256, write_atomically
from n6build.base.paths import FIRMWARE, project_path
from n6build.compile.runtimes import Runtime
from n6build.describe.host_program import LIBRARY, LINK
from n6build.engine.step import Call, Step, to_parameters
from n6build.steps.plan_part import Part


@dataclass(frozen=True)
class HostLinkParameters:
    """Inputs of the linker script besides its sources.

    Attributes:
        libraries: Paths of the runtime's libraries.
        system_libraries: Libraries of the toolchain, by name.
    """

    libraries: tuple[str, ...]
    system_libraries: tuple[str, ...]


def host_link(build: str, library: Part, runtime: Runtime) -> Part:
    """Add the step that makes both files to the networks' library.

    Args:
        build: Folder of all build products.
        library: Part returned by `host_library`.
        runtime: Runtime whose libraries follow the networks.

    Returns:
        The part, with both files and the headers as its goal.
    """
    archive, symbols, *headers = library.goals["library"]
    libraries = tuple(map(str, runtime.libraries))
    step = Step(
        verb="Library",
        stage="link",
        outputs=(f"{build}/{LIBRARY}", f"{build}/{LINK}"),
        sources=(archive, symbols, *map(project_path, runtime.libraries)),
        parameters=to_parameters(HostLinkParameters(libraries, runtime.system_libraries)),
        function="n6build.steps.host_headers:make_host_link",
        # The script contains paths of this machine.
        shared=not libraries,
    )
    return Part((*library.steps, step), {"library": (*step.outputs, *headers)})


def make_host_link(call: Call) -> None:
    """Copy the library, and write the linker script.

    The script has the symbols of the networks and the libraries of their runtime. A digest of each
    library is a comment in the script, so that a changed library causes a new link.
    """
    parameters = call.parameters_as(HostLinkParameters)
    archive, symbols, *libraries = call.sources
    text = read_bytes(symbols).decode()
    for named, library in zip(parameters.libraries, libraries, strict=True):
        text += f'INPUT("{named}") /* {digest_of(library)} */\n'
    text += "".join(f"INPUT(-l{name})\n" for name in parameters.system_libraries)
    write_atomically(call.outputs[0], read_bytes(archive))
    write_atomically(call.outputs[1], text)


# Folders of firmware/ whose headers a program may include besides n6_network.h and the generated ones.
HEADER_FOLDERS = ("bring_up", "postprocess")
# All headers for another build system include it, and it changes with any of them. During a build, Ninja only sees changes of
# files that CMake has named, and the names of the other headers depend on the networks.
CHANGES = "n6_made.h"


def header_folder(headers: Sequence[str]) -> str:
    """Return the folder in which a program's headers of its networks are found.

    One network's headers are included as `n6_decoder.h`. Two networks have headers of the same name, so a program with
    several includes them as `NAME_app/n6_decoder.h`; the plain name is then no file, and cannot be the wrong one.

    Args:
        headers: Headers of one or several networks, in `network_app` or `NAME_app`.
    """
    folders = {str(Path(header).parent) for header in headers}
    return folders.pop() if len(folders) == 1 else str(Path(os.path.commonpath(folders)))


def host_headers_step(folder: str, generated: Sequence[str], made: Sequence[str]) -> Step:
    """Return the step that puts all headers for a host's program into one folder.

    A program then has the same headers as one of N6Appli, by the same names.

    Args:
        folder: The folder, for these headers only.
        generated: Generated headers of the board.
        made: Headers that model.yaml describes.
    """
    own = [project_path(file) for place in HEADER_FOLDERS for file in files_in(FIRMWARE / place, "*.h")]
    plain = (*own, *generated)
    names = [*(Path(file).name for file in plain), *(os.path.relpath(file, header_folder(made)) for file in made)]
    return Step(
        verb="Header",
        stage="header",
        outputs=tuple(f"{folder}/{name}" for name in (CHANGES, *names)),
        sources=(*plain, *made),
        function="n6build.steps.host_headers:make_host_headers",
    )


def make_host_headers(call: Call) -> None:
    """Copy the headers, and remove those of other networks."""
    changes, *headers = call.outputs
    texts = [read_text(source) for source in call.sources]
    for header, text in zip(headers, texts, strict=True):
        write_atomically(header, f'{text}#include "{CHANGES}"\n')
    write_atomically(changes, f"/* Changes with any header: {sha256(''.join(texts).encode())} */\n")
    # A program that includes a header of a network that it no longer has must not compile.
    for folder in (changes.parent, *changes.parent.iterdir()):
        remove_others(folder, {path.name for path in call.outputs if path.parent == folder})
