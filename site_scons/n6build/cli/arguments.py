"""The words of a command line: targets, files and options, as with scons.

The help of the command line comes from the same tables.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from n6build.base.caller import in_words_of_caller
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import is_file, is_folder
from n6build.describe.option import Option, described
from n6build.describe.project_settings import OPTIONS, uses
from n6build.describe.targets import LISTS, TARGETS

# Targets of SCons alone: a matrix goes on after failures.
_OF_SCONS = frozenset({"matrix"})
_OPTIONS_OF_SCONS = frozenset({"adopt", "boards", "models", "shard"})
COMMANDS = {name: what for name, what in TARGETS.items() if name not in _OF_SCONS}
# Targets whose help lists the options of relocatable models.
_OF_RELOC = frozenset({"reloc", "flash-model"})
# A call with one of these does nothing else.
_ALONE = frozenset({*LISTS, "plan", *_OF_SCONS})


@dataclass(frozen=True)
class Asked:
    """The words of a command line.

    Attributes:
        command: A key of `COMMANDS`.
        goals: Names of targets, and files. The command is one of them, unless a call with it does
            nothing else.
        given: Value of each option by its name.
        build: Folder of all build products.
        jobs: Steps at a time, None for one per CPU.
        write: File for the plan, None to show it.
        host: Build script of the project that calls, or several separated by spaces; None without
            one.
        question: Whether only the exit status reports that all is up to date.
        quiet: Whether only errors are printed.
        json: Whether the tables are printed as JSON, and nothing else.
    """

    command: str
    goals: tuple[str, ...]
    given: dict[str, str]
    build: str
    jobs: int | None
    write: Path | None
    host: str | None = None
    question: bool = False
    quiet: bool = False
    json: bool = False


class _WholeWords(argparse.HelpFormatter):
    """Help that does not break words at a hyphen, such as probe-rs."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap

        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class CommandParser(argparse.ArgumentParser):
    """A parser that raises N6-OPTION-019 where argparse would end the program."""

    def _get_formatter(self) -> argparse.HelpFormatter:
        return _WholeWords(prog=self.prog)

    def error(self, message: str) -> NoReturn:
        """Raise N6-OPTION-019 with a message of argparse."""
        raise N6Error("N6-OPTION-019", message, hint=f"run {self.prog} --help")


def read_call(words: Sequence[str]) -> Asked:
    """Read a whole command line.

    The command may follow options, or be absent: `n6build net.tflite` builds.

    Raises:
        N6Error: N6-OPTION-019 if nothing to do is named; errors of `read_words`.
    """
    if not words:
        raise N6Error("N6-OPTION-019", "no command and no model is given", hint="run n6build --help")
    if words[0] in COMMANDS:
        return read_words(words[0], words[1:])
    if not _begins_a_build(words[0]):
        _refuse_misspelt_model(words[0])
        raise _no_command(words[0])
    found = parser_of("build").parse_known_intermixed_args(words)[0]
    named = found.words
    if not named and _NAMES.isdisjoint(vars(found)):
        raise N6Error("N6-OPTION-019", "no command and no model is given", hint="run n6build --help")
    command = next((word for word in named if word in COMMANDS), "build")
    rest = [*words]
    if command in named:
        rest.remove(command)
    return read_words(command, rest)


def _begins_a_build(word: str) -> bool:
    return "=" in word or word.startswith("-") or is_model(word)


def is_model(word: str) -> bool:
    """Return whether a word names a model file, or a folder with a model.

    Callers check first that it names neither a target nor a build product.
    """
    # Most calls name no model, and do not wait for the modules that read models.
    from n6build.describe.compiled_folder import holds_network
    from n6build.describe.model import MODEL_SUFFIXES

    path = Path(word)
    if path.suffix in MODEL_SUFFIXES:
        return True
    return is_file(path / "model.yaml") or (is_folder(path) and holds_network(path))


def read_words(command: str, words: Sequence[str]) -> Asked:
    """Read the words behind a command.

    The program ends after --help.

    Args:
        command: A key of `COMMANDS`.
        words: Targets, options, files to be made, and models, in any order.

    Raises:
        N6Error: N6-OPTION-001 for an unknown option; N6-OPTION-003 for an unknown command;
            N6-OPTION-019 for words that are
            incomplete or do not go with the command; N6-MODEL-001 for the misspelt name of a model.
    """
    if command not in COMMANDS:
        raise _no_command(command)
    found, unknown = parser_of(command).parse_known_intermixed_args(words)
    given = {name: value for name, value in vars(found).items() if name in _NAMES}
    goals, models = _goals_and_models(command, found.words, found.build, given)
    if models:
        if "model" in given:
            what = f"two models are given: '{models[0]}' and 'model={given['model']}'"
            raise N6Error("N6-OPTION-019", what, hint="write model=a,b for several networks in one application")
        given["model"] = ",".join(models)
    if command == "build" and goals[1:] and COMMANDS.keys().isdisjoint(goals[1:]):
        # Only these files are made, as with scons, and not all that target build makes.
        goals = goals[1:]
    for word in unknown:
        name = word.lstrip("-").partition("=")[0].replace("-", "_")
        raise N6Error("N6-OPTION-001", f"unknown option '{word}'", hint=did_you_mean(name, _NAMES))
    for name in sorted(_OPTIONS_OF_SCONS & set(given)):
        hint = "run n6build adopt FOLDER" if name == "adopt" else f"run scons matrix {name}=..."
        raise N6Error("N6-OPTION-019", f"option '{name}' has no effect here", hint=hint)
    if command in LISTS and goals:
        raise N6Error("N6-OPTION-019", f"'n6build {command}' takes no targets", hint=f"run n6build {command} --help")
    return Asked(
        command,
        tuple(goals),
        given,
        found.build,
        found.jobs,
        getattr(found, "write", None),
        found.host,
        found.question,
        quiet=found.quiet,
        json=found.json,
    )


