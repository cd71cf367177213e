"""Builds from nothing, without SCons, as the reference for other builds.

    python clean_build.py MEMO [OPTION=VALUE ...] GOAL ...

It uses the library of the current folder. Only compilers are not run each time: their output for
equal files with an equal command comes from the folder MEMO. The equal files are all C files and
headers in all folders that the command names, not only those that it includes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from n6build.base.environment import option_values, read_environment
from n6build.board.flash.receipt import VIRTUAL
from n6build.describe.choices import choices_of
from n6build.describe.project_settings import resolve
from n6build.engine import perform
from n6build.engine.command import command_of, run_command
from n6build.engine.local import execute, local_site
from n6build.engine.step import Step
from n6build.steps.code_behind import with_code
from n6build.steps.pipeline import application_plan


def digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def readable(step: Step) -> Iterator[str]:
    """Yield all files that the command could read, except those of the toolchain."""
    yield from step.sources
    for folder in (*step.include_folders, *(str(Path(source).parent) for source in step.sources if step.depfile)):
        for place, _, names in os.walk(folder):
            yield from (f"{place}/{name}" for name in names if name.endswith((".h", ".c")))


def key_of(step: Step) -> str:
    command = [part.replace(str(Path.cwd()), "<top>") for part in command_of(step)]
    tools = [tool.digest for tool in step.tools]
    files = [(path, digest(path)) for path in sorted(set(readable(step)))]
    return hashlib.sha256(repr((command, tools, files)).encode()).hexdigest()


def remembering(memo: Path) -> None:
    """Let this process take compilers' outputs from the folder `memo`."""

    def run(step: Step, environment: Mapping[str, str]) -> None:
        files = [path for path in (*step.outputs, step.depfile) if path]
        known = memo / key_of(step)
        if known.is_dir():
            for number, path in enumerate(files):
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(known / str(number), path)
            return
        run_command(step, environment)
        with tempfile.TemporaryDirectory(dir=memo) as name:
            made = Path(name) / "made"
            made.mkdir()
            for number, path in enumerate(files):
                shutil.copyfile(path, made / str(number))
            if not known.exists():
                made.rename(known)

    setattr(perform, "run_command", run)  # noqa: B010 - perform only imports this name.


def main(memo: str, *arguments: str) -> None:
    remembering(Path(memo))
    options = dict(each.split("=", 1) for each in arguments if "=" in each)
    goals = [each for each in arguments if "=" not in each]
    top = Path.cwd()
    choices = choices_of(resolve(options, option_values(), top), top)
    environment = read_environment()
    site = local_site(Path(choices.build), dict(environment.commands))
    plan = with_code(application_plan(choices, environment, goals, VIRTUAL, Path(memo)), site.code)
    wanted = [file for goal in goals for file in plan.goals.get(goal, (goal,))]
    execute(plan, wanted, site, jobs=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
