"""The command `n6build clean`: removes the files that builds have made."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from n6build.base.console import only_errors, say
from n6build.base.files import cannot_write
from n6build.base.paths import project_path
from n6build.cli.arguments import CommandParser, add_build, add_quiet
from n6build.engine.ledger import FOLDER, ledger_path, read_ledger
from n6build.engine.lock import locked_build_folder
from n6build.engine.progress import say_kept

HELP = "removes all files that n6build made; keeps the memories of virtual boards, and other files"


def clean(words: Sequence[str]) -> None:
    """Remove the outputs of all steps that the build folder has records of.

    The board, the model and the options of these steps do not matter.

    Args:
        words: Words behind the command.

    Raises:
        N6Error: N6-OPTION-019 for unknown words; N6-FILE-001 for a file that cannot be removed.
    """
    options = clean_parser().parse_args(words)
    with only_errors(options.quiet):
        _clean(Path(project_path(options.build)))


def _clean(build: Path) -> None:
    if not (build / FOLDER).is_dir():
        say("Nothing", "to clean", f"n6build has built nothing in {build}")
        return
    lock = locked_build_folder(build)
    ledger = read_ledger(build)
    # A compiler's list of headers is beside its object.
    outputs = {
        Path(output + more) for entry in ledger.entries.values() for output in entry.outputs for more in ("", ".d")
    }
    removed = [path for path in sorted(outputs) if _is_inside(path, build) and _removed(path)]
    # Without these records, the next build makes all outputs again.
    for record in (ledger_path(build), build / FOLDER / "front", build / FOLDER / "plans"):
        _forget(record)
    say("Removed", f"{len(removed)} files", str(build))
    say_kept(build)
    os.close(lock)


def _is_inside(path: Path, build: Path) -> bool:
    """Return whether a build product is in the build folder.

    A product that was written elsewhere, such as a log, belongs to its user.
    """
    return ".." not in path.parts and path.is_relative_to(build)


def _removed(path: Path) -> bool:
    """Remove a file, and return whether it existed."""
    try:
        path.unlink()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    except OSError as error:
        raise cannot_write(path, error) from error
    return True


def _forget(record: Path) -> None:
    files = [*record.iterdir()] if record.is_dir() else [record]
    for file in files:
        with suppress(OSError):
            file.unlink()


def clean_parser() -> CommandParser:
    """Return the parser of the words behind `n6build clean`."""
    parser = CommandParser(prog="n6build clean", description=f"{HELP}.", allow_abbrev=False)
    add_build(parser)
    add_quiet(parser)
    return parser