def _goals_and_models(
    command: str, words: Sequence[str], build: str, given: dict[str, str]
) -> tuple[list[str], list[str]]:
    """Return the goals and models among words.

    Options of the form name=value are added to `given`.
    """
    goals = [] if command in _ALONE else [command]
    models = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals:
            given[name] = value
        elif word in _ALONE:
            raise N6Error("N6-OPTION-019", f"'{word}' is not a target for 'n6build {command}'", hint=_hint_for(word))
        elif word not in TARGETS and is_model(word) and not _is_below(word, build):
            models.append(word)
        else:
            _refuse_misspelt_model(word, build)
            goals.append(word)
    return goals, models


def _is_below(word: str, build: str) -> bool:
    """Return whether a path is in the build folder."""
    return Path(os.path.abspath(word)).is_relative_to(os.path.abspath(build))


def _refuse_misspelt_model(word: str, build: str = "") -> None:
    """Raise N6-MODEL-001 for a word that is nearly the name of a model's file.

    The model's file is in the folder that the word names. Targets and build products are accepted.
    """
    path = Path(word)
    if word in TARGETS or not path.suffix or is_file(path) or (build and _is_below(word, build)):
        return
    from n6build.describe.nearest_paths import nearest_paths

    if found := [repr(each) for each in nearest_paths(word, Path()) if is_model(each)]:
        hint = f"did you mean {' or '.join(found)}?"
        raise N6Error("N6-MODEL-001", f"no model file or folder '{word}'", hint=hint)


def _no_command(word: str) -> N6Error:
    if word in _OF_SCONS:
        return N6Error("N6-OPTION-019", f"target '{word}' needs SCons", hint=_hint_for(word))
    # It imports this module, and a call without an error does not need it.
    from n6build.cli.overview import OWN_COMMANDS

    return N6Error("N6-OPTION-003", f"no command '{word}'", hint=did_you_mean(word, [*COMMANDS, *OWN_COMMANDS, "help"]))


def _hint_for(word: str) -> str:
    return f"run scons {word}" if word in _OF_SCONS else f"run n6build {word} without other targets"


# Options that the command line of n6build takes.
SHOWN = tuple(option for option in OPTIONS if option.name not in _OPTIONS_OF_SCONS)
_NAMES = frozenset(option.name for option in OPTIONS)


def further_targets(command: str) -> list[str]:
    """Return the targets that may follow a command, to be done with it."""
    return [] if command in LISTS else [name for name in COMMANDS if name not in {*_ALONE, command}]


def shown_options(command: str) -> list[Option]:
    """Return the options that help for a command lists.

    These are the options that the command uses. Those of relocatable models are left out unless it
    is about such models.
    """
    used = [option for option in SHOWN if command == "plan" or uses(option, command)]
    return [option for option in used if not option.loader or command in _OF_RELOC]


def parser_of(command: str) -> CommandParser:
    """Return the parser of the words behind a command.

    It knows all options, since other targets may follow; its help lists those of the command.

    Args:
        command: A key of `COMMANDS`.
    """
    targets = "" if command in LISTS else " [TARGET ...]"
    shown = {option.name for option in shown_options(command)}
    hidden = [option.name for option in SHOWN if option.loader and option.name not in shown]
    more = f" loader=reloc has more options: {', '.join(hidden)}; see n6build reloc --help." if shown and hidden else ""
    parser = CommandParser(
        prog=f"n6build {command}",
        usage=f"n6build {command}{targets} [OPTION=VALUE ...]",
        description=f"{COMMANDS[command].replace('%', '%%')}.",
        epilog="Write an option as --option value or option=value. n6build also reads n6build.local.yaml, "
        f"settings.yaml in your n6build folder, and the environment.{more}",
        allow_abbrev=False,
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    add_build(parser)
    parser.add_argument(
        "-j", "--jobs", metavar="N", type=_count, help="number of parallel steps; default: make's -j, or one per CPU"
    )
    parser.add_argument(
        "-q",
        "--question",
        action="store_true",
        help="only checks: exit status 1 if something is not up to date",
    )
    parser.add_argument("--host", metavar="FILES", help="build scripts of the calling project; errors name their lines")
    if command == "plan":
        parser.add_argument(
            "--write", metavar="FILE", type=Path, help="writes the plan of these targets as JSON instead of printing it"
        )
    add_output(parser)
    options = parser.add_argument_group("options of the build, the same as with scons")
    for option in SHOWN:
        options.add_argument(
            f"--{option.name.replace('_', '-')}",
            dest=option.name,
            metavar="|".join(option.choices) if option.choices else option.name.upper(),
            default=argparse.SUPPRESS,
            help=in_words_of_caller(described(option)).replace("%", "%%")
            if option.name in shown
            else argparse.SUPPRESS,
        )
    return parser


def options_in(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the values of words of the form name=value.

    Args:
        words: The words.
        names: Known names.

    Raises:
        N6Error: N6-OPTION-001 for another word.
    """
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if name not in names or not equals:
            raise N6Error("N6-OPTION-001", f"unknown option '{word}'", hint=did_you_mean(name, names))
        found[name] = value
    return found


def add_build(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of all build products."""
    parser.add_argument(
        "--build", metavar="FOLDER", default="build", help="folder for all build products; default: build"
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves only errors on the console."""
    parser.add_argument("--quiet", action="store_true", help="prints errors only")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that prints tables."""
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="prints the tables as one JSON document only")


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps from 1 to 1024")
    return int(text)
