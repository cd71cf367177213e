"""A single step of a plan: for machines that share the work, and for finding errors.

It makes what SCons would make, and does not check what is up to date. The inputs of the step have to exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.uses import line_of
from n6build.command_line.arguments import CommandParser, add_build
from n6build.plan.local import local_site, read_plan_file
from n6build.plan.perform import perform
from n6build.plan.plan import step_for
from n6build.plan.progress import announce_lines

HELP = "does one step of a plan, for machines that share the work"


def step(words: Sequence[str]) -> None:
    """words: those behind the command. Ends the program after --help. Raises N6-OPTION-019 for words that are missing or too
    many, N6-STEP-015 if a step's function fails with another exception than N6Error, and what `read_plan_file`, `step_for` and
    `perform` raise."""
    options = step_parser().parse_args(words)
    plan = read_plan_file(options.plan)
    one = step_for(options.name, plan)
    site = local_site(Path(options.build), dict(read_environment().commands))
    site.plan = plan
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
    add_build(parser)
    return parser
