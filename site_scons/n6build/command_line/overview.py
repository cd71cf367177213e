"""What `n6build` prints about itself."""

from __future__ import annotations

from n6build.command_line.adopt import HELP as ADOPT_HELP
from n6build.command_line.adopt import NAME as ADOPT
from n6build.command_line.arguments import COMMANDS
from n6build.command_line.matrix_merge import HELP as MERGE_HELP
from n6build.command_line.matrix_merge import NAME as MERGE
from n6build.command_line.prove import HELP as PROVE_HELP
from n6build.command_line.prove import NAME as PROVE
from n6build.options.targets import entry


def overview() -> str:
    """All commands, a line or two each."""
    commands = {
        ADOPT: ADOPT_HELP,
        **COMMANDS,
        MERGE: MERGE_HELP,
        PROVE: PROVE_HELP,
        "--print-completion": "bash, zsh or fish: a script that completes what is typed",
    }
    return "\n".join(
        [
            "n6build: a neural network from its model file to a running STM32N6 board",
            "",
            "  n6build COMMAND [TARGET ...] [OPTION=VALUE ...]",
            "",
            "Commands, of which several may follow each other (n6build flash run); each has a --help",
            *(entry(name, what) for name, what in commands.items()),
        ]
    )
