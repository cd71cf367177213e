"""The whole pipeline as one plan: from models to a checked inference on a board.

Goals that are always in the plan: build (default), network, image, check, hex, reloc, romfs,
merge-report and vscode. Goals that are in the plan only on request: library, time, report, and the
goals that access a board, such as flash, flash-all, flash-model and run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from n6build.base.environment import Environment
from n6build.base.paths import project_path
from n6build.describe.choices import Choices
from n6build.describe.given_options import given_options
from n6build.describe.hardware.boards import home_of_board, load_board
from n6build.describe.targets import FIELD_REPORT, LADDER, MCUBOOT
from n6build.engine.plan import Plan, make_plan
from n6build.engine.step import Step, output_with, outputs_of
from n6build.steps.app_headers import app_headers_steps
from n6build.steps.build_report import report_step
from n6build.steps.checks import checks_step, verdict_step
from n6build.steps.comparison import COMPARE, check_compare, compare_plan
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.decoded_files import PICTURE
from n6build.steps.editor import editor_step
from n6build.steps.firmware_hex import firmware_hex_step
from n6build.steps.flash_manifest import flash_manifest_step
from n6build.steps.goal_checks import check_goals, makes_appli
from n6build.steps.host_headers import host_link
from n6build.steps.host_library import check_library, host_library_plan
from n6build.steps.image_sizes import lacking_step, merge_report_step, sizes_step
from n6build.steps.job import Job, boards_of, check_device, job_of
from n6build.steps.mcuboot_image import mcuboot_image_step
from n6build.steps.network import network_steps
from n6build.steps.network_times import network_times_step
from n6build.steps.on_board import BeforeFlash, on_board
from n6build.steps.origin import FILES as ORIGIN_FILES
from n6build.steps.origin import origin_steps
from n6build.steps.plan_part import NO_PART, Part
from n6build.steps.program_images import Images, images_of, trial_of
from n6build.steps.reloc_summary import reloc_pool_table_step, reloc_summary_step
from n6build.steps.romfs_partitions import romfs_partitions
from n6build.steps.run_files import SHEET
from n6build.steps.seeded_inputs import with_inputs
from n6build.steps.vision_steps import asked_of


def application_plan(
    choices: Choices, environment: Environment, goals: Collection[str], programmer: str = "", notes: Path | None = None
) -> Plan:
    """Return the plan of the application for these choices and goals.

    Args:
        choices: Choices of the command line.
        environment: Tools and paths of this machine.
        goals: Requested goals. Goals that access a board are in the plan only if they are requested.
        programmer: Name of the programmer chosen for them, such as 'virtual'.
        notes: Folder for the output of tools about themselves; None to keep nothing.

    Raises:
        N6Error: The error of each stage, if the choices cannot be built.
    """
    check_compare(choices, frozenset(goals))
    if COMPARE in goals:
        return compare_plan(choices)
    check_goals(choices, goals)
    boards = boards_of(choices)
    choices = replace(choices, board=boards[0])
    job = job_of(replace(choices, field=FIELD_REPORT in goals, ladder=LADDER in goals), environment, notes)
    check_device(job, goals)
    if choices.program is not None and choices.program.is_linked_elsewhere:
        return host_library_plan(job)
    networks = _networks(job)
    images = images_of(job, networks)
    before, build = _build(job, networks, images)
    board = on_board(job, networks, images, before, goals, programmer)
    parts = [build, _hex(job, images, before.manifest), _reloc(job, images), romfs_partitions(job), board]
    parts += [_mcuboot(job), _merge_report(job, before.sizes), _editor(job, images)]
    if "library" in goals:
        check_library(choices, networks)
        parts.append(host_link(choices.build, images.library, job.runtime) if choices.appli else images.library)
    if "time" in goals:
        parts.append(_time(job, networks, boards, board))
    if "report" in goals:
        parts.append(_report(job, networks, images, before, board))
    return make_plan(
        [step for part in parts for step in part.steps],
        {name: files for part in parts for name, files in part.goals.items()},
    )


def _networks(job: Job) -> tuple[NetworkSteps, ...]:
    networks = network_steps(job.folder, job.models, job.stage1)
    if job.choices.is_foreign:
        return networks
    # Only this project's Appli runs a network on inputs that are in flash.
    return tuple(with_inputs(job.folder, each) for each in networks)


def _build(job: Job, networks: Sequence[NetworkSteps], images: Images) -> tuple[BeforeFlash, Part]:
    """Return the steps before any programming, and their part of the plan.

    The part has the goals network, image, check and build.
    """
    manifest = flash_manifest_step(
        f"{job.folder}/flash_manifest.json",
        images.parts,
        images.plan.name,
        job.board,
        trial_of(job),
        layout=f"{job.folder}/flash_layout.json",
    )
    lacking = lacking_step(f"{job.folder}/to_flash.txt", manifest.name, images.files, job.virtual_board)
    checks = _checks(job, networks, images, manifest)
    verdict, sizes = verdict_step(f"{job.folder}/checks.txt", checks.name), _sizes(job, images, manifest)
    compiled = tuple(step for each in networks for step in each.steps)
    figures = tuple(file for each in networks for file in each.figures)
    origin = origin_steps(job, images, manifest, (*compiled, *images.steps, manifest))
    come_with = outputs_of(origin[-ORIGIN_FILES:])
    before = BeforeFlash(manifest, checks, verdict, sizes, come_with, figures)
    asked = asked_of(job)
    headers = [step for each in networks for step in app_headers_steps(f"{each.folder}_app", each, asked)]
    part = Part(
        (
            *compiled,
            *(each.seeded for each in networks if each.seeded),
            *images.steps,
            manifest,
            lacking,
            *origin,
            sizes,
            *headers,
            checks,
            verdict,
        ),
        {
            "network": tuple(file for each in networks for file in each.outputs),
            "image": (*manifest.outputs, *lacking.outputs, *come_with, *sizes.outputs),
            "check": (*verdict.outputs, *figures),
            "build": (
                *(*manifest.outputs, *lacking.outputs, *come_with),
                *(*sizes.outputs, *verdict.outputs, *figures, *outputs_of(headers)),
            ),
        },
    )
    return before, part


def _checks(job: Job, networks: Sequence[NetworkSteps], images: Images, manifest: Step) -> Step:
    return checks_step(
        f"{job.folder}/checks.json",
        job.board,
        networks,
        images.plan.name,
        manifest.name,
        job.runtime.identity,
        [(network, model.file) for network, model in images.models],
        job.choices.load,
        images.foreign,
    )


def _sizes(job: Job, images: Images, manifest: Step) -> Step:
    return sizes_step(
        f"{job.folder}/sizes.txt",
        job.board,
        output_with(manifest, "layout.json"),
        images.own,
        images.plan.name,
        encrypted=job.encryption is not None,
    )


def _hex(job: Job, images: Images, manifest: Step) -> Part:
    step = firmware_hex_step(f"{job.folder}/firmware.hex", manifest.name, images.files)
    return Part((step,), {"hex": step.outputs})


def _mcuboot(job: Job) -> Part:
    if not makes_appli(job.choices):
        return NO_PART
    appli = f"{job.folder}/{'unsigned/' if job.trust else ''}appli_image.bin"
    output = f"{job.folder}/appli_mcuboot.bin"
    step = mcuboot_image_step(output, appli, job.board, job.choices.mcuboot_version, job.trust)
    return Part((step,), {MCUBOOT: step.outputs})


def _merge_report(job: Job, sizes: Step) -> Part:
    step = merge_report_step(job.folder, output_with(sizes, ".json"), job.choices.base)
    return Part((step,), {"merge-report": step.outputs})


def _editor(job: Job, images: Images) -> Part:
    """Return the part of goal vscode; it has no step without an ELF file."""
    elves = [model.elf for _, model in images.models if model.elf]
    if not images.elves:
        return Part((), {})
    choices, title = job.choices, f"{job.folder.rpartition('/')[2]} on {job.board.name}"
    note, options = f"{job.folder}/vscode.json", given_options(choices)
    step = editor_step(note, title, options, choices.probe, choices.svd, job.board, images.elves, elves)
    return Part((step,), {"vscode": step.outputs})


def _report(job: Job, networks: Sequence[NetworkSteps], images: Images, before: BeforeFlash, board: Part) -> Part:
    """Return the report on a build, and on its run if one was requested."""
    done = outputs_of(board.steps)
    step = report_step(
        job.folder,
        job.board,
        networks,
        job.runtime.identity,
        images.plan.name,
        before.manifest.name,
        images.own,
        before.checks.name,
        _run_of(board),
        next((name for name in done if name.endswith((f"/{PICTURE}", f"/{SHEET}"))), ""),
        _inputs_of(job, board),
        (*before.sizes.outputs, *done),
    )
    return Part((step,), {"report": step.outputs})


def _inputs_of(job: Job, board: Part) -> str:
    """Return the inputs of a run for its first network.

    The text is empty if the network has the model's own inputs.
    """
    made = (name for name in outputs_of(board.steps) if name.endswith("/inputs/given.npy"))
    given = project_path(job.choices.inputs) if job.choices.inputs and _run_of(board) else ""
    return next(made, given)


def _time(job: Job, networks: Sequence[NetworkSteps], boards: Sequence[str], board: Part) -> Part:
    """Return the part of goal time for one board or all boards.

    Instructions come from a run if one was requested.
    """
    step = network_times_step(
        job.folder,
        job.board,
        [job.board, *(load_board(name, home_of_board(name)) for name in boards[1:])],
        networks,
        job.choices.clock,
        job.choices.flash,
        _run_of(board),
    )
    return Part((step,), {"time": step.outputs})


def _run_of(board: Part) -> str:
    """Return the name of run.json, or an empty text if nothing runs."""
    return next((name for name in outputs_of(board.steps) if name.endswith("run.json")), "")


def _reloc(job: Job, images: Images) -> Part:
    choices, models = job.choices, [model for _, model in images.models]
    files = tuple(file for model in models for file in model.files)
    if not models or not (choices.parse_only or choices.verbosity or choices.log):
        return Part((), {"reloc": files})
    if choices.parse_only:
        table = reloc_pool_table_step(f"{job.folder}/reloc_pools.txt", [model.description for model in models])
        return Part((table,), {"reloc": table.outputs})
    outputs = [f"{job.folder}/reloc_summary.txt", *([project_path(choices.log)] if choices.log else [])]
    summary = reloc_summary_step(outputs, [model.file for model in models], shown=bool(choices.verbosity))
    return Part((summary,), {"reloc": (*files, *summary.outputs)})
