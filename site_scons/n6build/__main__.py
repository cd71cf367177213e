"""The command `n6build`, also called as `python -m n6build`.

    n6build flash run model=keyword probe=virtual
    n6build plan --write plan.json model=keyword

It works in the folder in which it is called. Exit status: 0, 2 with the error on stderr, 130 after
an interruption, or 141 if the reader of its output has gone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from n6build.engine.ask import COMMAND, answer, tell


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `n6build`.

    Args:
        arguments: Words of the command line; None for those of this process.

    Returns:
        Exit status: 0, 2 after an error, which is printed, 130 after an interruption, or 141 if the
        reader of the output has gone.
    """
    told = answer([COMMAND, *sys.argv[1:]]) if arguments is None else None
    if told is not None and tell(told):
        return 0
    from n6build.cli.main import carry_out

    return carry_out(list(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    raise SystemExit(main())
