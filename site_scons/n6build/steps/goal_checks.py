"""Checks that the goals of a build and its options fit together.

Every rule has its own error, and the order of the rules decides which error is reported.
"""

from __future__ import annotations

from collections.abc import Collection

from n6build.base.errors import N6Error
from n6build.board.flash.receipt import VIRTUAL
from n6build.describe.choices import Choices
from n6build.describe.targets import FIELD_REPORT, FLASHING, LADDER, MCUBOOT, RECOVER, TALKING
from n6build.place.image.mcuboot import version_numbers

ALL_BOARDS = "all"


def check_goals(choices: Choices, goals: Collection[str]) -> None:
    """Check the combination of goals and choices.

    Raises:
        N6Error: N6-OPTION-006 to N6-OPTION-009, N6-OPTION-011 to N6-OPTION-013, N6-OPTION-015 to
            N6-OPTION-017, N6-TIME-004, N6-FIELD-001, N6-LADDER-003, N6-FLASH-023, N6-HOST-002,
            N6-MCUBOOT-001, N6-MCUBOOT-004, N6-MCUBOOT-005, N6-RECOVER-007, N6-RECOVER-008, N6-ROMFS-007 or N6-ROMFS-011
            if a combination has no effect or is not possible.
    """
    _check_flashing(choices, goals)
    if choices.firmware:
        _check_firmware(choices, goals)
    _check_programs(choices, goals)
    if choices.board == ALL_BOARDS and set(goals) - {"time", "network"}:
        raise N6Error("N6-TIME-004", "board=all only works with target time", hint="run scons time board=all")
    if FIELD_REPORT in goals and (choices.is_foreign or choices.program):
        what = "a field report needs n6build's own FSBL and Appli"
        raise N6Error("N6-FIELD-001", what, hint="remove options fsbl and appli")
    if LADDER in goals:
        check_ladder(choices, goals)
    if MCUBOOT in goals:
        _check_mcuboot(choices)
    if RECOVER in goals or choices.recovery == "on":
        _check_recovery(choices, goals)
    if not {*TALKING}.isdisjoint(goals):
        _check_run(choices)


def makes_appli(choices: Choices) -> bool:
    """Return whether the build makes the Appli, and not another project."""
    return not choices.appli and (choices.program is None or bool(choices.program.sources))


def _check_mcuboot(choices: Choices) -> None:
    """Reject an image of another Appli or in the clear, and an impossible version."""
    if not makes_appli(choices):
        what = "target mcuboot makes an image of n6build's own Appli"
        hint = "remove option appli, or sign that program with MCUboot's imgtool"
        raise N6Error("N6-MCUBOOT-004", what, hint=hint)
    if choices.encrypt_key:
        what = "'encrypt_key' does not encrypt images for MCUboot"
        raise N6Error("N6-MCUBOOT-005", what, hint="remove encrypt_key, or encrypt the image with imgtool")
    version_numbers(choices.mcuboot_version)


def _check_flashing(choices: Choices, goals: Collection[str]) -> None:
    """Reject goals that program a part that is kept or does not exist."""
    if "no-flash" in choices.modes and not {*FLASHING}.isdisjoint(goals):
        raise N6Error("N6-OPTION-008", "mode=no-flash programs nothing", hint="remove the flash targets")
    if choices.dry and "run" in goals and "no-flash" not in choices.modes:
        what = "dry=1 programs nothing, so 'run' would run the old programs"
        raise N6Error("N6-OPTION-006", what, hint="add mode=no-flash, if you want that")
    if choices.loader != "reloc" and "flash-model" in goals:
        raise N6Error(
            "N6-FLASH-023", "the network is linked into the Appli", hint="set loader=reloc, or run scons flash"
        )
    if choices.appli and {"flash-model"} & set(goals):
        raise N6Error(
            "N6-FLASH-023", "the Appli is a third-party program", hint="remove option appli, or run scons flash"
        )


