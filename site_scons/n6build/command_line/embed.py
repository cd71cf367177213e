"""Writes a plan for the build system of somebody else: plan.json, a stamp for each step, and the rules."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from n6build.base import uses
from n6build.base.environment import PROJECT, option_values, project_folder, read_environment
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.base.paths import project_path
from n6build.command_line.arguments import CommandParser
from n6build.embed.cmake import cmake_rules
from n6build.embed.host_build import HostBuild, Planning, check_folder
from n6build.embed.host_line import in_host
from n6build.embed.makefile import included, makefile
from n6build.embed.places import INCLUDE_FOLDER, MAKEFILE
from n6build.options.choices import Choices, choices_of
from n6build.options.settings import resolve, settings_files
from n6build.options.targets import COMPILE_COMMANDS
from n6build.plan.closure import Code
from n6build.plan.compile_commands import compile_commands
from n6build.plan.known_code import keep_known_code, known_code
from n6build.plan.ledger import FOLDER, Entry, read_ledger
from n6build.plan.plan import plan_json
from n6build.plan.signature import COMMANDS, FUNCTIONS, signature
from n6build.plan.step import Step
from n6build.steps.application import application_plan
from n6build.steps.code_behind import with_code
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
    given = dict(word.partition("=")[::2] for word in asked.options)
    try:
        _embed(asked, given)
    except N6Error as error:
        raise in_host(error, asked.makefiles.split(), given) from error


def _embed(asked: Namespace, given: Mapping[str, str]) -> None:
    folder = check_folder(asked.build)
    with uses.recorded() as used:
        choices = _choices(given, folder)
        environment = read_environment()
        plan = application_plan(choices, environment, _GOALS, notes=Path(folder) / FOLDER)
        link = linked_with(choices, environment)
    code = known_code(Path(folder))
    plan = with_code(replace(plan, goals={name: plan.goals[name] for name in _GOALS}), code)
    build = HostBuild(
        plan=plan,
        planning=_planning(used, code, folder, plan.steps),
        folder=folder,
        given=asked.given,
        stamp_of={step.name: _stamp(folder, step.name) for step in plan.steps},
        include=str(INCLUDE_FOLDER),
        link=link,
        program=given.get("appli", ""),
        linker_map=given.get("linker_map", ""),
    )
    rules = makefile(build) if asked.kind == "make" else cmake_rules(build)
    ledger = read_ledger(Path(folder))
    # make compares times: of a library that was made for other options before, the program would be the younger one.
    libraries = plan.goals["library"]
    linked_anew = _write(Path(folder) / FOLDER / "link", "\n".join((*libraries, *link)))
    for step in plan.steps:
        again = _header_has_appeared(ledger.entries.get(step.name)) or (linked_anew and step.name == libraries[0])
        _write(Path(build.stamp_of[step.name]), signature(step, code, str(Path.cwd())) + "\n", always=again)
    keep_known_code(code, Path(folder))
    _write(Path(build.plan_file), to_json(plan_json(build.plan)))
    _write(Path(folder) / COMPILE_COMMANDS, to_json(compile_commands(plan, Path.cwd())))
    if asked.kind == "make":
        _write(Path(folder) / "n6build.mk", included(str(MAKEFILE)))
    else:
        _write(Path(folder) / FOLDER / "command", _command(asked.command))
    write_atomically(Path(folder) / ("targets.mk" if asked.kind == "make" else "targets.cmake"), rules)


def _choices(given: Mapping[str, str], folder: str) -> Choices:
    project = project_folder()
    for path in settings_files(project):
        uses.note("content", path)
    settings = resolve(given, option_values(), project)
    return replace(choices_of(settings, project.absolute()), build=folder)


def _planning(used: uses.Uses, code: Code, folder: str, steps: Iterable[Step]) -> Planning:
    build = os.path.abspath(folder) + os.sep
    found = [use for use in used.lines if not use.path.startswith(build)]
    read = [use.path for use in found if use.kind != "listing"]
    behind = [
        *code.files_of(_PLANNER),
        *code.files_of(COMMANDS),
        *code.files_of(FUNCTIONS),
        *code.records_of(_PLANNER),
        os.path.realpath(sys.executable),
    ]
    listed = {(use.path, use.pattern) for use in found if use.kind == "listing"}
    # Where a header may appear, which a compiler would take instead of the one that it has taken.
    listed |= {(place, "*.h") for place in _places_of_headers(steps) if not f"{place}/".startswith(build)}
    values = option_values()
    variables = {
        name: values.get(name, "")
        for name in sorted({*_VARIABLES, *(each for each in values if each.startswith("N6BUILD_"))})
    }
    return Planning(
        files=tuple(dict.fromkeys(project_path(path) for path in [*read, *behind] if os.path.isfile(path))),
        absent=tuple(dict.fromkeys(project_path(path) for path in read if not os.path.exists(path))),
        listings={
            (project_path(place), pattern): tuple(uses.names_in(place, pattern)) for place, pattern in sorted(listed)
        },
        variables=variables,
    )


def _stamp(folder: str, name: str) -> str:
    # The same in each folder of configurations, which share their rules.
    name = name.removeprefix(f"{folder}/")
    return f"{folder}/{FOLDER}/stamps/{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _places_of_headers(steps: Iterable[Step]) -> Iterable[str]:
    for step in steps:
        if step.depfile:
            yield from map(os.path.abspath, (*step.include_folders, *map(os.path.dirname, step.sources)))


def _header_has_appeared(entry: Entry | None) -> bool:
    return entry is not None and any(not digest and os.path.exists(path) for path, digest in entry.inputs.items())


def _command(executable: str) -> str:
    """A shell script that calls n6build as it was called here: in a later shell, PATH may have another compiler."""
    values = option_values()
    kept = {name: values[name] for name in sorted(values) if name.startswith("N6BUILD_") and name != "N6BUILD_PROBE"}
    kept |= {name: values[name] for name in (*_VARIABLES, PROJECT) if name in values}
    exported = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in kept.items())
    return f'#!/bin/sh\n{exported}exec {shlex.quote(executable)} "$@"\n'


def _write(path: Path, text: str, *, always: bool = False) -> bool:
    """Whether it was written: an older time stamp says that nothing has changed. always: even if the text is the same."""
    try:
        if not always and path.read_text(encoding="utf-8") == text:
            return False
    except OSError:
        pass
    write_atomically(path, text)
    return True


def _parser() -> CommandParser:
    parser = CommandParser(prog="n6build embed", description=f"{HELP}.", allow_abbrev=False)
    parser.add_argument("kind", choices=("make", "cmake"))
    parser.add_argument("options", nargs="*", metavar="option=value")
    parser.add_argument("--build", metavar="FOLDER", required=True, help="folder of all that n6build makes, its alone")
    parser.add_argument("--given", default="", help="the options as the caller writes them: others mean another plan")
    parser.add_argument("--makefiles", default="", help="those that make has read: errors name the line of the host")
    parser.add_argument("--command", metavar="FILE", default="n6build", help="how CMake calls n6build")
    return parser
