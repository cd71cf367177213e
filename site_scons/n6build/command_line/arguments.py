"""The words of a command line: targets, files and options, the same as with scons; its help comes from the same tables."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from n6build.base.errors import N6Error, did_you_mean
from n6build.options.option import described
from n6build.options.settings import OPTIONS
from n6build.options.targets import LISTS, TARGETS

# A matrix goes on after failures.
_OF_SCONS = frozenset({"matrix"})
_OPTIONS_OF_SCONS = frozenset({"adopt", "boards", "models", "shard"})
COMMANDS = {name: what for name, what in TARGETS.items() if name not in _OF_SCONS}
# These are done alone.
_ALONE = frozenset({*LISTS, "plan", *_OF_SCONS})


@dataclass(frozen=True)
class Asked:
    """command: a key of `COMMANDS`. goals: names of targets, and files; the command itself is one of them, unless it is done
    alone. given: value of each option by its name. build: folder of all build products. jobs: steps at a time, None for one per
    CPU. write: file for the plan, None to show it. host: build script of the project that calls, or several separated by spaces;
    None without one. question: whether to say only by the exit status that all is up to date."""

    command: str
    goals: tuple[str, ...]
    given: dict[str, str]
    build: str
    jobs: int | None
    write: Path | None
    host: str | None = None
    question: bool = False


class CommandParser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` that raises N6-OPTION-019 where that one ends the program."""

    def error(self, message: str) -> NoReturn:
        """Raises N6-OPTION-019."""
        raise N6Error("N6-OPTION-019", message, hint=f"{self.prog} --help")


def read_words(command: str, words: Sequence[str]) -> Asked:
    """words: those behind the command. Ends the program after --help. Raises N6-OPTION-001 for an unknown option, N6-OPTION-003
    for an unknown command, N6-OPTION-019 for what is incomplete or does not go with the command."""
    if command not in COMMANDS:
        raise _no_command(command)
    found, unknown = parser_of(command).parse_known_intermixed_args(words)
    given = {name: value for name, value in vars(found).items() if name in _NAMES}
    goals = [] if command in _ALONE else [command]
    for word in found.words:
        name, equals, value = word.partition("=")
        if equals:
            given[name] = value
        elif word in _ALONE:
            raise N6Error("N6-OPTION-019", f"'{word}' is not a target for 'n6build {command}'", hint=_hint_for(word))
        else:
            goals.append(word)
    if command == "build" and goals[1:] and COMMANDS.keys().isdisjoint(goals[1:]):
        # Files alone, as with scons: not all that is built.
        goals = goals[1:]
    for word in unknown:
        name = word.lstrip("-").partition("=")[0].replace("-", "_")
        raise N6Error("N6-OPTION-001", f"unknown option '{word}'", hint=did_you_mean(name, _NAMES))
    for name in sorted(_OPTIONS_OF_SCONS & set(given)):
        raise N6Error("N6-OPTION-019", f"option '{name}' has no effect here", hint=f"scons {name}=...")
    if command in LISTS and goals:
        raise N6Error("N6-OPTION-019", f"'n6build {command}' takes no targets", hint=f"n6build {command} --help")
    return Asked(
        command, tuple(goals), given, found.build, found.jobs, getattr(found, "write", None), found.host, found.question
    )


def _no_command(word: str) -> N6Error:
    if not word:
        return N6Error("N6-OPTION-019", "nothing to do is named", hint="n6build --help")
    if word in _OF_SCONS:
        return N6Error("N6-OPTION-019", f"target '{word}' is built by SCons", hint=_hint_for(word))
    if "=" in word or word.startswith("-"):
        what = f"'{word}' is not something to do"
        return N6Error("N6-OPTION-019", what, hint=f"begin with it: n6build build {word}")
    return N6Error(
        "N6-OPTION-003", f"no command '{word}'", hint=did_you_mean(word, [*COMMANDS, "adopt", "matrix-merge", "prove"])
    )


def _hint_for(word: str) -> str:
    return f"scons {word}" if word in _OF_SCONS else f"n6build {word}, alone"


# Those that can be given here.
SHOWN = tuple(option for option in OPTIONS if option.name not in _OPTIONS_OF_SCONS)
_NAMES = frozenset(option.name for option in OPTIONS)


def further_targets(command: str) -> list[str]:
    """What may follow a command, to be done with it."""
    return [] if command in LISTS else [name for name in COMMANDS if name not in {*_ALONE, command}]


def parser_of(command: str) -> CommandParser:
    """Of the words behind a key of `COMMANDS`."""
    targets = "" if command in LISTS else " [TARGET ...]"
    parser = CommandParser(
        prog=f"n6build {command}",
        usage=f"n6build {command}{targets} [OPTION=VALUE ...]",
        description=f"{COMMANDS[command].replace('%', '%%')}.",
        epilog="Each option may be given as --option value or as option=value; values also come from n6build.local.yaml, from "
        "settings.yaml in the user's n6build folder, and from the environment.",
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    add_build(parser)
    parser.add_argument(
        "-j", "--jobs", metavar="N", type=_count, help="steps at a time; default: as make's -j says, or one per CPU"
    )
    parser.add_argument(
        "-q",
        "--question",
        action="store_true",
        help="does nothing: the exit status is 1 if something is not up to date",
    )
    parser.add_argument(
        "--host", metavar="FILES", help="build scripts of the project that calls this: errors name their line"
    )
    if command == "plan":
        parser.add_argument(
            "--write", metavar="FILE", type=Path, help="writes the plan of these targets as JSON, and prints nothing"
        )
    options = parser.add_argument_group("options of the build, as with scons")
    for option in SHOWN:
        options.add_argument(
            f"--{option.name.replace('_', '-')}",
            dest=option.name,
            metavar="|".join(option.choices) if option.choices else option.name.upper(),
            default=argparse.SUPPRESS,
            help=described(option).replace("%", "%%"),
        )
    return parser


def add_build(parser: argparse.ArgumentParser) -> None:
    """Adds the option for the folder of all build products."""
    parser.add_argument(
        "--build", metavar="FOLDER", default="build", help="folder of all build products; default: build"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps from 1 to 1024")
    return int(text)
