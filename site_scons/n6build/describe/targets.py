"""The targets of a command line, besides files."""

from __future__ import annotations

import textwrap
from collections.abc import Collection

from n6build.base.errors import N6Error, did_you_mean

COMPILE_COMMANDS = "compile_commands.json"
TARGETS = {
    "build": "all images for the flash, and the table of sizes (default)",
    "network": "stage 1 only: network.c, images of the memory pools, report",
    "check": "the pre-flight checks, which also run before flash",
    "library": "the networks as libn6networks.a and linker symbols, for a program with its own main",
    "reloc": "stage 2 only: network_rel.bin of every model (with loader=reloc)",
    "romfs": "the file system of option romfs, with its models",
    "hex": "one Intel hex file of the whole flash",
    "mcuboot": "the Appli as an image that MCUboot copies to RAM and starts",
    "image": "stage 3 only: images with boot header, flash manifest, table of sizes",
    "flash": "program the sectors that differ on the board",
    "flash-all": "program all sectors, even those that n6build knows to be equal",
    "flash-model": "program only the models (with loader=reloc); with slots=2 into the unused slot",
    "recover": "send all images but the FSBL to a board that waits for them on its console (option recovery); only what "
    "the board lacks",
    "verify": "read back the flash, and list the sectors that differ from the flash manifest; does not write",
    "run": "boot the board, run the model on its test vectors, compare with the reference interpreter",
    "compare": "compare captured outputs of a board (option captured) with the reference interpreter, and name "
    "known causes of differences; needs no board and builds nothing",
    "field-report": "program and run the board once, and write a report file with facts that only a real board can "
    "show",
    "ladder": "with backend=neural_art: run small networks for the NPU on the board, from one unit to a whole "
    "network, until one differs; writes the result to a file, and to field-report",
    "time": "expected milliseconds of each epoch and of the whole inference, with their range, and possible "
    "improvements (clock, flash, board=all)",
    "report": "one page about the build: memory, epochs, flash, checks, versions, rebuilt files",
    COMPILE_COMMANDS: "compile commands of each C file, for editors and analysers",
    "merge-report": "sizes and memory, with changes against a base branch (option base), as Markdown for a merge "
    "request",
    "matrix": "every board with every model: build, check, flash (virtual), run; goes on after failures, ends with a table",
    "vscode": "tasks and debug configurations for VS Code (cortex-debug), added to .vscode/; keeps existing entries",
    "plan": "the steps of the build and their reasons, as text, plan.json and a picture; builds nothing",
    "boards": "list the boards",
    "models": "list the models",
    "doctor": "installed tools, missing tools, and their purposes; with probe=, the way to a board on a cable",
}

# Targets that work without a compiler.
LISTS = ("boards", "models", "doctor")
FLASHING = ("flash", "flash-all", "flash-model")
# Targets that read the console of a board, or send requests over it.
FIELD_REPORT, LADDER, RECOVER = "field-report", "ladder", "recover"
MCUBOOT = "mcuboot"
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
        what = "a plan covers one application, but target matrix builds several"
        raise N6Error("N6-OPTION-010", what, hint="omit matrix, and name board and model")
