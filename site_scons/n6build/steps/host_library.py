"""The networks as a static library for a program not built by n6build.

The library is this project's Appli without its main. A linker takes only missing symbols from a
library: the program's own start-up, console and handlers take precedence.
"""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.errors import N6Error
from n6build.base.paths import project_path
from n6build.compile.toolchain import ARCHIVER
from n6build.describe.choices import Choices
from n6build.describe.host_program import LIBRARY
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step, output_with, outputs_of
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware import BoardFirmware, LinkedNetworks, board_firmware, linked_networks
from n6build.steps.host_headers import host_headers_step
from n6build.steps.host_sources import NetworkCode, network_code
from n6build.steps.job import Job
from n6build.steps.network import network_steps
from n6build.steps.plan_memory import memory_plan_step
from n6build.steps.plan_part import Part
from n6build.steps.vision_steps import asked_of


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
