"""The words of a command line: targets, files and options, the same as with scons; its help comes from the same tables."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from n6build.base.caller import in_words_of_caller
from n6build.base.errors import N6Error, did_you_mean, nearest
from n6build.base.files import files_in, is_file, is_folder
from n6build.options.option import Option, described
from n6build.options.settings import OPTIONS, uses
from n6build.options.targets import LISTS, TARGETS

# A matrix goes on after failures.
_OF_SCONS = frozenset({"matrix"})
_OPTIONS_OF_SCONS = frozenset({"adopt", "boards", "models", "shard"})
COMMANDS = {name: what for name, what in TARGETS.items() if name not in _OF_SCONS}
# Targets whose help lists the options of relocatable models.
_OF_RELOC = frozenset({"reloc", "flash-model"})
# These are done alone.
_ALONE = frozenset({*LISTS, "plan", *_OF_SCONS})


@dataclass(frozen=True)
class Asked:
    """The words of a command line.

    Attributes:
        command: a key of `COMMANDS`.
        goals: names of targets, and files; the command itself is one of them, unless it is done alone.
        given: value of each option by its name.
        build: folder of all build products.
        jobs: steps at a time, None for one per CPU.
        write: file for the plan, None to show it.
        host: build script of the project that calls, or several separated by spaces; None without one.
        question: whether to say only by the exit status that all is up to date.
        quiet: whether only errors are printed.
        json: whether the tables are printed as JSON, and nothing else.
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