def _check_recovery(choices: Choices, goals: Collection[str]) -> None:
    """Reject another FSBL, and a recovery over no console."""
    if choices.fsbl:
        what = "recovery needs n6build's own FSBL: another one does not wait for a release"
        raise N6Error("N6-RECOVER-007", what, hint="remove option fsbl")
    if RECOVER in goals and choices.probe == "auto" and not choices.console:
        what = "target recover needs the serial port of the board"
        raise N6Error("N6-RECOVER-008", what, hint="set console=/dev/ttyACM0, probe=SERIAL_NUMBER or probe=virtual")


def _check_programs(choices: Choices, goals: Collection[str]) -> None:
    """Reject a file system without description, and an impossible loader."""
    if "romfs" in goals and not choices.romfs:
        what = "target romfs needs the description of a file system"
        raise N6Error("N6-ROMFS-007", what, hint="add romfs=romfs_config.json")
    program = choices.program
    if choices.loader == "reloc" and program is not None and not program.elf:
        what = f"'{program.name}' links its networks, but loader=reloc installs them from flash"
        raise N6Error("N6-HOST-002", what, hint="set loader=linked")


def _check_firmware(choices: Choices, goals: Collection[str]) -> None:
    """Check that option firmware is used only for models of another firmware.

    Other goals are rejected with N6-ROMFS-011.
    """
    others = sorted(goal for goal in {*goals} - {"romfs", "reloc", "network"} if "/" not in goal)
    if not goals or others or ("reloc" in goals and choices.loader != "reloc"):
        what = f"'firmware={choices.firmware}' is only for the models of another firmware"
        what += f", but target {others[0]} makes n6build's own" if others else ""
        hint = "run scons romfs=romfs_config.json romfs, or scons loader=reloc reloc"
        raise N6Error("N6-ROMFS-011", what, hint=hint)


def check_ladder(choices: Choices, goals: Collection[str]) -> None:
    """Check that all goals and options fit target ladder.

    Raises:
        N6Error: N6-LADDER-003 if a goal or option does not fit.
    """
    if choices.backend != "neural_art":
        what = "target ladder needs backend neural_art, which is never selected automatically"
        raise N6Error("N6-LADDER-003", what, hint="add backend=neural_art")
    others = {
        **{f"target {each}": True for each in sorted(set(goals) - {LADDER, *FLASHING})},
        "fsbl, appli or a program": choices.is_foreign,
        "loader=reloc": choices.loader == "reloc",
        "option trust": choices.trust != "off",
        "dry=1": choices.dry,
        "inputs, expected or runs": choices.inputs or choices.expected or choices.runs,
        "epochs, trace, until, audio, audio_out or gdb": choices.epochs
        or choices.trace != "none"
        or choices.until
        or choices.audio
        or choices.audio_out
        or choices.gdb,
        "option mode": {"no-flash", "no-run"} & set(choices.modes),
    }
    for name, given in others.items():
        if given:
            what = f"target ladder runs its own networks, so it does not accept {name}"
            raise N6Error(
                "N6-LADDER-003", what, hint="run scons backend=neural_art ladder, with options board and probe only"
            )


def runs_until(choices: Choices) -> bool:
    """Return True if a run only watches a program.

    This is so for a third-party program, or with option until.
    """
    return bool(choices.appli or choices.program or choices.until or choices.frames)


def _check_debugger(choices: Choices) -> None:
    """Reject options that have no effect with gdb=1 on a real board.

    A debugger takes the place of the run there.
    """
    wanted = {
        "inputs": choices.inputs,
        "expected": choices.expected,
        "runs": choices.runs,
        "until": choices.until,
        "audio": choices.audio,
        "audio_out": choices.audio_out,
        "camera": choices.camera,
        "unplug": choices.unplug,
        "display": choices.display,
        "frames": choices.frames,
        "fuses": choices.fuses,
        "harsh": choices.harsh,
        "epochs": choices.epochs,
        "trace": choices.trace != "none",
        "mode=no-run": "no-run" in choices.modes,
    }
    for name, value in wanted.items():
        if value:
            what = f"with 'gdb=1' on a real board, only the debugger starts programs, so '{name}' has no effect"
            raise N6Error("N6-OPTION-009", what, hint=f"remove {name}")


