"""A single step of a build: for other build systems, for machines that share the work, and for finding errors:

    scons plan
    python -m n6build step build/nucleo-n657/fsbl/fsbl.ld --plan build/plan.json

It runs in the project's folder, makes what SCons would make, and does not check what is up to date. The inputs of the step have
to exist. Exit status: 0, or 2 with the error on stderr.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from n6build.base.console import say
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.uses import line_of
from n6build.plan.local import do_step, local_site, read_plan_file
from n6build.plan.plan import Plan, step_for
from n6build.plan.step import Step


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 2 after an error, which is printed."""
    options = _parser().parse_args(arguments)
    try:
        plan = read_plan_file(options.plan)
        _do(step_for(options.name, plan), plan, options.build)
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _do(step: Step, plan: Plan, build: Path) -> None:
    """Raises N6-STEP-015 if a step's function fails with another exception than N6Error, and what `do_step` raises."""
    site = local_site(build, dict(read_environment().commands))
    site.plan = plan
    if not step.quiet:
        say(step.verb, step.sources[0] if step.stage == "compile" and step.sources else step.name)
    try:
        do_step(step, site)
    except N6Error:
        raise
    except Exception as error:
        # An edited plan may give a function parameters that it was not written for.
        raise N6Error(
            "N6-STEP-015",
            f"step {step.name} fails: {type(error).__name__}: {error}",
            where=_line_of(error) or None,
            hint="scons plan writes the plan again; if it still fails, it is an error in the step",
        ) from error


def _line_of(error: BaseException) -> str:
    """The line of the library nearest to where the error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return line_of(trace.tb_frame) if trace else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m n6build", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    step = parser.add_subparsers(required=True, metavar="step").add_parser("step", help="does one step of a plan")
    step.add_argument("name", metavar="NAME", help="an output of the step, such as build/nucleo-n657/fsbl/fsbl.elf")
    step.add_argument("--plan", metavar="FILE", type=Path, required=True, help="written by scons plan")
    step.add_argument(
        "--build", metavar="FOLDER", type=Path, default=Path("build"), help="folder of all build products"
    )
    return parser


if __name__ == "__main__":
    # Names come from models and folders: a terminal that lacks a letter gets a question mark, not a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    raise SystemExit(main())
