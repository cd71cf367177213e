"""The targets of a command line, besides files."""

from __future__ import annotations

import textwrap
from collections.abc import Collection

from n6build.base.errors import N6Error, did_you_mean

COMPILE_COMMANDS = "compile_commands.json"
TARGETS = {
    "build": "everything that goes to flash, and the table of sizes (default)",
    "network": "stage 1 only: network.c, pool images, report",
    "check": "the pre-flight checks, which also run before flash",
    "library": "the networks as libn6networks.a and linker symbols, for a program with a main of its own",
    "reloc": "stage 2 only: network_rel.bin of every model (with loader=reloc)",
    "romfs": "the file system that option romfs describes, with its models",
    "hex": "one Intel hex file of the whole flash",
    "image": "stage 3 only: images with boot header, flash manifest, table of sizes",
    "flash": "program what the board does not hold yet",
    "flash-all": "program everything, whatever the board is believed to hold",
    "flash-model": "program the models alone (with loader=reloc); with slots=2 into the slot that is not in use",
    "verify": "read back all that the flash manifest names, and say which sectors of the board differ; writes nothing to it",
    "run": "boot the board, run the model on its test vectors, compare with the reference interpreter",
    "compare": "how far a board is from the reference interpreter: its captured outputs (option captured), and which known cause "
    "explains them; needs no board and builds nothing",
    "field-report": "programs and runs the board once, and writes what only a real board knows into one file, to send or to keep",
    "ladder": "with backend=neural_art: small networks for the NPU, from one unit to a whole network, one after the other on the "
    "board until one differs; what that tells goes into a file, and into field-report",
    "time": "expected milliseconds of each epoch and in all, with their range, and what would help (clock, flash, board=all)",
    "report": "one page about the build: memory, epochs, flash, checks, versions, what was rebuilt",
    COMPILE_COMMANDS: "how each C file is compiled, for editors and analysers",
    "merge-report": "sizes and memory with the change against a base branch (option base), as Markdown for a merge request",
    "matrix": "every board with every model: build, check, flash (virtual), run; goes on after failures, ends with a table",
    "vscode": "tasks and debug configurations for VS Code (cortex-debug), added to .vscode/ without changing what is there",
    "plan": "what would be done and why, as text, as plan.json and as a picture; nothing is built",
    "boards": "list the boards",
    "models": "list the models",
    "doctor": "which tools were found, what is missing and why it matters",
}

# Targets that work without a compiler.
LISTS = ("boards", "models", "doctor")
FLASHING = ("flash", "flash-all", "flash-model")
# Targets that read the console of a board, or send requests over it.
FIELD_REPORT, LADDER = "field-report", "ladder"
TALKING = ("run", FIELD_REPORT, LADDER)
ON_A_BOARD = (*FLASHING, "verify", *TALKING)

_HELP_WIDTH = 110


def entry(name: str, what: str) -> str:
    """Return a name and its meaning, in the columns of a help text."""
    return textwrap.fill(what, _HELP_WIDTH, initial_indent=f"  {name:<12} ", subsequent_indent=" " * 15)


def check_targets(targets: Collection[str], files: Collection[str], *, explain: bool) -> None:
    """Check the targets of a call.

    Args:
        targets: Targets and files.
        files: Those targets that exist as files.
        explain: Whether option explain is given.

    Raises:
        N6Error: N6-OPTION-003 for an unknown target, with the nearest name; N6-OPTION-010 for a
            plan of a matrix.
    """
    for target in targets:
        # Without this error, SCons would report that it does not know how to make the file.
        if target not in TARGETS and target not in files and "/" not in target:
            raise N6Error("N6-OPTION-003", f"no target '{target}'", hint=did_you_mean(target, TARGETS))
    if "matrix" in targets and ("plan" in targets or explain):
        what = "a plan covers one application, but target matrix builds many"
        raise N6Error("N6-OPTION-010", what, hint="omit matrix, and name board and model")
