"""Messages about steps on the console and in last_error.json, while a build runs."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from n6build.base.console import line, printable, say, show
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.engine.ledger import FOLDER
from n6build.engine.perform import Site
from n6build.engine.step import Step

LAST_ERROR = "last_error.json"


def shown_line(step: Step, *, verbose: bool, verb: str = "") -> str:
    """Return the line for a step, empty for a quiet one.

    Args:
        step: The step.
        verbose: Whether to show whole commands.
        verb: Verb in place of the step's own, for a step that is not done here.
    """
    if step.quiet:
        return ""
    if verbose and step.command and not verb:
        from n6build.engine.command import shown_command  # noqa: PLC0415 - as below.

        return printable(shown_command(step))
    return line(verb or step.verb, step.sources[0] if step.stage == "compile" and step.sources else step.name)


def announce_lines(site: Site, *, verbose: bool) -> None:
    """Show the steps of this site on the console as they are done.

    Args:
        site: The site.
        verbose: Whether to show whole commands.
    """
    site.announce = lambda step, verb: show(shown_line(step, verbose=verbose, verb=verb))


def say_times(site: Site) -> None:
    """Print the duration of the build and of its stages.

    Nothing is printed if no step was done.
    """
    done = [*site.done, *site.failed]
    if not done:
        return
    times: dict[str, float] = {}
    for step in done:
        times[step.stage] = times.get(step.stage, 0.0) + step.seconds
    parts = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in times.items())
    say("Time", f"{time.monotonic() - site.began:.2f} s", f"of which {parts}")


def say_kept(build: Path) -> None:
    """Print the files that are still in the build folder after it was cleaned."""
    for path, why in tidied(build):
        say("Kept", path, why)


def forget_error(build: Path) -> None:
    """Remove the error of an earlier call.

    This call has to have the build folder for itself by now.

    Args:
        build: Folder of all build products.
    """
    with suppress(OSError):
        (build / LAST_ERROR).unlink(missing_ok=True)


def note_error(error: N6Error, build: Path) -> None:
    """Write the error to last_error.json, since the exit status is 2 for any error.

    If that cannot be written, the error that is printed has to do.

    Args:
        error: The error.
        build: Folder of all build products.
    """
    with suppress(N6Error):
        write_atomically(build / LAST_ERROR, to_json(error.as_dict()))


# Files that no step makes.
_BESIDE_STEPS = (LAST_ERROR, "plan.json", "plan.svg")
_WHY = {"virtual_board": "memories of the virtual boards", FOLDER: "records and the lock of builds"}


def tidied(build: Path) -> list[tuple[str, str]]:
    """Remove files that no step makes, and folders that have become empty.

    Args:
        build: Folder of all build products.

    Returns:
        Path and reason of all that stays in the folder.
    """
    for name in _BESIDE_STEPS:
        (build / name).unlink(missing_ok=True)
    for folder, _, _ in os.walk(build, topdown=False):
        with suppress(OSError):  # Folders that are not empty stay.
            os.rmdir(folder)
    if not build.is_dir():
        return []
    left = sorted(path.name for path in build.iterdir())
    return [(f"{build.name}/{name}", _WHY.get(name, "of other builds")) for name in left]
