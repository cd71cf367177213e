"""Carries out the command of a step: an argument list without a shell, in the project's folder, with nothing on stdin. What it
prints appears when it has ended, as text: compilers quote lines of sources, which may come from anywhere."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from n6build.base.console import show
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE, ROOT, project_path
from n6build.plan.step import Step

# What compilations have among their sources.
SPECS = FIRMWARE / "portable.specs"


def command_of(step: Step) -> list[str]:
    """The step's command, for compilations with options that keep the host's paths out of what they make, so that equal sources
    give equal objects on every machine. The options themselves are the same everywhere: compiler caches, which compare
    commands, find those of other checkouts."""
    specs = project_path(SPECS)
    # Without the other option the name of the folder would be in the preprocessed source, which some caches compare.
    return [*step.command, f"-specs={specs}", "-fno-working-directory"] if specs in step.sources else list(step.command)


def environment_of(step: Step, here: str, root: str) -> dict[str, str]:
    """Variables of the step's command besides the caller's: the paths that `SPECS` asks for. ccache and sccache tell compilers
    apart by the driver alone, here by all parts of one. here, root: folders of the project and of n6build."""
    if project_path(SPECS) not in step.sources:
        return {}
    compiler = ",".join(tool.digest for tool in step.tools)
    places = {"PWD": here, "N6BUILD_HERE": here, "N6BUILD_ROOT": root}
    # ccache would compare the folder, which is in nothing that comes of it.
    ccache = {"CCACHE_COMPILERCHECK": f"string:{compiler}", "CCACHE_NOHASHDIR": "1"}
    return {**places, **ccache, "SCCACHE_C_CUSTOM_CACHE_BUSTER": compiler}


def shown_command(step: Step) -> str:
    """The command as a line for a shell."""
    return shlex.join(step.command)


def run_command(step: Step, environment: Mapping[str, str]) -> None:
    """Its output goes to the console. Raises N6-STEP-010 if it fails, N6-STEP-011 if it cannot be started."""
    for output in step.outputs:
        Path(output).parent.mkdir(parents=True, exist_ok=True)
    command = command_of(step)
    try:
        result = subprocess.run(
            command,
            env={**environment, **environment_of(step, os.getcwd(), str(ROOT))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        status = result.returncode
    except OSError as error:
        raise N6Error("N6-STEP-011", f"cannot be run: {error.strerror}", where=command[0]) from error
    show(result.stdout.decode("utf-8", "replace"))
    if status:
        how = f"ended with status {status}" if status > 0 else f"was stopped by signal {-status}"
        where = step.sources[0] if step.stage == "compile" and step.sources else step.name
        raise N6Error("N6-STEP-010", f"{Path(command[0]).name} {how}", where=where, hint="its output is above")
