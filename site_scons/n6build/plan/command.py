"""Carries out the command of a step: an argument list without a shell, in the project's folder, with nothing on stdin. What it
prints appears when it has ended, as text: compilers quote lines of sources, which may come from anywhere."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from n6build.base.console import show
from n6build.base.errors import N6Error
from n6build.base.paths import ROOT
from n6build.plan.step import Step


def command_of(step: Step) -> list[str]:
    """The step's command, for compilations with options that depend on where it runs: they keep the host's paths out of debug
    information, so that equal sources give equal objects on every machine."""
    if not step.depfile:
        return list(step.command)
    places = dict.fromkeys((str(ROOT), str(Path.cwd())))
    return [*step.command, *(f"-ffile-prefix-map={place}=." for place in places)]


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
            env=dict(environment),
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
