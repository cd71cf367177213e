"""Steps for the files beside each flash manifest that record its origin.

These are provenance, bill of materials and notices.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.paths import project_path
from n6build.compile.ll_aton import version_text
from n6build.describe.given_options import options_in_flash
from n6build.describe.hardware.field_registers import FIELD
from n6build.engine.plan import Plan
from n6build.engine.step import Step, output_with, outputs_of
from n6build.steps.board_files import board_files
from n6build.steps.job import Job
from n6build.steps.origin_files import bill_of_materials_step, headers_read_steps, notices_step, provenance_step
from n6build.steps.program_images import Images
from n6build.tell.provenance import portable_name

# Number of steps at the end whose outputs are goals.
FILES = 3


def origin_steps(job: Job, images: Images, manifest: Step, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of the origin; the outputs of the last FILES steps are goals.

    Args:
        job: Common inputs of the steps.
        images: Images of the application.
        manifest: Step of the flash manifest.
        steps: All steps that the manifest may depend on.
    """
    behind = Plan(tuple(dict.fromkeys(steps))).behind(manifest.outputs)
    folder, application = job.folder, job.folder.rpartition("/")[2]
    headers = headers_read_steps(f"{folder}/origin", behind)
    runtime = job.runtime.identity
    facts: dict[str, str | list[str]] = {
        "runtime": f"{runtime.name} {version_text(runtime.version)}",
        "flags of the surrounding project": [portable_name(flag) for flag in job.flags],
        "program": job.choices.program.name if job.choices.program else "",
    }
    provenance = provenance_step(
        f"{folder}/provenance.json",
        manifest,
        tuple(dict.fromkeys(images.files)),
        outputs_of(headers),
        behind,
        _descriptions(job),
        {name: _portable(value) for name, value in options_in_flash(job.choices).items()},
        {name: value for name, value in facts.items() if value},
    )
    maps = [output_with(step, ".map") for step in behind if step.stage == "link"]
    maps += [each.linker_map for each in images.foreign if each.linker_map]
    bill = bill_of_materials_step(
        f"{folder}/sbom.cdx.json", application, provenance.name, maps, runtime, job.toolchain.libraries
    )
    notices = notices_step(
        f"{folder}/notices.txt",
        application,
        behind,
        maps,
        job.runtime.foreign_folders,
        [each.file for each in images.foreign],
        job.environment,
    )
    return (*headers, provenance, bill, notices)


def _descriptions(job: Job) -> tuple[str, ...]:
    return (*board_files(job.board), *([project_path(FIELD)] if job.choices.field else []))


def _portable(value: str) -> str:
    """Return the value of an option, with an absolute path made portable."""
    return portable_name(value) if Path(value).is_absolute() else value
