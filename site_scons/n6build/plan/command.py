"""Carries out the command of a step: an argument list without a shell, in the project's folder, and nothing to answer."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.paths import ROOT
from n6build.plan.step import Step


def command_of(step: Step) -> list[str]:
    """With what depends on where it runs, and on nothing else: a host's path in debug information would make equal sources differ
    between machines."""
    if not step.depfile:
        return list(step.command)
    places = dict.fromkeys((str(ROOT), str(Path.cwd())))
    return [*step.command, *(f"-ffile-prefix-map={place}=." for place in places)]


def shown_command(step: Step) -> str:
    return shlex.join(step.command)


def run_command(step: Step, environment: Mapping[str, str]) -> None:
    """What it says goes to the console. Raises N6-STEP-010 where it fails, N6-STEP-011 where it does not start."""
    for output in step.outputs:
        Path(output).parent.mkdir(parents=True, exist_ok=True)
    command = command_of(step)
    try:
        result = subprocess.run(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=None, stderr=subprocess.STDOUT, check=False
        )
        status = result.returncode
    except OSError as error:
        raise N6Error("N6-STEP-011", f"cannot be run: {error.strerror}", where=command[0]) from error
    if status:
        how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
        where = step.sources[0] if step.stage == "compile" and step.sources else step.name
        raise N6Error("N6-STEP-010", f"{Path(command[0]).name} {how}", where=where, hint="its own words are above")
