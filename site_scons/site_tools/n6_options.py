"""SCons tool n6_options: options, lists, and builds without a database.

env.N6Options(arguments) returns `Choices`, and env.N6Answer(targets) prints lists. env.N6Database()
is for a project that only n6build builds: SCons keeps no database there, and calls with nothing to
do are answered early (n6_front).
"""

from __future__ import annotations

import atexit
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import n6_database
from n6_front import listen
from n6build.base.console import without_colour
from n6build.base.environment import option_values
from n6build.base.uses import distrust_earlier_builds
from n6build.describe.choices import Choices, choices_of
from n6build.describe.invocation import Invocation
from n6build.describe.option import chosen, described
from n6build.describe.project_settings import OPTIONS, check_effect, check_files, resolve
from n6build.describe.targets import LISTS, TARGETS, check_targets, entry
from n6build.engine.progress import say_kept
from n6scons import failing_build, in_top, last_words, may_write, reported
from SCons.Script import BUILD_TARGETS, Dir, GetLaunchDir, GetOption, Help, SConsignFile


def generate(env: Any) -> None:
    """Add N6Options, N6Answer and N6Database to the environment.

    SCons calls this for tools=['n6_options'].
    """
    env.AddMethod(in_top(_options), "N6Options")
    env.AddMethod(in_top(_answer), "N6Answer")
    env.AddMethod(in_top(_database), "N6Database")


def exists(env: Any) -> bool:
    """Return True, since the tool can always be used; SCons requires this function."""
    return True


def _options(env: Any, arguments: Mapping[str, str], folder: Any = None) -> Choices:
    """Return the choices of a build from its options.

    Args:
        arguments: Name -> value. An unknown option is an error, so pass only options of n6build.
        folder: Folder where relative paths in the arguments start; None for the folder in which the
            command was typed.
    """
    with reported(env):
        settings = resolve(arguments, option_values(), Path(Dir("#").abspath))
        launched = Path(GetLaunchDir() if folder is None else env.Dir(folder).srcnode().get_abspath())
        invocation = chosen(Invocation, settings, launched)
        if invocation.no_color:
            without_colour()
        if invocation.paranoid:
            distrust_earlier_builds()
        choices = choices_of(settings, launched)
    env.Replace(
        N6_ADOPT=invocation.adopt,
        N6_SETTINGS=settings,
        N6_BOARD=choices.board,
        N6_LAUNCHED=launched,
        N6_CACHE=invocation.cache,
        N6_CACHE_WRITE=invocation.cache_write,
        N6_CACHE_LIMIT=invocation.cache_limit,
        N6_CMSIS=choices.cmsis,
        N6_EXPLAIN=invocation.explain,
        N6_FRONT=invocation.front and not invocation.paranoid,
        N6_MATRIX_BOARDS=invocation.boards,
        N6_MATRIX_MODELS=invocation.models,
        N6_MATRIX_SHARD=invocation.shard,
        N6_REMOTE=invocation.remote,
        N6_VERBOSE=invocation.verbose or choices.verbosity == 2,
    )
    return choices


def _answer(env: Any, targets: Collection[str]) -> bool:
    """Return whether the call only prints lists or adopts a project.

    The call then does nothing else. A mistyped target is an error that names the nearest one.
    """
    if GetOption("help"):
        Help(_help(), append=False)
    for name in LISTS if set(LISTS) & {*targets} else ():
        env.AlwaysBuild(env.Alias(name, [], env.Action(_print, cmdstr=None)))
    with reported(env):
        check_targets(targets, [name for name in targets if Path(name).exists()], explain=bool(env["N6_EXPLAIN"]))
        check_effect(env["N6_SETTINGS"], targets)
        check_files(env["N6_SETTINGS"], env["N6_LAUNCHED"])
    if env["N6_ADOPT"]:
        BUILD_TARGETS[:] = env.AlwaysBuild(env.Alias("adopt", [], env.Action(_print, cmdstr=None)))
        return True
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
    lines += [entry(name, what) for name, what in TARGETS.items()]
    lines += [
        "",
        "Options (also from n6build.local.yaml, from settings.yaml in your n6build folder, and from the environment)",
    ]
    for option in OPTIONS:
        lines.append(entry(option.name, described(option)))
    lines += [
        "",
        "Useful switches: -n only shows the steps, -c cleans, -j2 builds in parallel, -Q prints less.",
        "",
    ]
    return "\n".join(lines)


def _print(target: Any, source: Any, env: Any) -> None:
    from n6build.cli.adopt import adopt
    from n6build.cli.lists import desk_of, print_list

    with failing_build(target[0], Path(env["N6_BUILD"])):
        desk = desk_of(env["N6_SETTINGS"], env["N6_CMSIS"])
        adopt([env["N6_ADOPT"]]) if env["N6_ADOPT"] else print_list(str(target[0]), desk)


def _database(env: Any) -> None:
    if GetOption("clean") and may_write():
        # The build folder of another project may hold files that n6build has not made.
        atexit.register(_at_the_end, Path(env["N6_BUILD"]))
    SConsignFile("", n6_database)
    listen(env)


def _at_the_end(build: Path) -> None:
    with last_words():
        say_kept(build)
