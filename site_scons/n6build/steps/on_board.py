"""Part of the plan that accesses a board: programming, starting and running."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.base.same_fields import with_fields_of
from n6build.board.flash.receipt import VIRTUAL
from n6build.describe.targets import FIELD_REPORT, FLASHING, LADDER, ON_A_BOARD, RECOVER
from n6build.describe.until import BY_DEFAULT, Until
from n6build.engine.step import Step, outputs_of
from n6build.steps.board_files import board_files, choice_of
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.debug_board import debug_board_step
from n6build.steps.flash_board import Target, flash_board_step
from n6build.steps.flash_manifest import FlashPart, flash_manifest_step
from n6build.steps.flash_models import flash_appli_step, flash_models_step
from n6build.steps.given_inputs import given_inputs
from n6build.steps.goal_checks import runs_until
from n6build.steps.job import Job
from n6build.steps.plan_part import Part
from n6build.steps.program_images import Images, trial_of
from n6build.steps.recover_board import RecoverBoardParameters, recover_board_step
from n6build.steps.reference_outputs import expected_outputs
from n6build.steps.run_board import Session, run_board_step
from n6build.steps.run_epochs import run_epochs_step
from n6build.steps.run_field_report import field_report_step
from n6build.steps.run_files import Sound, Vision
from n6build.steps.run_ladder import ladder_step, record_of
from n6build.steps.run_until import run_until_step
from n6build.steps.start_board import start_board_step
from n6build.steps.verify_board import verify_board_step


@dataclass(frozen=True)
class BeforeFlash:
    """Steps that come before any programming.

    Attributes:
        manifest: Step of the flash manifest.
        checks: Step of the checks.
        verdict: Step of the checks' verdict.
        sizes: Step of the sizes.
        origin: Files that record the origin of the images: provenance, bill of materials, notices.
        figures: Files with the accuracy of int8 models made here; a limit that is missed ends the build.
    """

    manifest: Step
    checks: Step
    verdict: Step
    sizes: Step
    origin: tuple[str, ...]
    figures: tuple[str, ...] = ()


def on_board(
    job: Job,
    networks: Sequence[NetworkSteps],
    images: Images,
    before: BeforeFlash,
    asked: Collection[str],
    programmer: str,
) -> Part:
    """Return the steps and goals that access a board.

    Args:
        job: Common inputs of the steps.
        networks: Networks of the application.
        images: Images of the application.
        before: Steps that come before any programming.
        asked: Requested goals; there are no steps if none of them needs a board.
        programmer: Name of the programmer in steps.

    Raises:
        N6Error: N6-OPTION-006 if dry=1 is used for an image with two slots.
    """
    if {*ON_A_BOARD, RECOVER}.isdisjoint(asked):
        return Part((), {})
    choices = job.choices
    target = with_fields_of(
        Target,
        choices,
        file=board_files(job.board)[0],
        board=choice_of(job.board),
        probe=programmer,
        name=programmer.rpartition(":")[2],
        virtual_board=job.virtual_board,
        everything="flash-all" in asked,
        foreign=choices.is_foreign,
        key=job.encryption.key if job.encryption and programmer.rpartition(":")[2] == VIRTUAL else "",
        counter=job.trust.counter if job.trust and job.trust.advances else 0,
    )
    # A recovery programs the board, unless it is to come after a flash.
    flashes = "no-flash" not in choices.modes and (RECOVER not in asked or not {*FLASHING}.isdisjoint(asked))
    steps = _flash_steps(job, images, before, asked, target) if flashes else []
    receipts = outputs_of(steps)
    only_models = _asks_only_for_models(asked)
    goals = {name: tuple(receipts) if (name == "flash-model") == only_models else () for name in FLASHING}
    if not only_models:
        goals["flash"] = goals["flash-all"] = (*before.sizes.outputs, *before.origin, *receipts)
    if RECOVER in asked:
        recovery = _recovery_steps(job, images, before, target, receipts)
        steps += recovery
        goals[RECOVER] = recovery[-1].outputs
        receipts = (*receipts, *recovery[-1].outputs)
    if "verify" in asked:
        # Without a flash goal, verify reads the board as it is.
        verify = _verify_step(job, images, before, () if {*FLASHING}.isdisjoint(asked) else receipts, target)
        steps.append(verify)
        goals["verify"] = verify.outputs
    if "run" in asked:
        run = _run_steps(job, networks, images, receipts, target)
        steps += run
        goals["run"] = run[-1].outputs
    if FIELD_REPORT in asked:
        report = _field_report(job, networks, images, receipts, target)
        steps += report
        goals[FIELD_REPORT] = report[-1].outputs
    if LADDER in asked:
        climb = _ladder(job, networks, images, receipts, target)
        steps.append(climb)
        goals[LADDER] = climb.outputs
    return Part(tuple(steps), goals)


def _receipt(job: Job, target: Target, part: str) -> str:
    """Return the path of a receipt.

    A dry run has a different one, so that it does not pass for a flashed board.
    """
    words = (target.name, job.board.name, job.choices.pair, part, "dry" if target.dry else "")
    return f"{job.choices.build}/flash/{'-'.join(word for word in words if word)}.json"


def _flash_steps(job: Job, images: Images, before: BeforeFlash, asked: Collection[str], target: Target) -> list[Step]:
    """Return the steps that program the board."""
    only_models = _asks_only_for_models(asked)
    appli = _separate_appli(job, images, only_models=only_models)
    if _updates_models(job) or (appli and _appli_with_two_slots(job, images)):
        groups = _two_slot_groups(job, images, appli, target, only_models=only_models)
    elif only_models:
        groups = [_manifest_and_flash(job, images, target, "models", (*images.weights, *([appli] if appli else [])))]
    else:
        whole = _receipt(job, target, "")
        groups = [[flash_board_step(whole, before.manifest.name, images.files, job.board, target)]]
    sizes = () if only_models else before.sizes.outputs
    return _one_after_the_other(groups, (*before.verdict.outputs, *before.figures, *sizes))


def _asks_only_for_models(asked: Collection[str]) -> bool:
    """Return whether the goals program the models but no programs."""
    return "flash-model" in asked and not {"flash", "flash-all"} & set(asked)


def _updates_models(job: Job) -> bool:
    """Return whether models go to their free slots, with the older ones kept."""
    return job.choices.loader == "reloc" and job.choices.slots == 2


def _separate_appli(job: Job, images: Images, *, only_models: bool) -> FlashPart | None:
    """Return the Appli if it is signed or has two slots, or None.

    Otherwise it is programmed together with the other images.
    """
    if job.trust is not None:
        # New models are of no use to a signed Appli that does not name them.
        return _appli_of(images)
    return None if only_models else _appli_with_two_slots(job, images)


def _two_slot_groups(
    job: Job, images: Images, appli: FlashPart | None, target: Target, *, only_models: bool
) -> list[list[Step]]:
    """Return the steps for images with two slots, in groups that follow each other.

    Images with two slots go to their free slots, after all other images: first the Appli, then the
    models, which the virtual board then starts. A signed Appli comes last: with it, the board changes
    from one release to the next.

    Raises:
        N6Error: N6-OPTION-006 with dry=1.
    """
    updates_models = _updates_models(job)
    if job.choices.dry:
        why = "slots=2" if updates_models else "trial=on"
        what = f"with {why}, the programmed sectors depend on the board, which dry=1 does not read"
        raise N6Error("N6-OPTION-006", what, hint=f"remove dry=1, or {why}")
    groups: list[list[Step]] = []
    if not only_models:
        others = [part for part in (images.programs if updates_models else images.parts) if part != appli]
        groups.append(_manifest_and_flash(job, images, target, "programs", others))
    elif not updates_models:
        groups.append(_manifest_and_flash(job, images, target, "models", images.weights))
    update = [_appli_update(job, images, appli, target)] if appli else []
    models = [[_models_update(job, images, target)]] if updates_models else []
    return [*groups, *update, *models] if job.trust is None else [*groups, *models, *update]


def _manifest_and_flash(job: Job, images: Images, target: Target, name: str, parts: Sequence[FlashPart]) -> list[Step]:
    """Return the step that lists some of the images, and the step that programs them."""
    manifest = flash_manifest_step(f"{job.folder}/{name}_manifest.json", parts, images.plan.name, job.board)
    files = [part.file for part in parts]
    return [manifest, flash_board_step(_receipt(job, target, name), manifest.name, files, job.board, target)]


def _appli_update(job: Job, images: Images, appli: FlashPart, target: Target) -> list[Step]:
    """Return the steps that program the Appli, into its free slot if it has two."""
    if _appli_with_two_slots(job, images) is None:
        return _manifest_and_flash(job, images, target, "appli", [appli])
    return [flash_appli_step(_receipt(job, target, "appli"), appli.file, job.board, target)]


def _models_update(job: Job, images: Images, target: Target) -> Step:
    """Return the step that programs the models into their free slots."""
    board = job.board
    slots = (board.slots.appli, board.trial.appli if board.trial and _appli_with_two_slots(job, images) else None)
    return flash_models_step(
        _receipt(job, target, "models"),
        images.plan.name,
        [*images.elves.values()],
        [part.file for part in images.weights],
        board,
        target,
        applis=tuple(slot for slot in slots if slot) if job.trust else (),
    )


def _one_after_the_other(groups: Sequence[Sequence[Step]], first: Sequence[str]) -> list[Step]:
    """Return the steps of all groups, each of which waits for those before it.

    Args:
        groups: Groups of steps; the last step of a group programs the board.
        first: Files that have to exist before any programming.
    """
    steps: list[Step] = []
    for *manifests, flash in groups:
        after = (*first, *outputs_of(steps))
        steps += [*manifests, replace(flash, after=after)]
    return steps


def _recovery_steps(
    job: Job, images: Images, before: BeforeFlash, target: Target, receipts: Sequence[str]
) -> list[Step]:
    """Return the steps that send all but the FSBL over the console."""
    parts = [part for part in images.parts if part.slot != "fsbl"]
    trial = trial_of(job)
    manifest = flash_manifest_step(f"{job.folder}/recovery_manifest.json", parts, images.plan.name, job.board, trial)
    recovery = recover_board_step(
        _receipt(job, target, "recovered"),
        manifest.name,
        images.plan.name,
        [part.file for part in parts],
        job.board,
        RecoverBoardParameters(**vars(target), trial=trial, port=job.choices.console),
        (*before.verdict.outputs, *before.figures, *receipts),
    )
    return [manifest, recovery]


def _appli_with_two_slots(job: Job, images: Images) -> FlashPart | None:
    """Return the Appli if it has two slots, or None."""
    trial = trial_of(job)
    return _appli_of(images) if trial and trial.appli else None


def _appli_of(images: Images) -> FlashPart | None:
    """Return the image of the Appli, or None if the flash has none."""
    return next((part for part in images.programs if part.slot == "appli"), None)


def _verify_step(job: Job, images: Images, before: BeforeFlash, receipts: Sequence[str], target: Target) -> Step:
    return verify_board_step(
        _receipt(job, target, "verified"),
        before.manifest.name,
        images.plan.name,
        images.files,
        job.board,
        target,
        updated=_updates_models(job),
        appli=_appli_with_two_slots(job, images) is not None,
        after=receipts,
    )


def _field_report(
    job: Job, networks: Sequence[NetworkSteps], images: Images, receipts: Sequence[str], target: Target
) -> list[Step]:
    """Return the steps of the field report, the report last."""
    compared = [(each, expected_outputs(job.folder, each, "", "")) for each in networks]
    report = field_report_step(
        f"{job.choices.build}/field/{job.board.name}-{job.folder.rpartition('/')[2]}.md",
        record_of(job.choices.build, job.board.name),
        [name for name in receipts if "/flash/" in name],
        compared,
        job.runtime.identity,
        job.choices.profile,
        images.elves,
        job.board,
        target,
        job.choices.console,
    )
    return [*(expected.step for _, expected in compared if expected.step), report]


def _ladder(
    job: Job, networks: Sequence[NetworkSteps], images: Images, receipts: Sequence[str], target: Target
) -> Step:
    """Return the step of target ladder; each rung comes with its expected outputs."""
    return ladder_step(
        record_of(job.choices.build, job.board.name),
        [name for name in receipts if "/flash/" in name],
        [(each, expected_outputs(job.folder, each, "", "")) for each in networks],
        images.elves,
        job.board,
        target,
        job.choices.console,
    )


def _run_steps(
    job: Job, networks: Sequence[NetworkSteps], images: Images, receipts: Sequence[str], target: Target
) -> list[Step]:
    """Return the steps of a run, the run last.

    Steps of the reference interpreter come before it.
    """
    choices = job.choices
    receipts = [name for name in receipts if "/flash/" in name]
    if "no-run" in choices.modes:
        fsbl = images.elves.get("FSBL", "")
        return [start_board_step(f"{job.folder}/started.json", receipts, fsbl, job.board, target)]
    if choices.gdb and target.probe != VIRTUAL:
        return [debug_board_step(f"{job.folder}/debugged.json", receipts, images.elves, job.board, target)]
    sound = Sound(choices.audio, choices.audio_out)
    if runs_until(choices):
        watched = run_until_step(
            f"{job.folder}/run.json",
            receipts,
            images.elves,
            job.board,
            target,
            Until("frames", str(choices.frames)) if choices.frames else choices.until or BY_DEFAULT,
            gdb=choices.gdb,
            trace=choices.trace,
            sound=sound,
            vision=Vision(choices.camera, choices.display, choices.unplug, choices.camera_format == "raw"),
        )
        return [watched]
    if choices.epochs:
        return [run_epochs_step(f"{job.folder}/epochs.json", receipts, networks, images.elves, job.board, target)]
    given = given_inputs(job.folder, networks[0], choices)
    session = with_fields_of(Session, given, choices, inputs=given.file, sound=sound, silent=bool(choices.pair))
    compared = [(each, expected_outputs(job.folder, each, given.file, choices.expected)) for each in networks]
    run = run_board_step(f"{job.folder}/run.json", receipts, compared, images.elves, job.board, target, session)
    return [*given.steps, *(expected.step for _, expected in compared if expected.step), run]
