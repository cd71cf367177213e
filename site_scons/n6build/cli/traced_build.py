"""A build that also lists the files that it opens.

    python -m n6build.cli.traced_build LIST COMMAND [TARGET ...] [OPTION=VALUE ...]

The list comes from the interpreter, not from the records of the build, so that `n6build prove` also
edits files that no record knows.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(target: str, *words: str) -> int:
    """Build, and write the path of each opened file to a list.

    Args:
        target: File for the list, which has one absolute path a line.
        *words: Words of the call of n6build.

    Returns:
        Exit status of the build.
    """
    opened: set[str] = set()

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str):
            opened.add(str(Path.cwd() / arguments[0]))

    sys.addaudithook(note)
    # Modules are opened when they are imported.
    from n6build.cli.main import carry_out

    status = carry_out(list(words))
    Path(target).write_text("\n".join(sorted(opened)), encoding="utf-8", errors="surrogateescape")
    return status


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
