"""The networks as a static library, for a program that is somebody else's: the Appli of this project without its main.

A linker takes from a library only what is missing: start-up, console and handlers of the program's own take precedence.
"""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.environment import Environment
from n6build.base.errors import N6Error
from n6build.compiler.toolchain import ARCHIVER, Toolchain
from n6build.options.choices import Choices
from n6build.plan.step import Step, output_with
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware import Objects
from n6build.steps.job import runtime_of
from n6build.steps.part import Part


def host_library(folder: str, objects: Objects, toolchain: Toolchain, plan: Step) -> Part:
    """plan: of the memory. Goal library: the archive, and the symbols for the linker that belong to it."""
    members = tuple(file for file in objects.files if not file.endswith("/main.o"))
    archive = f"{folder}/libn6networks.a"
    step = Step(
        verb="Archive",
        stage="link",
        outputs=(archive,),
        sources=members,
        # D: no dates, no owners.
        command=(ARCHIVER, "rcsD", archive, *members),
        tools=(toolchain.tool,),
    )
    return Part((*objects.steps, step), {"library": (archive, output_with(plan, ".ld"))})


def check_library(choices: Choices, networks: Sequence[NetworkSteps]) -> None:
    """Raises N6-OPTION-021 where there is no network to link."""
    if choices.loader == "reloc" or not networks:
        what = "target library is made of networks that are linked into a program"
        hint = "loader=linked" if choices.loader == "reloc" else "name a model: model=keyword"
        raise N6Error("N6-OPTION-021", what, hint=hint)


def linked_with(choices: Choices, environment: Environment) -> tuple[str, ...]:
    """What a program has to be linked with besides the library: paths, and options of the compiler."""
    runtime = runtime_of(choices, environment)
    return (*map(str, runtime.libraries), *(f"-l{name}" for name in runtime.system_libraries))
