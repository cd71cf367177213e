"""The command `n6build prove`: random edits that search for stale outputs.

A stale output is one that an incremental build leaves as it was, but a clean build makes otherwise.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import time
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from n6build.base.console import say, show
from n6build.base.environment import project_folder
from n6build.base.errors import N6Error
from n6build.cli.arguments import CommandParser, read_words

if TYPE_CHECKING:
    from n6build.prove.trial import Verdict

HELP = "edits a copy of the project at random, and compares each incremental build with a clean one"
# These targets need no board, and their outputs contain nothing about the build itself.
_GOALS = ("build", "network", "check", "library", "reloc", "romfs", "hex", "mcuboot", "image")


def prove(words: Sequence[str]) -> None:
    """Try random edits, and print a line for each.

    It ends when the number of edits or the time is reached.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-019 for words that cannot be proved; N6-PROVE-001 for a project that does
            not build; N6-PROVE-002 for a
            build that is wrong.
    """
    from n6build.prove.builds import copy_of
    from n6build.prove.edits import choose, difference, matching
    from n6build.prove.trial import begin

    options = prove_parser().parse_intermixed_args(words)
    goals = _checked(options.words)
    end = time.monotonic() + options.minutes * 60
    copy = copy_of(project_folder(), options.client)
    found: list[str] = []
    tried = 0
    try:
        trial = begin(copy, goals)
        inputs = matching(trial.inputs, options.only)
        if inputs is None:
            raise N6Error(
                "N6-OPTION-019",
                f"'--only {options.only}' matches no input",
                hint="write a pattern of paths, for example 'firmware/fsbl/*'",
            )
        say("Prove", " ".join(goals), f"seed {options.seed}: {len(inputs.files)} files, {len(trial.first)} outputs")
        if _told("without an edit", "", trial.without_edit()):
            found.append("without an edit")
        for number in range(options.first, options.first + options.edits):
            if time.monotonic() > end:
                break
            edit = choose(Random(f"{options.seed} {number}"), inputs)
            diff = difference(edit, copy.folder)
            tried += 1
            if _told(
                edit.where.removeprefix("project/"), f"edit {number}: {edit.what}, {edit.manner}", trial.tried(edit)
            ):
                show(diff)
                found.append(f"edit {number}")
    finally:
        if not found:
            shutil.rmtree(copy.folder)
    say("Proved", f"{tried} edits", f"{len(found)} wrong", "bad" if found else "good")
    if found:
        what = f"the build is wrong: {', '.join(found)}"
        again = f"--seed {options.seed} --only {shlex.quote(options.only)} --client {options.client}"
        hint = f"run n6build prove {shlex.join(goals)} {again} --edits 1 --first N to repeat edit N"
        raise N6Error("N6-PROVE-002", what, where=str(copy.project), hint=hint)


def _checked(words: Sequence[str]) -> tuple[str, ...]:
    """Return the targets and options, if they can be proved.

    Raises:
        N6Error: N6-OPTION-001, -003 or -019 for other words.
    """
    goals = [word for word in words if "=" not in word] or ["build"]
    for goal in goals:
        if goal not in _GOALS:
            raise N6Error("N6-OPTION-019", f"'{goal}' cannot be proved", hint=f"use one of {', '.join(_GOALS)}")
    options = [word for word in words if "=" in word]
    read_words(goals[0], [*goals[1:], *options])
    return (*goals, *options)


def _told(where: str, what: str, verdict: Verdict) -> bool:
    """Print the line of an edit, and return whether the build is wrong."""
    built = verdict.built
    ran = f"{len(built.steps)} steps, " + (
        f"fails with {built.error}" if built.error else f"{verdict.changed} outputs differ"
    )
    verb, style = ("Wrong", "bad") if verdict.is_found else ("Refused" if built.error else "Same", "")
    say(
        verb,
        where,
        f"{what}: {ran}, {len(verdict.stale)} stale" if what else f"{ran}, {len(verdict.stale)} stale",
        style,
    )
    lines = [*verdict.wrong, *(f"{output} is stale, of step {step}" for output, step in verdict.stale.items())]
    show("".join(f"{'':13}{line}\n" for line in lines))
    return verdict.is_found


def prove_parser() -> CommandParser:
    """Return the parser of the words behind `n6build prove`."""
    parser = CommandParser(
        prog="n6build prove",
        usage="n6build prove [TARGET ...] [OPTION=VALUE ...]",
        description=f"{HELP}. Targets: {', '.join(_GOALS)}; default: build.",
        epilog="Exit status: 0, or 2 if a build was wrong; n6build then keeps the copy.",
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the random edits; default: 1")
    parser.add_argument("--edits", metavar="N", type=_number, default=60, help="number of edits; default: 60")
    parser.add_argument("--first", metavar="N", type=_number, default=1, help="number of the first edit; default: 1")
    parser.add_argument(
        "--minutes", metavar="N", type=_number, default=10, help="no edit starts after this time; default: 10"
    )
    parser.add_argument("--only", metavar="PATTERN", default="*", help="edits only these inputs, for example '*.yaml'")
    parser.add_argument(
        "--client",
        choices=("n6build", "scons"),
        default="n6build",
        help="the program that builds incrementally; default: n6build",
    )
    return parser


def _number(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) < 1 << 31:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number")
    return int(text)
