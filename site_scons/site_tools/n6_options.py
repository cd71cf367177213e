"""SCons tool: env.N6Options(arguments) -> what was chosen (options.choices.Choices), from the command line, the environment and
settings files; env.N6Answer(targets) for what only informs: help, lists, doctor."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from n6build.base.console import say, styled, without_colour
from n6build.base.environment import option_values
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.members import modules_matching
from n6build.base.paths import ROOT
from n6build.options.choices import Choices, choices_of
from n6build.options.settings import OPTIONS, resolve
from n6scons import stop_with
from SCons.Script import Dir, GetLaunchDir, Help

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
    "plan": "what would be done and why, as text, as plan.json and as a picture; nothing is built",
    "boards": "list the boards",
    "models": "list the models",
    "doctor": "which tools were found, what is missing and why it matters",
}

# Work where a compiler is missing.
LISTS = ("boards", "models", "doctor")
_HELP_WIDTH = 110


def generate(env: Any) -> None:
    env.AddMethod(_options, "N6Options")
    env.AddMethod(_answer, "N6Answer")


def exists(env: Any) -> bool:
    return True


def _options(env: Any, arguments: Mapping[str, str]) -> Choices:
    """arguments: name -> value. An option that is not known is an error: give those that are meant for n6build."""
    Help(_help(), append=False)
    try:
        settings = resolve(arguments, option_values(), Path(Dir("#").abspath))
        if settings["no_color"].value == "1":
            without_colour()
        choices = choices_of(settings, Path(GetLaunchDir()))
    except N6Error as error:
        stop_with(error, env["N6_BUILD"])
    env.Replace(
        N6_CACHE=settings["cache"].value,
        N6_EXPLAIN=settings["explain"].value,
        N6_MATRIX_BOARDS=settings["boards"].value,
        N6_MATRIX_MODELS=settings["models"].value,
        N6_VERBOSE="1" in (settings["verbose"].value, settings["debug"].value) or choices.verbosity == 2,
    )
    return choices


def _answer(env: Any, targets: Collection[str]) -> bool:
    """Whether nothing but lists was asked for: they are targets then. A mistyped target ends with the nearest name."""
    for name, function in (("boards", _print_boards), ("models", _print_models), ("doctor", _print_doctor)):
        env.AlwaysBuild(env.Alias(name, [], env.Action(function, cmdstr=None)))
    for target in targets:
        # SCons would say that it does not know how to make the file.
        if target not in TARGETS and not Path(target).exists() and "/" not in target:
            stop_with(
                N6Error("N6-OPTION-003", f"no target '{target}'", hint=did_you_mean(target, TARGETS)), env["N6_BUILD"]
            )
    if "matrix" in targets and ("plan" in targets or env["N6_EXPLAIN"]):
        what = "a plan is of one application, target matrix builds many"
        stop_with(N6Error("N6-OPTION-010", what, hint="omit matrix, and name board and model"), env["N6_BUILD"])
    return bool(targets) and set(LISTS).issuperset(targets)


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
        help = option.help.replace("{programmers}", ", ".join(_programmers()))
        default = f"; default {option.default}" if option.default else ""
        more = f" [{option.environment}]" if option.environment else ""
        lines.append(_entry(option.name, f"{help}{default}{more}"))
    lines += [
        "",
        "Useful switches: -n shows what would be done, -c cleans, -j2 builds in parallel, -Q is less chatty.",
        "",
    ]
    return "\n".join(lines)


def _programmers() -> list[str]:
    """Their modules have their names. They are not imported for a help that nobody may ask for."""
    modules = modules_matching("n6build.flash.programmers.*", {"n6build": str(ROOT / "site_scons" / "n6build")})
    return [name.rpartition(".")[2] for name in modules]


def _entry(name: str, text: str) -> str:
    return textwrap.fill(text, _HELP_WIDTH, initial_indent=f"  {name:<13}", subsequent_indent=" " * 15)


def _print_boards(target: Any, source: Any, env: Any) -> None:
    from n6build.hardware.boards import board_names, load_board

    for name in board_names():
        board = load_board(name)
        aliases = f" ({', '.join(board.aliases)})" if board.aliases else ""
        say(
            name,
            f"{board.title}{aliases}",
            f"{board.nor.size >> 20} MB NOR at {board.nor_clock_hz // 1_000_000} MHz; profiles {', '.join(board.profiles())}",
        )


def _print_models(target: Any, source: Any, env: Any) -> None:
    from n6build.models.model import load_model, model_names

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