class CommandParser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` that raises N6-OPTION-019 where that one ends the program."""

    def error(self, message: str) -> NoReturn:
        """Raises N6-OPTION-019."""
        raise N6Error("N6-OPTION-019", message, hint=f"{self.prog} --help")


def read_call(words: Sequence[str]) -> Asked:
    """Read a whole command line, in which the command may stand behind options, or be absent: `n6build net.tflite` builds.

    Raises:
        N6Error: N6-OPTION-019 where nothing to do is named, else as `read_words`.
    """
    if not words:
        raise N6Error("N6-OPTION-019", "nothing to do is named", hint="n6build --help")
    if words[0] in COMMANDS:
        return read_words(words[0], words[1:])
    if not _begins_a_build(words[0]):
        _refuse_misspelt_model(words[0])
        raise _no_command(words[0])
    found = parser_of("build").parse_known_intermixed_args(words)[0]
    named = found.words
    if not named and _NAMES.isdisjoint(vars(found)):
        raise N6Error("N6-OPTION-019", "nothing to do is named", hint="n6build --help")
    command = next((word for word in named if word in COMMANDS), "build")
    rest = [*words]
    if command in named:
        rest.remove(command)
    return read_words(command, rest)


def _begins_a_build(word: str) -> bool:
    return "=" in word or word.startswith("-") or is_model(word)


def is_model(word: str) -> bool:
    """Return whether a word names a model file, or a folder with a model: not a target, nor a product of a build."""
    # Most calls name none: they do not wait for all that reads models.
    from n6build.models.model import MODEL_SUFFIXES
    from n6build.network.prebuilt.folder import holds_network

    path = Path(word)
    if path.suffix in MODEL_SUFFIXES:
        return True
    return is_file(path / "model.yaml") or (is_folder(path) and holds_network(path))


def read_words(command: str, words: Sequence[str]) -> Asked:
    """Read the words behind a command; ends the program after --help.

    Args:
        command: a key of `COMMANDS`.
        words: targets, options, files to be made, and models, in any order.

    Raises:
        N6Error: N6-OPTION-001 for an unknown option, N6-OPTION-003 for an unknown command, N6-OPTION-019 for what is
            incomplete or does not go with the command.
    """
    if command not in COMMANDS:
        raise _no_command(command)
    found, unknown = parser_of(command).parse_known_intermixed_args(words)
    given = {name: value for name, value in vars(found).items() if name in _NAMES}
    goals = [] if command in _ALONE else [command]
    models = []
    for word in found.words:
        name, equals, value = word.partition("=")
        if equals:
            given[name] = value
        elif word in _ALONE:
            raise N6Error("N6-OPTION-019", f"'{word}' is not a target for 'n6build {command}'", hint=_hint_for(word))
        elif word not in TARGETS and is_model(word) and not _is_below(word, found.build):
            models.append(word)
        else:
            _refuse_misspelt_model(word, found.build)
            goals.append(word)
    if models:
        if "model" in given:
            what = f"two models are named: '{models[0]}' and 'model={given['model']}'"
            raise N6Error("N6-OPTION-019", what, hint="several networks of one application: model=a,b")
        given["model"] = ",".join(models)
    if command == "build" and goals[1:] and COMMANDS.keys().isdisjoint(goals[1:]):
        # Files alone, as with scons: not all that is built.
        goals = goals[1:]
    for word in unknown:
        name = word.lstrip("-").partition("=")[0].replace("-", "_")
        raise N6Error("N6-OPTION-001", f"unknown option '{word}'", hint=did_you_mean(name, _NAMES))
    for name in sorted(_OPTIONS_OF_SCONS & set(given)):
        hint = "n6build adopt FOLDER" if name == "adopt" else f"scons matrix {name}=..."
        raise N6Error("N6-OPTION-019", f"option '{name}' has no effect here", hint=hint)
    if command in LISTS and goals:
        raise N6Error("N6-OPTION-019", f"'n6build {command}' takes no targets", hint=f"n6build {command} --help")
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


def _is_below(word: str, build: str) -> bool:
    """Whether a path is in the build folder."""
    return Path(os.path.abspath(word)).is_relative_to(os.path.abspath(build))


def _refuse_misspelt_model(word: str, build: str = "") -> None:
    """Raises N6-MODEL-001 for a word that is nearly the name of a model's file beside it, and neither a target nor a product."""
    path = Path(word)
    if word in TARGETS or not path.suffix or is_file(path) or (build and _is_below(word, build)):
        return
    names = nearest(path.name, (each.name for each in files_in(path.parent)))
    if found := [repr(str(path.parent / name)) for name in names if is_model(str(path.parent / name))]:
        hint = f"did you mean {' or '.join(found)}?"
        raise N6Error("N6-MODEL-001", f"no model file or folder '{word}'", hint=hint)


def _no_command(word: str) -> N6Error:
    if word in _OF_SCONS:
        return N6Error("N6-OPTION-019", f"target '{word}' is built by SCons", hint=_hint_for(word))
    own = ("adopt", "matrix-merge", "prove", "new", "clean", "help")
    return N6Error("N6-OPTION-003", f"no command '{word}'", hint=did_you_mean(word, [*COMMANDS, *own]))


def _hint_for(word: str) -> str:
    return f"scons {word}" if word in _OF_SCONS else f"n6build {word}, alone"


# Those that can be given here.
SHOWN = tuple(option for option in OPTIONS if option.name not in _OPTIONS_OF_SCONS)
_NAMES = frozenset(option.name for option in OPTIONS)


def further_targets(command: str) -> list[str]:
    """What may follow a command, to be done with it."""
    return [] if command in LISTS else [name for name in COMMANDS if name not in {*_ALONE, command}]


def shown_options(command: str) -> list[Option]:
    """Return the options that the help of a command lists: those that it uses, without those of relocatable models where it is
    not about these."""
    used = [option for option in SHOWN if command == "plan" or uses(option, command)]
    return [option for option in used if not option.loader or command in _OF_RELOC]


def parser_of(command: str) -> CommandParser:
    """Return the parser of the words behind a key of `COMMANDS`. It knows all options, since other targets may follow; its help
    lists those of the command."""
    targets = "" if command in LISTS else " [TARGET ...]"
    shown = {option.name for option in shown_options(command)}
    hidden = [option.name for option in SHOWN if option.loader and option.name not in shown]
    more = f" With loader=reloc there are more: {', '.join(hidden)}; n6build reloc --help." if shown and hidden else ""
    parser = CommandParser(
        prog=f"n6build {command}",
        usage=f"n6build {command}{targets} [OPTION=VALUE ...]",
        description=f"{COMMANDS[command].replace('%', '%%')}.",
        epilog="Each option may be given as --option value or as option=value; values also come from n6build.local.yaml, from "
        f"settings.yaml in the user's n6build folder, and from the environment.{more}",
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
    add_output(parser)
    options = parser.add_argument_group("options of the build, as with scons")
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


def add_build(parser: argparse.ArgumentParser) -> None:
    """Adds the option for the folder of all build products."""
    parser.add_argument(
        "--build", metavar="FOLDER", default="build", help="folder of all build products; default: build"
    )


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves only errors on the console."""
    parser.add_argument("--quiet", action="store_true", help="prints errors alone")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that prints tables."""
    add_quiet(parser)
    parser.add_argument("--json", action="store_true", help="prints the tables as one JSON document, and nothing else")


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps from 1 to 1024")
    return int(text)
