"""The help texts of `n6build`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from n6build.base.errors import N6Error, did_you_mean
from n6build.cli.adopt import HELP as ADOPT_HELP
from n6build.cli.adopt import NAME as ADOPT
from n6build.cli.adopt import adopt_parser
from n6build.cli.arguments import COMMANDS, CommandParser, parser_of
from n6build.cli.clean import HELP as CLEAN_HELP
from n6build.cli.clean import NAME as CLEAN
from n6build.cli.clean import clean_parser
from n6build.cli.explain import HELP as EXPLAIN_HELP
from n6build.cli.explain import NAME as EXPLAIN
from n6build.cli.explain import explain_parser
from n6build.cli.flash_algorithm import HELP as FLASH_ALGORITHM_HELP
from n6build.cli.flash_algorithm import NAME as FLASH_ALGORITHM
from n6build.cli.flash_algorithm import flash_algorithm_parser
from n6build.cli.fuses import HELP as FUSES_HELP
from n6build.cli.fuses import NAME as FUSES
from n6build.cli.fuses import fuses_parser
from n6build.cli.matrix_merge import HELP as MERGE_HELP
from n6build.cli.matrix_merge import NAME as MERGE
from n6build.cli.matrix_merge import merge_parser
from n6build.cli.new import HELP as NEW_HELP
from n6build.cli.new import NAME as NEW
from n6build.cli.new import new_parser
from n6build.cli.probe_server import HELP as PROBE_SERVER_HELP
from n6build.cli.probe_server import NAME as PROBE_SERVER
from n6build.cli.probe_server import probe_server_parser
from n6build.cli.prove import HELP as PROVE_HELP
from n6build.cli.prove import NAME as PROVE
from n6build.cli.prove import prove_parser
from n6build.cli.survey import HELP as SURVEY_HELP
from n6build.cli.survey import NAME as SURVEY
from n6build.cli.survey import survey_parser
from n6build.describe.targets import entry

# Commands that are not targets: their parsers, and a line about each.
OWN_COMMANDS: Mapping[str, tuple[Callable[[], CommandParser], str]] = {
    NEW: (new_parser, NEW_HELP),
    ADOPT: (adopt_parser, ADOPT_HELP),
    EXPLAIN: (explain_parser, EXPLAIN_HELP),
    CLEAN: (clean_parser, CLEAN_HELP),
    FLASH_ALGORITHM: (flash_algorithm_parser, FLASH_ALGORITHM_HELP),
    FUSES: (fuses_parser, FUSES_HELP),
    MERGE: (merge_parser, MERGE_HELP),
    PROBE_SERVER: (probe_server_parser, PROBE_SERVER_HELP),
    PROVE: (prove_parser, PROVE_HELP),
    SURVEY: (survey_parser, SURVEY_HELP),
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
