"""Command lines that behave like ST's tools: arguments, first lines, log and end."""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from n6build.base.console import show, without_colour
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.version import version

# ST's tools return -1, of which a parent process sees eight bits.
FAILED = 255
_INTERRUPTED = 130


class Log:
    """Lines for the console, which are also kept for a log file."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity = verbosity
        self.lines: list[str] = []

    def __call__(self, text: str, *, level: int = 0) -> None:
        """Keep a text for the log, and print it if the verbosity is at least its level."""
        self.lines.append(text)
        if level <= self._verbosity:
            show(f"{text}\n")


def parser_of(title: str, text: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help begins with the tool's title, as ST's does.

    Args:
        title: Title of the tool, in ST's words.
        text: Docstring of the module.
    """
    head = title.replace("(version ", "v").rstrip(")")
    return argparse.ArgumentParser(
        description=f"{head}\n\n{text}", formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_common_options(parser: argparse.ArgumentParser, log: str) -> None:
    """Add --log, --verbosity, --debug and --no-color to a parser.

    Args:
        parser: The parser.
        log: Name of the log file if none is given.
    """
    add = parser.add_argument
    add("--log", metavar="STR", nargs="?", const=log, help=f"log file (default: {log})")
    add("--verbosity", "-v", type=int, choices=(0, 1, 2), nargs="?", const=1, default=0, help="set verbosity level")
    add("--debug", action="store_true", help="enable internal log: as --verbosity 2")
    add("--no-color", action="store_true", help="disable color")


def run_tool(title: str, options: argparse.Namespace, make: Callable[[argparse.Namespace, Log], None]) -> int:
    """Print the first lines of the tool, do its work, and write its log file.

    Args:
        title: Title of the tool, in ST's words.
        options: Options, with those of `add_common_options`.
        make: Function that does the work.

    Returns:
        The exit status: 0, or FAILED after an error, which is printed to stderr; 130 after an
        interruption.
    """
    if sys.stdout is None:
        # The caller has closed stdout, but compilers need one. The lowest free descriptor is 1.
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
        setattr(sys, "__stdout__", sys.stdout)  # noqa: B010 - SCons reads it.
    # Names come from others' files: a terminal that lacks a letter gets a question mark, not a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if options.no_color:
        without_colour()
    log = Log(2 if options.debug else options.verbosity)
    status = 0
    try:
        log(title)
        log(f"Creating date : {time.ctime()}")
        log("")
        log(f"Tool           : n6build {version()}")
        make(options, log)
    except N6Error as error:
        sys.stdout.flush()
        sys.stderr.write(f"{error}\n")
        log.lines.append(str(error))
        status = FAILED
    except KeyboardInterrupt:
        status = _INTERRUPTED
    if options.log:
        try:
            write_atomically(Path(options.log), "\n".join(log.lines) + "\n")
        except N6Error as error:
            sys.stderr.write(f"{error}\n")
            status = FAILED
    return status


@contextmanager
def heard(log: Log) -> Iterator[None]:
    """Keep the output of steps and compilers for the log file.

    It is also shown with more verbosity, or if a step fails. Compilers write to descriptor 1,
    whichever stream sys.stdout is.
    """
    sys.stdout.flush()
    level = 0
    with tempfile.TemporaryFile() as file:
        console = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield
            level = 1
        finally:
            sys.stdout.flush()
            os.dup2(console, 1)
            os.close(console)
            file.seek(0)
            said = file.read().decode(errors="replace").rstrip("\n")
            if said:
                log(said, level=level)
