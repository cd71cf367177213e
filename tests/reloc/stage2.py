"""Stage 2 for a folder of stage 1, as tools/npu_driver.py runs it."""

from __future__ import annotations

from pathlib import Path

from n6build.base.environment import read_environment
from n6build.base.paths import project_path
from n6build.compile.ll_aton import Version
from n6build.compile.runtimes import own_runtime
from n6build.compile.toolchain import Toolchain
from n6build.describe.compiled_folder import find_network
from n6build.engine.local import execute, local_site
from n6build.engine.plan import Plan
from n6build.steps.reloc_networks import ModelOptions, ModelSteps, stage2_plan


def plan_of(
    network: Path,
    folder: Path,
    toolchain: Toolchain,
    options: ModelOptions | None = None,
    work: Path | None = None,
    version: Version | None = None,
) -> tuple[Plan, ModelSteps]:
    """Plan stage 2.

    Args:
        folder: Receives the model.
        work: Receives the intermediate files; `folder`/work if it is None.
        version: The firmware's ll_aton.
    """
    found = find_network(network, "network")
    options = options or ModelOptions()
    place = project_path(work or folder / "work")
    return stage2_plan(found, place, project_path(folder), own_runtime(version), toolchain, options)


def carried_out(plan: Plan, files: tuple[str, ...], work: Path) -> None:
    execute(plan, files, local_site(work, dict(read_environment().commands)))


def made_with(
    network: Path,
    folder: Path,
    toolchain: Toolchain,
    options: ModelOptions | None = None,
    work: Path | None = None,
    version: Version | None = None,
) -> ModelSteps:
    plan, model = plan_of(network, folder, toolchain, options, work, version)
    carried_out(plan, model.files, work or folder / "work")
    return model
