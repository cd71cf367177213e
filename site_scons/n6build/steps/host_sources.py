"""Steps for the sources of a program with networks, and of their decoders.

n6build compiles the sources of N6Appli; those of other programs are compiled by their own build systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import files_in
from n6build.base.paths import FIRMWARE
from n6build.compile.runtimes import without_unknown_flags
from n6build.describe.host_program import HostProgram
from n6build.engine.step import Step, outputs_of
from n6build.steps.app_headers import Asked, app_headers_steps
from n6build.steps.compile_c import Compilation, compile_step, compile_steps
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.host_headers import HEADER_FOLDERS, header_folder


@dataclass(frozen=True)
class NetworkCode:
    """Headers and code for a program that come from its networks' model.yaml.

    Attributes:
        headers: Steps that make the headers of an application and of a decoder.
        decoders: Steps that compile the decoders; none if no model.yaml names one.
    """

    headers: tuple[Step, ...]
    decoders: tuple[Step, ...]


def network_code(
    folder: str, how: Compilation, networks: Sequence[NetworkSteps], asked: Asked | None = None
) -> NetworkCode:
    """Return the steps for headers and code that model.yaml describes.

    Args:
        folder: Folder of the application.
        how: Settings for C with the generated headers of the board.
        networks: Networks of the application.
        asked: Post-processing of the command line.
    """
    headers = tuple(step for each in networks for step in app_headers_steps(f"{each.folder}_app", each, asked))
    decoded = any(each.model.postprocess for each in networks)
    sources = files_in(FIRMWARE / "postprocess", "*.c") if decoded else ()
    how = how.looking_in(FIRMWARE / "postprocess", FIRMWARE / "kernels").with_flags("-O2")
    return NetworkCode(headers, compile_steps(f"{folder}/postprocess", sources, how))


def program_steps(folder: str, host: HostProgram, how: Compilation, code: NetworkCode) -> tuple[Step, ...]:
    """Return the steps that compile a host's program and the code of its networks.

    Args:
        folder: Folder of the application.
        host: Program of the host project.
        how: Settings for C with the generated headers of the board.
        code: Headers and code of the networks.

    Raises:
        N6Error: N6-HOST-001 if a source is not C or assembler.
    """
    made = outputs_of(code.headers)
    how = how.looking_in(header_folder(made)).behind(made) if made else how
    return (*code.headers, *code.decoders, *host_steps(f"{folder}/program", host, how))


def host_steps(folder: str, host: HostProgram, how: Compilation) -> tuple[Step, ...]:
    """Return the steps that compile a host project's sources.

    Object files in `folder` have the same relative paths as their sources.

    Args:
        folder: Folder for the object files.
        host: Program of the host project.
        how: Settings for C with the generated headers.

    Raises:
        N6Error: N6-HOST-001 if a source is not C or assembler.
    """
    # Warnings of the host project are not errors here. Its flags come last, so that they take precedence.
    how = how.looking_in(*host.include_folders, *(FIRMWARE / place for place in ("appli", *HEADER_FOLDERS)))
    how = how.defining(*host.defines).with_flags("-Wno-error", *without_unknown_flags(list(host.flags)))
    return tuple(compile_step(f"{folder}/{_object_name(source)}", source, how) for source in host.sources)


def _object_name(source: str) -> str:
    path = Path(source)
    if path.suffix not in (".c", ".S"):
        what = f"{path.name} is not a C source"
        hint = "use .c and .S files; link other languages with the objects of N6Network in your own Program"
        raise N6Error("N6-HOST-001", what, where=source, hint=hint)
    parts = [part for part in path.with_suffix(".o").parts if part not in ("/", "..")]
    return "/".join(parts)
