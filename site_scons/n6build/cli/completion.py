"""Shell completion of commands, targets, options in both forms, and their values.

    eval "$(n6build --print-completion bash)"

The shell then calls n6build itself with each request, so that a project's own boards and models are
among the answers.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from argcomplete import autocomplete
from argcomplete.completers import FilesCompleter
from argcomplete.shell_integration import shellcode

from n6build.base.errors import N6Error, did_you_mean
from n6build.cli.arguments import COMMANDS, SHOWN, further_targets, parser_of
from n6build.cli.overview import OWN_COMMANDS
from n6build.describe.choices import PROGRAMMERS
from n6build.describe.hardware.boards import home_of_board, known_boards, load_board
from n6build.describe.model import known_models
from n6build.describe.option import Option
from n6build.describe.until import MODES

SHELLS = ("bash", "zsh", "fish")
# Words that n6build answers without a command.
_FLAGS = ("--help", "--version", "--makefile", "--cmake-dir", "--print-completion")
# Options that take several values: a,b.
_LISTS = frozenset({"model", "mode"})


def script(shell: str) -> str:
    """Return the script that a shell runs once to complete words of n6build.

    Raises:
        N6Error: N6-OPTION-019 for a shell that is not in `SHELLS`.
    """
    if shell not in SHELLS:
        raise N6Error("N6-OPTION-019", f"no completion for '{shell}'", hint=did_you_mean(shell, SHELLS))
    return shellcode(["n6build"], shell=shell)


def answer() -> None:
    """Answer the request of a shell in the environment, and end the program."""
    # Words have no help text of their own, and argcomplete would leave them out for that.
    autocomplete(whole_parser(), print_suppressed=True)


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser for all commands, whose arguments know their values."""
    parser = argparse.ArgumentParser(prog="n6build")
    for flag in _FLAGS[1:]:
        parser.add_argument(flag, choices=SHELLS if flag == "--print-completion" else None)
    commands = parser.add_subparsers()
    options = {option.name: option for option in SHOWN}
    for name, what in COMMANDS.items():
        own = parser_of(name)
        for action in own._actions:
            if action.dest == "words":
                action.completer = _words(name)  # type: ignore[attr-defined]
            elif action.dest in options:
                action.completer = _values(options[action.dest])  # type: ignore[attr-defined]
        commands.add_parser(name, parents=[own], add_help=False, help=what.replace("%", "%%"))
    for name, (parser_of_own, what) in OWN_COMMANDS.items():
        commands.add_parser(name, parents=[parser_of_own()], add_help=False, help=what)
    commands.add_parser("help", help="help for a command").add_argument("command", choices=[*COMMANDS, *OWN_COMMANDS])
    return parser


_Completer = Callable[..., list[str]]


def _words(command: str) -> _Completer:
    """Return a completer of targets, and of options as `name=value`."""
    options = {option.name: option for option in SHOWN}

    def complete(prefix: str, parsed_args: Namespace, **_: object) -> list[str]:
        name, equals, value = prefix.partition("=")
        if equals:
            values = _values(options[name])(prefix=value, parsed_args=parsed_args) if name in options else []
            return [f"{name}={each}" for each in values]
        return [*further_targets(command), *(f"{option}=" for option in options)]

    return complete


def _values(option: Option) -> _Completer:
    """Return a completer of an option's values; of files if it has no list of values."""

    def complete(prefix: str, parsed_args: Namespace, **_: object) -> list[str]:
        before, comma, last = prefix.rpartition(",") if option.name in _LISTS else ("", "", prefix)
        found = [*_known(option, parsed_args)]
        if option.name == "model" or not found:
            found += FilesCompleter()(last)
        return [f"{before}{comma}{each}" for each in found if each.startswith(last)]

    return complete


def _known(option: Option, given: Namespace) -> Iterable[str]:
    # A description that cannot be read is an error where it is used.
    with suppress(N6Error):
        if option.name == "board":
            return known_boards()
        if option.name == "model":
            return known_models()
        if option.name == "profile":
            return _profiles(given, option)
        if option.name == "mode":
            return MODES
        if option.name == "probe":
            return ("auto", "virtual", *PROGRAMMERS)
    return option.choices


def _profiles(given: Namespace, option: Option) -> Sequence[str]:
    """Return the profiles of the board that is named on the line, else of all boards."""
    words = dict(word.partition("=")[::2] for word in getattr(given, "words", None) or [])
    board = getattr(given, "board", None) or words.get("board")
    names = [board] if board else known_boards()
    found = [profile for name in names for profile in load_board(name, home_of_board(name)).profiles()]
    return list(dict.fromkeys(found)) or option.choices
