"""SCons tool: env.N6Matrix(choices, plan_of) builds every board with every model, each on its own virtual board, and
continues after failures.

Construction variables: N6_MATRIX_BOARDS, N6_MATRIX_MODELS ('all', or names separated by commas).
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.console import say, show
from n6build.base.files import write_atomically
from n6build.options.choices import Choices
from n6build.plan.plan import Plan
from n6scons import in_top, may_write, reported
from SCons.Node import executed, up_to_date
from SCons.Script import GetBuildFailures, SetOption
from SCons.Script.Main import OptionsParser


@dataclass(frozen=True)
class _Pair:
    """plan: of this pair. run: run.json. nodes: by output."""

    board: str
    model: str
    plan: Plan
    run: str
    nodes: dict[str, Any]


def generate(env: Any) -> None:
    """Adds N6Matrix to the environment. SCons calls this for tools=['n6_matrix'], after n6."""
    env.AddMethod(in_top(_matrix), "N6Matrix")


def exists(env: Any) -> bool:
    """Whether the tool can be used: always. SCons requires this function."""
    return True


def _matrix(env: Any, choices: Choices, plan_of: Callable[[Choices], Plan]) -> None:
    """plan_of: makes the plan of one application, including its run."""
    from n6build.matrix.pairs import pairs_of
    from n6build.report.figures import read_sizes

    with reported(env):
        wanted = pairs_of(choices, env["N6_MATRIX_BOARDS"], env["N6_MATRIX_MODELS"])
        base = read_sizes(Path(choices.base)) if choices.base else None
    # -j on the command line takes precedence.
    if not env["N6_REMOTE"]:
        SetOption("num_jobs", os.cpu_count() or 1)
    # A failing pair must not stop the others. SetOption() does not know this option.
    OptionsParser.values.keep_going = True
    pairs = []
    for each in wanted:
        plan = plan_of(each)
        pairs.append(_Pair(each.board, each.models[0], plan, plan.goals["run"][0], env.N6Steps(plan)))
    env.AlwaysBuild(env.Alias("matrix", [pair.nodes[pair.run] for pair in pairs]))
    if may_write():
        atexit.register(_tell, env, Path(env["N6_BUILD"]) / "matrix", pairs, base)


def _tell(env: Any, folder: Path, pairs: list[_Pair], base: Any) -> None:
    from n6build.base.version import version
    from n6build.matrix.result import read_results, results_json, rows_of
    from n6build.matrix.show import matrix_junit, page, table
    from n6build.report.figures import SizesFile, read_sizes
    from n6build.steps.merge_report import write_merge_report

    results = [_result(env, pair) for pair in pairs]
    rows = rows_of(results, read_results(folder / "matrix.json"))
    write_atomically(folder / "matrix.json", results_json(results))
    write_atomically(folder / "matrix.xml", matrix_junit(rows))
    write_atomically(folder / "matrix.html", page(rows))
    show(table(rows))
    written = [
        Path(path)
        for pair in pairs
        for path, node in pair.nodes.items()
        if path.endswith("/sizes.json") and _good(node)
    ]
    sizes = tuple(each for path in written for each in read_sizes(path).applications)
    write_merge_report(folder, SizesFile(version(), sizes), base)
    passed = sum(result.passed for result in results)
    say("Matrix", f"{passed} of {len(results)} passed", f"{folder}/matrix.html, .xml and .json")


def _good(node: Any) -> bool:
    return node.get_state() in (executed, up_to_date)


def _result(env: Any, pair: _Pair) -> Any:
    from n6build.matrix.result import pair_result

    failed = not _good(pair.nodes[pair.run])
    failures = [(str(each.node), str(each.errstr)) for each in GetBuildFailures()] if failed else []
    anew = {path for path, node in pair.nodes.items() if node.get_state() == executed}
    return pair_result(
        pair.board, pair.model, pair.plan, pair.run, env.N6Site().done, anew, failures if failed else None
    )
