"""Commands that show a list or a plan, or do the steps behind targets.

Only steps that are not up to date are done.

The line of a host's build script that caused an error. The host's build system does not pass this
line on.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from n6build.base.bounded import parse_json
from n6build.base.console import line, only_errors, say, show, without_colour
from n6build.base.environment import option_values, project_folder, read_environment
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.base.paths import project_path
from n6build.base.regular_file import content_of
from n6build.base.uses import distrust_earlier_builds
from n6build.cli.arguments import Asked
from n6build.cli.host_files import check_folder, write_compilations, write_makefile
from n6build.cli.json_output import json_of, print_json
from n6build.cli.lists import desk_of, list_data, print_list
from n6build.describe.choices import Choices, choices_of
from n6build.describe.invocation import Invocation
from n6build.describe.option import chosen
from n6build.describe.project_settings import check_effect, check_files, resolve
from n6build.describe.targets import COMPILE_COMMANDS, LISTS, check_targets
from n6build.engine.ask import COMMAND
from n6build.engine.compile_commands import write_compile_commands
from n6build.engine.inspect import are_up_to_date, files_of, show_plan, write_plan
from n6build.engine.keep import Looked, keep, look
from n6build.engine.local import execute, local_site
from n6build.engine.lock import locked_build_folder
from n6build.engine.perform import Site
from n6build.engine.plan import Plan
from n6build.engine.progress import announce_lines, forget_error, note_error, say_times
from n6build.engine.remote.shared import Sharing, shared_steps
from n6build.steps.planning import planned

_LARGEST = 1 << 20
_CALL = re.compile(r"n6build\.mk|n6build +--makefile|n6build_add_network")


def scripts_of(host: str) -> list[str]:
    """Return the files that a host names in one text, separated by spaces.

    If the text is the name of one file, it is this file.
    """
    return [host] if os.path.isfile(host) else host.split()


def in_host(error: N6Error, scripts: Iterable[str], given: Mapping[str, str]) -> N6Error:
    """Return the error with the host's line in front, if that can be found.

    Args:
        error: Error about an option of the host.
        scripts: Build scripts of the host.
        given: Value of each option by its name.
    """
    place = _place(error, scripts, given)
    if not place:
        return error
    where = f"{place}: {error.where}" if error.where else place
    return N6Error(error.id, error.what, where=where, hint=error.hint)


def _place(error: N6Error, scripts: Iterable[str], given: Mapping[str, str]) -> str:
    said = f"{error.where or ''} {error.what}"
    blamed = [name for name, value in given.items() if f"'{name}" in said or (value and value in said)]
    found = ""
    for file in scripts:
        for number, text in enumerate(_lines(Path(file)), 1):
            code = text.partition("#")[0]
            if any(_sets(name, given[name], code) for name in blamed):
                return f"{file}:{number}"
            if _CALL.search(code):
                found = found or f"{file}:{number}"
    return found


def _sets(name: str, value: str, code: str) -> bool:
    assigned = re.search(rf"\bN6_{re.escape(name.upper())}\b *[:?+!]*=", code)
    return assigned is not None or f"{name}=" in code or (bool(value) and "N6_OPTIONS" in code and value in code)


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file() or os.path.getsize(path) > _LARGEST:
            return []
        return content_of(path).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def carry_out(asked: Asked) -> None:
    """Carry out a command line.

    Raises:
        N6Error: Any error of the command. It is also in last_error.json of the build folder if
            something was to be built, and
            printed with --json.
    """
    try:
        with only_errors(asked.quiet or asked.json):
            _carry_out(asked)
    except N6Error as error:
        if asked.json:
            print_json({"error": error.as_dict()})
        raise


def _carry_out(asked: Asked) -> None:
    looked = look([COMMAND, *sys.argv[1:]], time.time_ns())
    with _host_named(asked):
        if asked.host is not None:
            check_folder(asked.build)
        folder = _folder()
        settings = resolve(asked.given, option_values(), folder)
        invocation = chosen(Invocation, settings, folder)
        choices = replace(choices_of(settings, folder), build=project_path(asked.build))
    if invocation.no_color:
        without_colour()
    if invocation.paranoid:
        distrust_earlier_builds()
    if asked.command in LISTS:
        check_effect(settings, [asked.command])
        desk = desk_of(settings, choices.cmsis)
        if asked.json:
            print_json(list_data(asked.command, desk))
        else:
            print_list(asked.command, desk)
        return
    try:
        there = [name for name in asked.goals if Path(name).exists()]
        check_targets(asked.goals, there, explain=bool(invocation.explain))
        if asked.host is None:
            check_effect(settings, asked.goals)
            check_files(settings, folder)
        _plan_or_build(asked, choices, invocation, looked)
    except N6Error as error:
        note_error(error, Path(choices.build))
        raise


def _folder() -> Path:
    try:
        return project_folder()
    except OSError as error:
        raise N6Error("N6-FILE-002", f"cannot read the working directory: {error.strerror}") from error


def _plan_or_build(asked: Asked, choices: Choices, invocation: Invocation, looked: Looked | None) -> None:
    build = Path(choices.build)
    lock = -1
    if not asked.question:
        lock = locked_build_folder(build)
        forget_error(build)
    verbose = invocation.verbose or choices.verbosity == 2
    site = local_site(build, dict(read_environment().commands), may_write=not asked.question)
    with _host_named(asked):
        # A host needs the library first and its images later: one plan has both.
        planned_goals = asked.goals if asked.host is None else (*asked.goals, "build")
        plan = planned(choices, planned_goals, site, keep=not asked.question)
    goals = asked.goals or ("build",)
    if asked.question:
        raise SystemExit(0 if are_up_to_date(goals, plan, site) else 1)
    if asked.host is not None:
        write_compilations(Path(asked.build), COMPILE_COMMANDS, plan, site)
        if "CMakeLists.txt" not in asked.host:
            write_makefile(Path(asked.build))
    if invocation.explain:
        from n6build.tell.explain_file import explain_product_or_file

        explain_product_or_file(invocation.explain, plan, site, choices.board)
    elif asked.write:
        write_plan(asked.write, plan, goals)
    elif asked.command == "plan":
        show_plan(plan, goals, site, verbose=verbose)
        if asked.json:
            print_json(parse_json(read_bytes(build / "plan.json")))
    else:
        announce_lines(site, verbose=verbose)
        told = _make(plan, goals, site, asked, invocation)
        if told is not None and looked and invocation.front and not invocation.paranoid and not asked.json:
            keep(looked, told, site, goals)
    os.close(lock)


def _make(plan: Plan, goals: tuple[str, ...], site: Site, asked: Asked, invocation: Invocation) -> str | None:
    """Build the goals; return the printed text if there was nothing to do, else None."""
    if COMPILE_COMMANDS in goals:
        say("Commands", COMPILE_COMMANDS)
        write_compile_commands(Path(COMPILE_COMMANDS), plan, site.top)
    made = tuple(goal for goal in goals if goal != COMPILE_COMMANDS)
    if made:
        _build(plan, made, site, invocation, jobs=asked.jobs)
    told = _say_nothing_to_do(made, asked) if made and not site.done and not site.fetched else None
    if asked.json:
        print_json(json_of(made, plan))
    return told if made == goals else None


def _say_nothing_to_do(made: Sequence[str], asked: Asked) -> str:
    """Print that all is up to date, and return the printed text.

    Nothing is printed for another build system, or with --quiet or --json.
    """
    if asked.host is not None or asked.quiet or asked.json:
        return ""
    told = line("Nothing", "to do", f"{', '.join(made)} up to date") + "\n"
    show(told)
    return told


def _build(plan: Plan, goals: tuple[str, ...], site: Site, invocation: Invocation, *, jobs: int | None) -> None:
    """Do the steps behind the goals.

    Args:
        jobs: Steps at a time, None for the usual number.
    """
    sharing = Sharing(invocation.cache, invocation.cache_write, invocation.cache_limit, invocation.remote)
    with shared_steps(site, sharing) as most:
        try:
            execute(plan, files_of(goals, plan), site, jobs=jobs or most)
        finally:
            say_times(site)


@contextmanager
def _host_named(asked: Asked) -> Iterator[None]:
    """Put the line of the host's build script in front of an error about its options."""
    try:
        yield
    except N6Error as error:
        raise (error if asked.host is None else in_host(error, scripts_of(asked.host), asked.given)) from error
