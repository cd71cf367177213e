"""SCons tool: reads the options into N6_BOARD, N6_MODELS, N6_PROFILE, N6_PROBE, N6_GDB, N6_VERBOSE; help, lists, doctor."""

from __future__ import annotations

import os
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

from n6build.boards import board_names, load_board
from n6build.console import say, styled, without_colour
from n6build.errors import N6Error, did_you_mean
from n6build.models import load_model, model_names
from n6build.settings import OPTIONS, modes_of, resolve
from n6scons import only_informs, stop_with
from SCons.Script import ARGUMENTS, COMMAND_LINE_TARGETS, Dir, GetLaunchDir, Help

TARGETS = {
    "build": "everything that goes to flash, and the table of sizes (default)",
    "network": "stage 1 only: network.c, pool images, report",
    "check": "the pre-flight checks, which also run before flash",
    "reloc": "stage 2 only: network_rel.bin of every model (with loader=reloc)",
    "romfs": "the file system that option romfs describes, with its models",
    "hex": "one Intel hex file of the whole flash",
    "flash": "program what the board does not hold yet",
    "flash-all": "program everything, whatever the board is believed to hold",
    "flash-model": "program the models alone (with loader=reloc); with slots=2 into the slot that is not in use",
    "run": "boot the board, run the model on its test vectors, compare with the reference interpreter",
    "report": "one page about the build: memory, epochs, flash, checks, versions, what was rebuilt",
    "matrix": "every board with every model: build, check, flash (virtual), run; goes on after failures, ends with a table",
    "boards": "list the boards",
    "models": "list the models",
    "doctor": "which tools were found, what is missing and why it matters",
}

_HELP_WIDTH = 110


def generate(env: Any) -> None:
    env.AddMethod(_lists, "N6Lists")
    env.AddMethod(_check_targets, "N6CheckTargets")
    Help(_help(), append=False)
    try:
        settings = resolve(ARGUMENTS, os.environ, Path(Dir("#").abspath))
        if settings["no_color"].value == "1":
            without_colour()
        if only_informs():
            return
        board = load_board(settings["board"].value)
        names = settings["model"].value.split(",")
        models = tuple(load_model(name, relative_to=Path(GetLaunchDir())) for name in names)
        if settings["name"].value:
            models = _named(models, settings["name"].value)
        board.profile(settings["profile"].value)
        if settings["secure"].value == "0":
            board = replace(board, alias="non-secure")
        modes = modes_of(settings)
        if "max-speed" in modes:
            board = replace(board, clock=board.max_speed)
    except N6Error as error:
        stop_with(error)
    env.SetDefault(N6_BUILD="build")
    if settings["cache"].value:
        env.CacheDir(str(Path(settings["cache"].value).expanduser()))
    env.Replace(
        N6_BOARD=board,
        N6_MODELS=models,
        N6_BACKEND=settings["backend"].value,
        N6_PROFILE=settings["profile"].value,
        N6_LOADER=settings["loader"].value,
        N6_LOAD_MODE=settings["load"].value,
        N6_RELOC_SPLIT=settings["split"].value == "1",
        N6_RELOC_SECURE=settings["secure"].value == "1",
        N6_RELOC_SLOTS=int(settings["slots"].value),
        N6_RELOC_ADDRESSES=settings["addresses"].value,
        N6_RELOC_PARSE_ONLY=settings["parse_only"].value == "1",
        N6_RELOC_C_FILE=settings["gen_c_file"].value == "1",
        N6_ROMFS=_launched_path(settings["romfs"].value),
        N6_PROBE=settings["probe"].value,
        N6_MATRIX_BOARDS=settings["boards"].value,
        N6_MATRIX_MODELS=settings["models"].value,
        N6_SIGN=settings["sign"].value,
        N6_FLASH_DRY=settings["dry"].value == "1",
        N6_INPUTS=_launched_path(settings["inputs"].value),
        N6_EXPECTED=_launched_path(settings["expected"].value),
        N6_CONSOLE=settings["console"].value,
        N6_RUNS=int(settings["runs"].value or 0),
        N6_MODES=modes,
        N6_START=settings["start"].value,
        N6_GDB=settings["gdb"].value == "1",
        N6_RELOC_VERBOSITY=2 if settings["debug"].value == "1" else int(settings["verbosity"].value),
        N6_RELOC_LOG=_launched_path(settings["log"].value),
        N6_VERBOSE="1" in (settings["verbose"].value, settings["debug"].value) or settings["verbosity"].value == "2",
    )


