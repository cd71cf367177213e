"""SCons tool: env.N6Options(arguments) -> what was chosen (options.choices.Choices), from the command line, the environment and
settings files; env.N6Answer(targets) for targets that only print information: lists, doctor."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from n6build.base.console import say, styled, without_colour
from n6build.base.environment import option_values
from n6build.options.choices import Choices, Invocation, choices_of
from n6build.options.option import chosen
from n6build.options.settings import OPTIONS, resolve
from n6build.options.targets import LISTS, TARGETS, check_targets
from n6scons import in_top, reported
from SCons.Script import Dir, GetLaunchDir, Help

_HELP_WIDTH = 110


def generate(env: Any) -> None:
    """Adds N6Options and N6Answer to the environment. SCons calls this for tools=['n6_options']."""
    env.AddMethod(in_top(_options), "N6Options")
    env.AddMethod(in_top(_answer), "N6Answer")


def exists(env: Any) -> bool:
    """Whether the tool can be used: always. SCons requires this function."""
    return True


def _options(env: Any, arguments: Mapping[str, str], folder: Any = None) -> Choices:
    """arguments: name -> value. An unknown option is an error, so give only those that are meant for n6build. folder: where
    relative paths in them start; None: where the command was typed."""
    with reported(env):
        settings = resolve(arguments, option_values(), Path(Dir("#").abspath))
        launched = Path(GetLaunchDir() if folder is None else env.Dir(folder).srcnode().get_abspath())
        invocation = chosen(Invocation, settings, launched)
        if invocation.no_color:
            without_colour()
        choices = choices_of(settings, launched)
    env.Replace(
        N6_CACHE=invocation.cache,
        N6_CMSIS=choices.cmsis,
        N6_EXPLAIN=invocation.explain,
        N6_MATRIX_BOARDS=invocation.boards,
        N6_MATRIX_MODELS=invocation.models,
        N6_VERBOSE=invocation.verbose or choices.verbosity == 2,
    )
    return choices


def _answer(env: Any, targets: Collection[str]) -> bool:
    """Whether only lists were asked for. A mistyped target is an error that names the nearest one."""
    Help(_help(), append=False)
    for name, function in (("boards", _print_boards), ("models", _print_models), ("doctor", _print_doctor)):
        env.AlwaysBuild(env.Alias(name, [], env.Action(function, cmdstr=None)))
    with reported(env):
        check_targets(targets, [name for name in targets if Path(name).exists()], explain=bool(env["N6_EXPLAIN"]))
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
        default = f"; default {option.default}" if option.default else ""
        more = f" [{option.environment}]" if option.environment else ""
        scope = f"{option.loader}: " if option.loader else ""
        lines.append(_entry(option.name, f"{scope}{option.help}{default}{more}"))
    lines += [
        "",
        "Useful switches: -n shows what would be done, -c cleans, -j2 builds in parallel, -Q is less chatty.",
        "",
    ]
    return "\n".join(lines)


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
    from n6build.doctor import examine, virtual_npu

    for finding in examine(env["N6_CMSIS"]):
        if finding.found:
            print(f"  {styled('found  ', 'good')} {finding.tool:<22}{finding.found:<20}{finding.why}")
        else:
            style = "bad" if finding.needed == "always" else "dim"
            print(
                f"  {styled('missing', style)} {finding.tool:<22}{finding.needed + ':':<20}{finding.why}; {finding.fix}"
            )
    print("\n".join(virtual_npu()))
