"""The choice of a command by the first words of a call, and its exit status."""

from __future__ import annotations

import errno
import importlib
import io
import os
import select
import sys

from n6build.base.caller import N6BUILD, called_as
from n6build.base.environment import is_asked_to_complete
from n6build.base.errors import N6Error
from n6build.base.files import cannot_write
from n6build.base.requirements import check_python, missing_package

# Commands that are no targets of a build, with their functions.
_OWN_COMMANDS = {
    "adopt": "n6build.cli.adopt:adopt",
    "clean": "n6build.cli.clean:clean",
    "embed": "n6build.cli.embed:embed",
    "explain": "n6build.cli.explain:explain",
    "flash-algorithm": "n6build.cli.flash_algorithm:flash_algorithm",
    "fuses": "n6build.cli.fuses:fuses",
    "matrix-merge": "n6build.cli.matrix_merge:matrix_merge",
    "new": "n6build.cli.new:new",
    "probe-server": "n6build.cli.probe_server:probe_server",
    "prove": "n6build.cli.prove:prove",
    "survey": "n6build.cli.survey:survey",
}


def carry_out(words: list[str]) -> int:
    """Carry out a call of n6build; return the exit status of `n6build.__main__.main`."""
    # Names come from models and folders: a terminal that lacks a letter gets a question mark, not a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        check_python()
        with called_as(N6BUILD):
            return _ended(words)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{missing_package(error)}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: finished steps are kept, and the same call continues\n")
        return 130
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
        return 141
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"{cannot_write(None, error)}\n")
        return 2


def _ended(words: list[str]) -> int:
    """Carry out a command, and return its exit status.

    An error is printed, with calls of this program in its hints.
    """
    try:
        _begin(words)
    except N6Error as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _reader_is_gone() -> bool:
    """Return whether the reader of stdout, such as `head`, has gone.

    Then stdout is replaced, because Python would complain once more when it ends.
    """
    pipe = select.poll()
    pipe.register(sys.stdout, 0)
    if not pipe.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


def _begin(words: list[str]) -> None:
    command, *rest = words or [""]
    if is_asked_to_complete():
        from n6build.cli.completion import answer

        answer()
    elif command == "--print-completion":
        from n6build.cli.completion import script

        print(script(rest[0] if rest else ""), flush=True)
    elif command in ("-h", "--help", "help"):
        from n6build.cli.overview import help_text

        print(help_text(rest), flush=True)
    elif command == "--version":
        from n6build.base.version import version

        print(f"n6build {version()}", flush=True)
    elif command in ("--makefile", "--cmake-dir", "--include-dir", "--scons-dir"):
        from n6build.cli.host_files import PLACES

        print(PLACES[command], flush=True)
    elif not _is_own_command(command, rest):
        from n6build.cli.arguments import read_call
        from n6build.cli.build import carry_out

        carry_out(read_call(words))


def _is_own_command(command: str, rest: list[str]) -> bool:
    """Carry out a command that is no target of a build; return whether it is one.

    Only its own module is loaded.
    """
    if command not in _OWN_COMMANDS:
        return False
    module, function = _OWN_COMMANDS[command].split(":")
    getattr(importlib.import_module(module), function)(rest)
    return True
