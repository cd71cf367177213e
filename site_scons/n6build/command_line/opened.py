"""Build, and list the files that were opened on the way:

python -m n6build.command_line.opened LIST COMMAND [TARGET ...] [OPTION=VALUE ...]

The list comes from the interpreter, not from the records of the build: a file that no record knows is edited, too.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(target: str, *words: str) -> int:
    """Write one absolute path a line to `target`. Return the exit status of the build."""
    opened: set[str] = set()

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str):
            opened.add(str(Path.cwd() / arguments[0]))

    sys.addaudithook(note)
    # Modules are opened when they are imported.
    from n6build.command_line.main import carry_out

    status = carry_out(list(words))
    Path(target).write_text("\n".join(sorted(opened)), encoding="utf-8", errors="surrogateescape")
    return status


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
