"""A single step of a plan: for other build systems, for machines that share the work, and for finding errors.

It makes what SCons would make, and does not check what is up to date unless it is asked to. The inputs of the step have to exist.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.uses import line_of
from n6build.command_line.arguments import CommandParser, add_build
from n6build.plan.depfile import first_rule, rules_of
from n6build.plan.local import local_site, read_plan_file
from n6build.plan.perform import Site, is_current, perform
from n6build.plan.plan import step_for
from n6build.plan.progress import announce_lines
from n6build.plan.step import Step

HELP = "does one step of a plan, for other build systems"


def step(words: Sequence[str]) -> None:
    """words: those behind the command. Ends the program after --help. Raises N6-OPTION-019 for words that are missing or too
    many, N6-STEP-015 if a step's function fails with another exception than N6Error, and what `read_plan_file`, `step_for` and
    `perform` raise."""
    options = step_parser().parse_args(words)
    plan = read_plan_file(options.plan)
    one = step_for(options.name, plan)
    site = local_site(Path(options.build), dict(read_environment().commands))
    site.plan = plan
    if options.if_changed and is_current(one, site):
        _renew(one, site)
    else:
        _do(one, site)
    if options.plain_depfile and one.depfile:
        depfile = Path(one.depfile)
        write_atomically(depfile, first_rule(depfile.read_bytes()) + b"\n")


def _do(one: Step, site: Site) -> None:
    announce_lines(site, verbose=False)
    try:
        perform(one, site)
    except N6Error:
        raise
    except Exception as error:
        # An edited plan may give a function parameters that it was not written for.
        raise N6Error(
            "N6-STEP-015",
            f"step {one.name} fails: {type(error).__name__}: {error}",
            where=_line_of(error) or None,
            hint="scons plan writes the plan again; if it still fails, it is an error in the step",
        ) from error


def _renew(one: Step, site: Site) -> None:
    """What is there, which the step would make again, becomes as young as if it had. Some build systems take the list of headers
    away when they have read it."""
    if one.depfile and not Path(one.depfile).is_file():
        read = site.ledger.entries[one.name].inputs
        known = {*one.sources, *one.templates}
        headers = [path for path, digest in read.items() if digest and path not in known]
        write_atomically(Path(one.depfile), rules_of(one, headers))
    for output in one.outputs:
        os.utime(output)


def _line_of(error: BaseException) -> str:
    """The line of the library nearest to where the error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return line_of(trace.tb_frame) if trace else ""


def step_parser() -> CommandParser:
    """Of the words behind `n6build step`."""
    parser = CommandParser(prog="n6build step", description=f"{HELP}.", allow_abbrev=False)
    parser.add_argument("name", metavar="NAME", help="an output of the step, such as build/nucleo-n657/fsbl/fsbl.elf")
    parser.add_argument(
        "--plan", metavar="FILE", type=Path, required=True, help="written by n6build plan or scons plan"
    )
    parser.add_argument(
        "--if-changed",
        action="store_true",
        help="where the step would make what is there, gives that the present time: for build systems that compare times",
    )
    parser.add_argument(
        "--plain-depfile",
        action="store_true",
        help="leaves one rule in the step's list of headers: more is read wrongly by CMake 3.21",
    )
    add_build(parser)
    return parser
