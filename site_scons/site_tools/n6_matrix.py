"""SCons tool n6_matrix: every board with every model.

env.N6Matrix(choices, plan_of) builds each pair on its own virtual board, and continues after
failures.

Construction variables: N6_MATRIX_BOARDS, N6_MATRIX_MODELS ('all', or names separated by commas),
N6_MATRIX_SHARD (the part that is built, None for all).
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.describe.choices import Choices
from n6build.engine.plan import Plan, joined
from n6scons import failing_build, in_top, last_words, may_write, reported
from SCons.Node import executed, up_to_date
from SCons.Script import GetBuildFailures, SetOption
from SCons.Script.Main import OptionsParser


@dataclass(frozen=True)
class _Pair:
    """A board with a model.

    Attributes:
        plan: Plan of this pair.
        run: Path of run.json.
        nodes: Nodes by output.
    """

    board: str
    model: str
    plan: Plan
    run: str
    nodes: dict[str, Any]


def generate(env: Any) -> None:
    """Add N6Matrix to the environment.

    SCons calls this for tools=['n6_matrix'], after n6.
    """
    env.AddMethod(in_top(_matrix), "N6Matrix")


def exists(env: Any) -> bool:
    """Return True, since the tool can always be used; SCons requires this function."""
    return True


def _matrix(env: Any, choices: Choices, plan_of: Callable[[Choices], Plan]) -> None:
    """Build every board with every model, and report the results at the end.

    Args:
        choices: Choices that all pairs share.
        plan_of: Function that returns the plan of one application, including its run.
    """
    from n6build.tell.figures import read_sizes
    from n6build.tell.matrix.shard_results import pairs_of

    with reported(env):
        whole = pairs_of(choices, env["N6_MATRIX_BOARDS"], env["N6_MATRIX_MODELS"])
        base = read_sizes(Path(choices.base)) if choices.base else None
    # Option -j on the command line takes precedence over SetOption().
    if not env["N6_REMOTE"]:
        SetOption("num_jobs", os.cpu_count() or 1)
    # A failing pair must not stop the others. SetOption() does not know this option.
    OptionsParser.values.keep_going = True
    shard = env["N6_MATRIX_SHARD"]
    planned = [(each, plan_of(each)) for each in (shard.part_of(whole) if shard else whole)]
    # One call makes the steps of all pairs, because each call checks the joined plan.
    with reported(env):
        nodes = env.N6Steps(joined([plan for _, plan in planned]))
    pairs = [
        _Pair(each.board, each.models[0], plan, plan.goals["run"][0], {path: nodes[path] for path in plan.makers})
        for each, plan in planned
    ]
    end = _End(env, choices, [(each.board, each.pair) for each in whole], pairs, base)
    env.AlwaysBuild(
        env.Alias("matrix", [pair.nodes[pair.run] for pair in pairs], env.Action(end.conclude, cmdstr=None))
    )
    if may_write():
        atexit.register(end.tell_of_failures)


class _End:
    """The conclusion of a matrix.

    It is part of the build, where regressions make it fail. If pairs have failed, it comes after
    the build.
    """

    def __init__(self, env: Any, choices: Choices, whole: list[tuple[str, str]], pairs: list[_Pair], base: Any) -> None:
        self._env, self._choices, self._whole, self._pairs, self._base = env, choices, whole, pairs, base
        self._told = False

    def conclude(self, target: list[Any], source: list[Any], env: Any) -> None:
        """Conclude the matrix, as an action of SCons.

        Raises:
            BuildError: There are regressions.
        """
        with failing_build(target[0], Path(self._env["N6_BUILD"])):
            self._tell()

    def tell_of_failures(self) -> None:
        """Conclude the matrix when the process ends, if the action was not reached."""
        if not self._told:
            with last_words():
                self._tell()

    def _tell(self) -> None:
        from n6build.tell.matrix.conclude import conclude

        self._told = True
        env, pairs = self._env, self._pairs
        sizes = [
            Path(path)
            for pair in pairs
            for path, node in pair.nodes.items()
            if path.endswith("/sizes.json") and _good(node)
        ]
        results = [_result(env, pair) for pair in pairs]
        folder = Path(env["N6_BUILD"]) / "matrix"
        conclude(folder, self._choices, self._whole, env["N6_MATRIX_SHARD"], results, sizes, self._base)


def _good(node: Any) -> bool:
    return node.get_state() in (executed, up_to_date)


def _result(env: Any, pair: _Pair) -> Any:
    from n6build.tell.matrix.result import pair_result

    failed = not _good(pair.nodes[pair.run])
    failures = [(str(each.node), str(each.errstr)) for each in GetBuildFailures()] if failed else []
    anew = {path for path, node in pair.nodes.items() if node.get_state() == executed}
    return pair_result(
        pair.board, pair.model, pair.plan, pair.run, env.N6Site().done, anew, failures if failed else None
    )
