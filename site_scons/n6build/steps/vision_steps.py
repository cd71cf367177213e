"""Steps that build a third-party project with another network in it."""

from __future__ import annotations

from n6build.base.errors import N6Error
from n6build.base.files import sha256
from n6build.base.paths import project_path
from n6build.base.same_fields import with_fields_of
from n6build.base.templates import with_included
from n6build.compile.application.vision_project import VisionProject
from n6build.compile.reference.network_sources import TWO_ARGUMENTS
from n6build.engine.ledger import FOLDER
from n6build.engine.step import Step, outputs_of, to_parameters
from n6build.judge.postprocess.st_macros import USUAL
from n6build.steps.app_headers import Asked, config_of
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.firmware import BoardFirmware, Program, kernels_alone
from n6build.steps.job import Job
from n6build.steps.vision_program import TEMPLATE, VisionProgramParameters


def asked_of(job: Job) -> Asked | None:
    """Return the post-processing of the command line or of a project.

    Raises:
        N6Error: N6-APP-013 for a project without any.
    """
    name, project = job.choices.application, job.project
    if project is None:
        return Asked(name) if name else None
    (model,) = job.models
    of_model = model.application.post_processing.type if model.application else "none"
    usual = USUAL.get(model.postprocess.decoder, "") if model.postprocess else ""
    name = name or (usual if of_model == "none" else of_model)
    if not name:
        what = f"nothing tells which post-processing of {project.root.name} fits the network"
        known = ", ".join(each for each in project.decoders if each.startswith("od_"))
        raise N6Error(
            "N6-APP-013", what, where=model.name, hint=f"add application=od_yolo_v8, or another one of {known}"
        )
    return Asked(name, project.root.name, project.decoders)


def vision_program(job: Job, project: VisionProject, firmware: BoardFirmware, network: NetworkSteps) -> Program:
    """Return the project's program with another network.

    Args:
        job: Common inputs of the steps.
        project: The project.
        firmware: Common headers and objects of the board.
        network: Network that replaces the project's own.
    """
    headers, kernels = kernels_alone(firmware, [network])
    # Networks of ST's compiler call none.
    given = (*network.headers, *(headers.outputs if kernels else ()))
    # One copy serves all networks, which differ in few of its files.
    room = f"{job.choices.build}/{FOLDER}/projects/{sha256(str(project.root / project.makefile).encode())[:16]}"
    parameters = with_fields_of(
        VisionProgramParameters,
        project,
        headers=len(given),
        gives_up_input=network.backend.strict,
        passes_instance=job.runtime.version >= TWO_ARGUMENTS,
        room=room,
    )
    files = tuple(project_path(project.root / name) for name in project.files)
    step = Step(
        verb="Make",
        stage="project",
        outputs=(f"{job.folder}/project.elf",),
        sources=(*files, network.outputs[0], *given, config_of(network), *outputs_of(kernels)),
        parameters=to_parameters(parameters),
        templates=tuple(map(project_path, with_included(TEMPLATE))),
        tools=(job.toolchain.tool,),
        function="n6build.steps.vision_program:make_vision_program",
        state=(room,),
        shared=False,
    )
    return Program((*firmware.steps, headers, *kernels, step), step.name)
