"""The help texts of `n6build`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from n6build.base.errors import N6Error, did_you_mean
from n6build.cli import (
    adopt,
    clean,
    explain,
    flash_algorithm,
    fuses,
    matrix_merge,
    new,
    probe_server,
    prove,
    survey,
)
from n6build.cli.arguments import COMMANDS, CommandParser, parser_of
from n6build.describe.targets import entry

# Commands that are not targets: their parsers, and a line about each.
OWN_COMMANDS: Mapping[str, tuple[Callable[[], CommandParser], str]] = {
    "new": (new.new_parser, new.HELP),
    "adopt": (adopt.adopt_parser, adopt.HELP),
    "explain": (explain.explain_parser, explain.HELP),
    "clean": (clean.clean_parser, clean.HELP),
    "flash-algorithm": (flash_algorithm.flash_algorithm_parser, flash_algorithm.HELP),
    "fuses": (fuses.fuses_parser, fuses.HELP),
    "matrix-merge": (matrix_merge.merge_parser, matrix_merge.HELP),
    "probe-server": (probe_server.probe_server_parser, probe_server.HELP),
    "prove": (prove.prove_parser, prove.HELP),
    "survey": (survey.survey_parser, survey.HELP),
}


def help_text(commands: Sequence[str]) -> str:
    """Return the overview, or the help of the command behind `n6build help`.

    Args:
        commands: Words behind `n6build help`, of which the first one is used.

    Raises:
        N6Error: N6-OPTION-003 for an unknown command.
    """
    if not commands:
        return _overview()
    command = commands[0]
    if command in COMMANDS:
        return parser_of(command).format_help()
    if command not in OWN_COMMANDS:
        raise N6Error(
            "N6-OPTION-003", f"no command '{command}'", hint=did_you_mean(command, [*COMMANDS, *OWN_COMMANDS])
        )
    return OWN_COMMANDS[command][0]().format_help()


def _overview() -> str:
    commands = {
        **COMMANDS,
        **{name: what for name, (_, what) in OWN_COMMANDS.items()},
        "help": "help for a command: n6build help flash",
        "--print-completion": "completion script for bash, zsh or fish",
    }
    return "\n".join(
        [
            "n6build: a neural network from its model file to a running STM32N6 board",
            "",
            "  n6build MODEL_FILE                                  builds it, for example: n6build net.tflite",
            "  n6build COMMAND [TARGET ...] [MODEL_FILE] [OPTION=VALUE ...]",
            "",
            "Commands; you can combine several (n6build flash run), and each has --help",
            *(entry(name, what) for name, what in commands.items()),
        ]
    )