def _check_run(choices: Choices) -> None:
    is_virtual = choices.probe == VIRTUAL
    if choices.gdb and not is_virtual:
        _check_debugger(choices)
        return
    only_virtual = (
        (choices.trace != "none", "N6-OPTION-016", f"trace={choices.trace}", "a real board does not record this"),
        (choices.fuses, "N6-OPTION-023", "fuses", "the fuses of a chip stay as they are"),
        (choices.harsh, "N6-OPTION-024", "harsh", "a real board is as harsh as it is"),
    )
    for given, code, option, why in only_virtual:
        if given and not is_virtual:
            what = f"'{option}' only works on the virtual board: {why}"
            raise N6Error(code, what, hint=f"set probe=virtual, or remove {option}")
    seen = {"camera": choices.camera, "display": choices.display}
    for name in (name for name, value in seen.items() if value and not (is_virtual and runs_until(choices))):
        what = f"'{name}' needs the virtual board, and a program with a {name}"
        raise N6Error("N6-OPTION-025", what, hint=f"set probe=virtual and appli, or remove {name}")
    if choices.unplug and not choices.camera:
        raise N6Error("N6-OPTION-025", "'unplug' needs a camera", hint="set camera, or remove unplug")
    if runs_until(choices):
        _check_watched(choices, is_virtual=is_virtual)
    else:
        _check_vectors(choices, is_virtual=is_virtual)


def _check_watched(choices: Choices, *, is_virtual: bool) -> None:
    """Reject options that have no effect on a run that only watches a program."""
    if not is_virtual and "no-run" not in choices.modes:
        what = "a third-party program, or a run with 'until', only runs on the virtual board"
        raise N6Error("N6-OPTION-012", what, hint="set probe=virtual, or mode=no-run to start it on this board")
    if (choices.audio or choices.audio_out) and not is_virtual:
        raise _needs_virtual_sound(choices)
    if choices.inputs or choices.expected or choices.runs:
        what = "'inputs', 'expected' and 'runs' need n6build's Appli, and a run to its end"
        raise N6Error("N6-OPTION-013", what, hint="remove them, or options appli and until")


def _needs_virtual_sound(choices: Choices) -> N6Error:
    name = "audio" if choices.audio else "audio_out"
    what = f"'{name}' needs the virtual board, and the test vectors in flash"
    return N6Error("N6-OPTION-015", what, hint="set probe=virtual, and remove inputs, expected and runs")


def _check_vectors(choices: Choices, *, is_virtual: bool) -> None:
    """Reject options that do not fit the source of the test vectors.

    They come over the link to the board, or are in its flash.
    """
    linked = bool(choices.inputs or choices.expected or choices.runs) or not is_virtual
    if (choices.inputs or choices.expected) and len(choices.models) > 1:
        what = "'inputs' and 'expected' are for a single network"
        raise N6Error("N6-OPTION-007", what, hint="remove them, or name a single model")
    if choices.gdb and linked:
        what = "'gdb=1' needs the test vectors in flash"
        raise N6Error("N6-OPTION-009", what, hint="remove inputs, expected and runs")
    if (choices.audio or choices.audio_out) and linked:
        raise _needs_virtual_sound(choices)
    if choices.epochs and (linked or choices.gdb or choices.audio or choices.audio_out):
        what = "'epochs=1' needs the virtual board, and the test vectors in flash"
        raise N6Error(
            "N6-OPTION-017", what, hint="set probe=virtual; remove inputs, expected, runs, gdb, audio and audio_out"
        )
    if choices.start == "ram" and is_virtual and not choices.pair:
        raise N6Error("N6-OPTION-011", "'start=ram' needs a real board", hint="remove start=ram")
