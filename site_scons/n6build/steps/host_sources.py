"""Steps for the sources of a host project's program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import files_in
from n6build.base.paths import FIRMWARE
from n6build.compile.runtimes import without_unknown_flags
from n6build.describe.host_program import HostProgram
from n6build.engine.step import Step, outputs_of
from n6build.steps.app_headers import app_headers_steps
from n6build.steps.compile_c import Compilation, compile_step, compile_steps
from n6build.steps.compiled_network import NetworkSteps


def program_steps(
    folder: str, host: HostProgram, how: Compilation, networks: Sequence[NetworkSteps]
) -> tuple[Step, ...]:
    """Return the steps that compile a host's program.

    If model.yaml describes a decoder or an application, its headers are made; the code of decoders is compiled with them.

    Args:
        folder: Folder of the application.
        host: Program of the host project.
        how: Settings for C with the generated headers.
        networks: Networks of the application.

    Raises:
        N6Error: N6-HOST-001 if a source is not C or assembler.
    """
    headers = [step for each in networks for step in app_headers_steps(f"{each.folder}_app", each)]
    if not headers:
        return host_steps(f"{folder}/program", host, how)
    made = outputs_of(headers)
    how = how.looking_in(FIRMWARE / "postprocess", FIRMWARE / "kernels")
    decoded = any(each.model.postprocess for each in networks)
    sources = files_in(FIRMWARE / "postprocess", "*.c") if decoded else ()
    decoder = compile_steps(f"{folder}/postprocess", sources, how.with_flags("-O2"))
    how = how.looking_in(header_folder(made)).behind(made)
    return (*headers, *decoder, *host_steps(f"{folder}/program", host, how))


def header_folder(headers: Sequence[str]) -> str:
    """Return the folder in which a program's headers of its networks are found.

    One network's headers are included as `n6_decoder.h`. Two networks have headers of the same name, so a program with
    several includes them as `NAME/network_app/n6_decoder.h`; the plain name is then no file, and cannot be the wrong one.

    Args:
        headers: Headers of one or several networks, in `NAME/network_app`.
    """
    folders = {str(Path(header).parent) for header in headers}
    return folders.pop() if len(folders) == 1 else str(Path(os.path.commonpath(folders)))


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
    how = how.looking_in(*host.include_folders, FIRMWARE / "appli", FIRMWARE / "bring_up")
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