def exists(env: Any) -> bool:
    return True


def _named(models: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    """The command line is stronger than model.yaml."""
    if len(models) > 1 or not name.isidentifier():
        what = f"'name={name}' names a single network, with letters, digits and _"
        raise N6Error("N6-OPTION-005", what, hint="network.name in each model.yaml names several")
    return (replace(models[0], network=replace(models[0].network, name=name)),)


def _launched_path(text: str) -> str:
    """Relative to where scons was called."""
    return str(Path(GetLaunchDir()) / text) if text else ""


def _help() -> str:
    lines = [
        "",
        "n6build: a neural network from its model file to a running STM32N6 board",
        "",
        "  scons [option=value ...] [target ...]",
        "",
    ]
    lines += ["Targets"]
    lines += [_entry(name, what) for name, what in TARGETS.items()]
    lines += [
        "",
        "Options (also from n6build.local.yaml, from settings.yaml in the user's n6build folder, from the environment)",
    ]
    for option in OPTIONS:
        default = f"; default {option.default}" if option.default else ""
        more = f" [{option.environment}]" if option.environment else ""
        lines.append(_entry(option.name, f"{option.help}{default}{more}"))
    lines += [
        "",
        "Useful switches: -n shows what would be done, -c cleans, -j2 builds in parallel, -Q is less chatty.",
        "",
    ]
    return "\n".join(lines)


def _entry(name: str, text: str) -> str:
    return textwrap.fill(text, _HELP_WIDTH, initial_indent=f"  {name:<13}", subsequent_indent=" " * 15)


def _lists(env: Any) -> bool:
    """Aliases boards, models and doctor. Returns whether nothing else was asked for."""
    for name, function in (("boards", _print_boards), ("models", _print_models), ("doctor", _print_doctor)):
        env.AlwaysBuild(env.Alias(name, [], env.Action(function, cmdstr=None)))
    return only_informs()


def _check_targets(env: Any, *names: str) -> None:
    """SCons would say that it does not know how to make the file; a mistyped target deserves the nearest name."""
    for target in COMMAND_LINE_TARGETS:
        if target not in TARGETS and target not in names and not Path(target).exists() and "/" not in target:
            stop_with(N6Error("N6-OPTION-003", f"no target '{target}'", hint=did_you_mean(target, TARGETS)))


def _print_boards(target: Any, source: Any, env: Any) -> None:
    for name in board_names():
        board = load_board(name)
        aliases = f" ({', '.join(board.aliases)})" if board.aliases else ""
        say(
            name,
            f"{board.title}{aliases}",
            f"{board.nor.size >> 20} MB NOR at {board.nor_clock_hz // 1_000_000} MHz; profiles {', '.join(board.profiles())}",
        )


def _print_models(target: Any, source: Any, env: Any) -> None:
    for name in model_names():
        model = load_model(name)
        quality = f"{model.quality.metric} {model.quality.value} on {model.quality.on}" if model.quality else ""
        say(name, model.description, quality)


def _print_doctor(target: Any, source: Any, env: Any) -> None:
    from n6build.doctor import examine

    for finding in examine():
        if finding.found:
            print(f"  {styled('found  ', 'good')} {finding.tool:<22}{finding.found:<20}{finding.why}")
        else:
            style = "bad" if finding.needed == "always" else "dim"
            print(
                f"  {styled('missing', style)} {finding.tool:<22}{finding.needed + ':':<20}{finding.why}; {finding.fix}"
            )
