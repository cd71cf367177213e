"""Carries out the command of a step: an argument list without a shell, in the project's folder, with nothing on stdin. What it
prints appears when it has ended, as text: compilers quote lines of sources, which may come from anywhere."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from n6build.base.console import show
from n6build.base.errors import N6Error
from n6build.base.paths import ROOT
from n6build.plan.step import Step

# Linux' name for the working directory of whoever asks.
_ANYWHERE = "/proc/self/cwd"


def command_of(step: Step) -> list[str]:
    """The step's command, for compilations with options that keep the host's paths out of debug information: equal sources give
    equal objects on every machine. Where it runs is named in a way that is the same everywhere, so that compiler caches find
    equal commands, too. Only a checkout of n6build that is not in the project is named by its path, as its files are."""
    if not step.depfile:
        return list(step.command)
    named = any(str(ROOT) in part for part in step.command)
    places = (_here(), *((str(ROOT),) if named else ()))
    return [*step.command, *(f"-ffile-prefix-map={place}=." for place in dict.fromkeys(places))]


def environment_of(step: Step) -> dict[str, str]:
    """Variables of the step's command besides the caller's. GCC takes for the working directory what PWD says, if that is it.
    ccache and sccache tell compilers apart by the driver alone: here by all parts of one."""
    if not step.depfile:
        return {}
    compiler = ",".join(tool.digest for tool in step.tools)
    return {"PWD": _here(), "CCACHE_COMPILERCHECK": f"string:{compiler}", "SCCACHE_C_CUSTOM_CACHE_BUSTER": compiler}


@cache
def _here() -> str:
    return _ANYWHERE if os.path.isdir(_ANYWHERE) else os.getcwd()


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
            env={**environment, **environment_of(step)},
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
