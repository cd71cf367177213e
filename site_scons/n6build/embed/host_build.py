"""What a fragment for another build system is made from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.plan.plan import Plan
from n6build.plan.step import Step

# Of outputs, which hosts name in their own rules, in whatever way they quote.
_PLAIN = re.compile(r"[\w./+@-]+", re.ASCII)
# What ends a line or a list, or cannot be escaped, in one of the languages.
_NEVER = re.compile(r"[\x00-\x1f\x7f;|*?\[\]~\\`\"'<>]")


@dataclass(frozen=True)
class Planning:
    """What a plan follows from: it has to be made again when that changes. files: by their content. absent: paths that were
    looked for. listings: (folder, pattern) -> the names. variables: of the environment, with their values."""

    files: tuple[str, ...]
    absent: tuple[str, ...] = ()
    listings: Mapping[tuple[str, str], tuple[str, ...]] | None = None
    variables: Mapping[str, str] | None = None


@dataclass(frozen=True)
class HostBuild:
    """plan: with goal 'library'. folder: of all build products, relative to where the host's commands run. given: the options,
    as the host's build writes them. stamp_of: by the name of a step, a file that changes when it has to be done again for another
    reason than its files. include, link: what the host compiles and links with. program, linker_map: the host's, as options appli
    and linker_map name them, or empty."""

    plan: Plan
    planning: Planning
    folder: str
    given: str
    stamp_of: Mapping[str, str]
    include: str
    link: tuple[str, ...]
    program: str = ""
    linker_map: str = ""

    @property
    def plan_file(self) -> str:
        """Where the plan is, for the commands of steps."""
        return f"{self.folder}/plan.json"


def check_name(path: str, kind: str, refused: re.Pattern[str] = _NEVER) -> str:
    """The path itself. kind: of tool. Raises N6-EMBED-001 for what would be read as something else than a name."""
    bad = refused.search(path)
    if bad:
        what = f"{path!a} cannot be named in a {kind}: it contains {bad[0]!a}"
        raise N6Error("N6-EMBED-001", what, hint="rename the file or its folder")
    return path


def check_folder(folder: str) -> str:
    """The folder itself. Raises N6-EMBED-002 for a build folder that hosts could not name in their rules, or that holds more
    than build products."""
    if not _PLAIN.fullmatch(folder) or folder.startswith("-"):
        what = f"the build folder {folder!a} is named in rules, and may contain letters, digits and ./+@_- only"
        raise N6Error("N6-EMBED-002", what, hint="N6_BUILD=build/n6build")
    if os.path.commonpath([os.path.abspath(folder), os.getcwd()]) == os.path.abspath(folder):
        what = f"the build folder {folder!a} contains the project"
        raise N6Error("N6-EMBED-002", what, hint="N6_BUILD=build/n6build, which is n6build's alone")
    return folder


def inputs_of(step: Step, build: HostBuild) -> tuple[str, ...]:
    """Files whose change makes the step necessary."""
    return tuple(dict.fromkeys((*step.sources, *step.templates, build.stamp_of[step.name])))


def for_each_step(build: HostBuild, line: Callable[[Step], str]) -> str:
    """The steps that another build system does itself: those on a board are left to n6build."""
    return "".join(line(step) for step in build.plan.steps if not step.always and not step.state)


def existing(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Those that are there."""
    return tuple(path for path in paths if Path(path).exists())
