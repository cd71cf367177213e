"""The networks as a static library for a program not built by n6build.

The library is this project's Appli without its main. A linker takes only missing symbols from a
library: the program's own start-up, console and handlers take precedence.

Steps for the sources of a program with networks, and of their decoders. n6build compiles the
sources of N6Appli; those of other programs are compiled by their own build systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import files_in
from n6build.base.paths import FIRMWARE, project_path
from n6build.compile.runtimes import without_unknown_flags
from n6build.compile.toolchain import ARCHIVER
from n6build.describe.choices import Choices
from n6build.describe.host_program import LIBRARY, HostProgram
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step, output_with, outputs_of
from n6build.steps.app_headers import Asked, app_headers_steps
from n6build.steps.compile_c import Compilation, compile_step, compile_steps
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware import BoardFirmware, LinkedNetworks, board_firmware, linked_networks
from n6build.steps.host_headers import HEADER_FOLDERS, header_folder, host_headers_step
from n6build.steps.job import Job
from n6build.steps.network import network_steps
from n6build.steps.plan_memory import memory_plan_step
from n6build.steps.plan_part import Part
from n6build.steps.vision_steps import asked_of


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


def host_library(
    folder: str, include: str, firmware: BoardFirmware, linked: LinkedNetworks, plan: Step, code: NetworkCode
) -> Part:
    """Return the part of goal library: the archive, linker symbols and headers.

    Args:
        folder: Folder of the application.
        include: Folder for the headers.
        firmware: Common headers and objects of the board.
        linked: Networks compiled for a link.
        plan: Step of the memory plan.
        code: Headers and code of the networks.
    """
    archive = f"{folder}/{LIBRARY}"
    objects = (*linked.without_main, *outputs_of(code.decoders))
    step = Step(
        verb="Archive",
        stage="link",
        outputs=(archive,),
        sources=objects,
        # Flag D omits dates and owners, so that the archive is reproducible.
        command=(ARCHIVER, "rcsD", archive, *objects),
        tools=(firmware.toolchain.tool,),
    )
    headers = host_headers_step(include, firmware.headers, outputs_of(code.headers))
    steps = (*linked.steps, *code.headers, *code.decoders, step, headers)
    return Part(steps, {"library": (archive, output_with(plan, ".ld"), *headers.outputs)})


def host_library_plan(job: Job) -> Plan:
    """Return the plan with goals network and library for a program linked elsewhere.

    Goal library includes all further libraries that must be linked.

    Raises:
        N6Error: The errors of stage 1 and of the memory plan.
    """
    networks = network_steps(job.folder, job.models, job.stage1)
    check_library(job.choices, networks)
    profile, runtime = job.choices.profile, job.runtime.identity
    plan = memory_plan_step(job.folder, job.board, profile, networks, runtime, verified=False, has_own_main=True)
    firmware = board_firmware(job.board_folder, job.board, job.toolchain, job.flags)
    linked = linked_networks(job.folder, firmware, job.runtime, networks, plan)
    code = network_code(job.folder, firmware.how, networks, asked_of(job))
    library = host_library(job.folder, f"{job.folder}/include", firmware, linked, plan, code)
    return make_plan(
        [*(step for each in networks for step in each.steps), plan, *library.steps],
        {
            "network": tuple(file for each in networks for file in each.outputs),
            "library": (*library.goals["library"], *map(project_path, job.runtime.libraries)),
        },
    )


def check_library(choices: Choices, networks: Sequence[NetworkSteps]) -> None:
    """Check that there are networks for the library.

    Raises:
        N6Error: N6-OPTION-021 if there is no network to link.
    """
    if choices.loader == "reloc" or not networks:
        what = "target library needs networks that are linked into a program"
        hint = "loader=linked" if choices.loader == "reloc" else "name a model, for example model=keyword"
        raise N6Error("N6-OPTION-021", what, hint=hint)
