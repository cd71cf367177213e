"""Link inputs of a program not built by n6build, under fixed names.

The names do not depend on board, model and profile: Make, CMake and IDEs name these two files once. If
a build changes neither file, the program is not linked again.
"""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.files import digest_of, read_bytes, write_atomically
from n6build.base.paths import project_path
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
        function="n6build.steps.host_link:make_host_link",
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
