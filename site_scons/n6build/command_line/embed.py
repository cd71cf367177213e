"""Writes a plan for the build system of somebody else: plan.json, a stamp for each step, and the rules."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from n6build.base import uses
from n6build.base.environment import option_values, read_environment
from n6build.base.files import to_json, write_atomically
from n6build.base.paths import project_path
from n6build.command_line.arguments import CommandParser
from n6build.embed.cmake import cmake_rules
from n6build.embed.host_build import HostBuild, Planning, check_folder
from n6build.embed.makefile import makefile
from n6build.embed.places import INCLUDE_FOLDER, MAKEFILE
from n6build.options.choices import Choices, choices_of
from n6build.options.settings import resolve, settings_files
from n6build.plan.closure import Code, library_code
from n6build.plan.ledger import FOLDER
from n6build.plan.plan import plan_json
from n6build.plan.signature import COMMANDS, signature
from n6build.steps.application import application_plan
from n6build.steps.host_library import linked_with

HELP = "writes the steps as rules for GNU make or CMake, for projects that include them"
# With everything that planning and writing the rules imports.
_PLANNER = "n6build.command_line.embed"
_GOALS = ("build", "library", "hex")
# What planning takes from the environment, besides the variables of options.
_VARIABLES = ("PATH", "STEDGEAI_CORE_DIR")


def embed(words: Sequence[str]) -> None:
    """words: those behind the command. Raises N6-EMBED-001 and -002, and whatever planning raises."""
    asked = _parser().parse_intermixed_args(words)
    folder = check_folder(asked.build)
    given = dict(word.partition("=")[::2] for word in asked.options)
    with uses.recorded() as used:
        choices = _choices(given, folder, asked.project)
        environment = read_environment()
        plan = application_plan(choices, environment, _GOALS, notes=Path(folder) / FOLDER)
        link = linked_with(choices, environment)
    code = library_code()
    build = HostBuild(
        plan=replace(plan, goals={name: plan.goals[name] for name in _GOALS}),
        planning=_planning(used, code, folder),
        folder=folder,
        given=asked.given,
        stamp_of={step.name: _stamp(folder, step.name) for step in plan.steps},
        include=str(INCLUDE_FOLDER),
        link=link,
        program=given.get("appli", ""),
        linker_map=given.get("linker_map", ""),
    )
    rules = makefile(build) if asked.kind == "make" else cmake_rules(build)
    for step in plan.steps:
        _write_if_changed(Path(build.stamp_of[step.name]), signature(step, code, str(Path.cwd())) + "\n")
    _write_if_changed(Path(build.plan_file), to_json(plan_json(build.plan)))
    if asked.kind == "make":
        # Without asking n6build where its makefile is.
        _write_if_changed(Path(folder) / "n6build.mk", f"include {MAKEFILE}\n")
    write_atomically(Path(folder) / ("targets.mk" if asked.kind == "make" else "targets.cmake"), rules)


def _choices(given: Mapping[str, str], folder: str, project: Path) -> Choices:
    for path in settings_files(project):
        uses.note("content", path)
    settings = resolve(given, option_values(), project)
    return replace(choices_of(settings, project.absolute()), build=folder)


def _planning(used: uses.Uses, code: Code, folder: str) -> Planning:
    build = os.path.abspath(folder) + os.sep
    found = [use for use in used.lines if not use.path.startswith(build)]
    read = [use.path for use in found if use.kind != "listing"]
    behind = [
        *code.files_of(_PLANNER),
        *code.files_of(COMMANDS),
        *code.records_of(_PLANNER),
        os.path.realpath(sys.executable),
    ]
    values = option_values()
    variables = {
        name: values.get(name, "")
        for name in sorted({*_VARIABLES, *(each for each in values if each.startswith("N6BUILD_"))})
    }
    return Planning(
        files=tuple(dict.fromkeys(project_path(path) for path in [*read, *behind] if os.path.isfile(path))),
        absent=tuple(dict.fromkeys(path for path in read if not os.path.exists(path))),
        listings={
            (use.path, use.pattern): tuple(uses.names_in(use.path, use.pattern))
            for use in found
            if use.kind == "listing"
        },
        variables=variables,
    )


def _stamp(folder: str, name: str) -> str:
    return f"{folder}/{FOLDER}/stamps/{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _write_if_changed(path: Path, text: str) -> None:
    """An older time stamp says that nothing has changed."""
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except OSError:
        pass
    write_atomically(path, text)


def _parser() -> CommandParser:
    parser = CommandParser(prog="n6build embed", description=f"{HELP}.", allow_abbrev=False)
    parser.add_argument("kind", choices=("make", "cmake"))
    parser.add_argument("options", nargs="*", metavar="option=value")
    parser.add_argument("--build", metavar="FOLDER", required=True, help="folder of all that n6build makes, its alone")
    parser.add_argument("--given", default="", help="the options as the caller writes them: others mean another plan")
    parser.add_argument("--project", metavar="FOLDER", type=Path, default=Path(), help="where relative paths start")
    return parser
