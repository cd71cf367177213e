"""SCons tool: env.N6Matrix(application) -> every board with every model, on a virtual board each; goes on after failures.

Construction variables: N6_MATRIX_BOARDS, N6_MATRIX_MODELS ('all', or names with commas between them).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from n6build.boards import board_names, load_board
from n6build.console import say
from n6build.errors import N6Error
from n6build.files import write_atomically
from n6build.models import load_model, model_names
from n6scons import actions_so_far, on_exit, stop_with
from SCons.Node import executed, up_to_date
from SCons.Script import GetBuildFailures, GetOption, SetOption
from SCons.Script.Main import OptionsParser

ALL = "all"


class _Pair(NamedTuple):
    """run: what is built last. below: all that it is made of."""

    board: str
    model: str
    run: Any
    below: tuple[Any, ...]


def generate(env: Any) -> None:
    env.AddMethod(_matrix, "N6Matrix")


def exists(env: Any) -> bool:
    return True


def _matrix(env: Any, application: Callable[[Any, set[str]], list[Any]]) -> None:
    """application(env, targets): as in SConstruct; the last of what it returns is the run."""
    try:
        boards = [load_board(name) for name in _names(env["N6_MATRIX_BOARDS"], board_names())]
        models = [load_model(name) for name in _names(env["N6_MATRIX_MODELS"], model_names())]
    except N6Error as error:
        stop_with(error)
    if env["N6_MODES"]:
        stop_with(N6Error("N6-OPTION-008", "'mode' is of target run, not of a matrix"))
    # -j on the command line is stronger.
    SetOption("num_jobs", os.cpu_count() or 1)
    # One pair that fails is no reason not to try the others. SetOption() does not know this one.
    OptionsParser.values.keep_going = True
    pairs = []
    for board in boards:
        for model in models:
            if env["N6_PROFILE"] not in board.profiles():
                continue
            pair = env.Clone(N6_BOARD=board, N6_MODELS=(model,), N6_PROBE="virtual", N6_PAIR=model.name)
            run = application(pair, {"flash", "run"})[-1]
            pairs.append(_Pair(board.name, model.name, run, tuple(_below(run))))
    env.AlwaysBuild(env.Alias("matrix", [pair.run for pair in pairs]))
    if not GetOption("no_exec"):
        on_exit(lambda: _tell(Path(env["N6_BUILD"]) / "matrix", pairs))


def _names(text: str, known: list[str]) -> list[str]:
    return known if text == ALL else text.split(",")


def _tell(folder: Path, pairs: list[_Pair]) -> None:
    from n6build.matrix.result import read_results, results_json, rows_of
    from n6build.matrix.show import matrix_junit, page, table

    results = [_result(pair) for pair in pairs]
    rows = rows_of(results, read_results(folder / "matrix.json"))
    write_atomically(folder / "matrix.json", results_json(results))
    write_atomically(folder / "matrix.xml", matrix_junit(rows))
    write_atomically(folder / "matrix.html", page(rows))
    print(table(rows), end="", flush=True)
    passed = sum(result.passed for result in results)
    say("Matrix", f"{passed} of {len(results)} passed", f"{folder}/matrix.html, .xml and .json")


def _result(pair: _Pair) -> Any:
    from n6build.matrix.result import PairResult

    board, model, run = pair.board, pair.model, pair.run
    folder = Path(str(run)).parent
    ran = json.loads(Path(str(run)).read_text()) if Path(str(run)).is_file() else {"networks": []}
    verdicts = [verdict for network in ran["networks"] for verdict in network["verdicts"]]
    failure = "" if run.get_state() in (executed, up_to_date) else _failure(board, folder)
    return PairResult(
        board=board,
        model=model,
        failure=failure,
        built=_built(pair, folder),
        seconds=sum(action.seconds for action in actions_so_far()[0] if _is_in(action.target, folder, board, model)),
        appli_bytes=_size(folder / "appli_image.bin"),
        activation_bytes=_activations(folder / "memory_plan.json"),
        instructions=max((verdict["cycles"] or 0 for verdict in verdicts), default=0),
        equal=sum(verdict["equal"] is True for verdict in verdicts),
        outputs=sum(verdict["equal"] is not None for verdict in verdicts),
    )


def _is_in(target: str, folder: Path, board: str, model: str) -> bool:
    return target.startswith(f"{folder}/") or target.endswith(f"-{board}-{model}.json")


def _built(pair: _Pair, folder: Path) -> Any:
    """From where the files of a pair came."""
    if any(action.stage != "run" and action.target.startswith(f"{folder}/") for action in actions_so_far()[0]):
        return "built"
    # What is there anew, though no action ran.
    own = [node for node in pair.below if str(node).startswith(f"{folder}/") and node.is_derived()]
    return "cache" if any(node.get_state() == executed for node in own) else "up to date"


def _below(node: Any) -> set[Any]:
    """All that a target is made of; while SConscripts are read, since a build forgets it."""
    found: set[Any] = set()
    waiting = [node]
    while waiting:
        node = waiting.pop()
        # Not all_children(), which would look into files that are not there yet.
        for child in (*node.sources, *node.depends):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _failure(board: str, folder: Path) -> str:
    """Of its own targets, or of what it shares with others."""
    failures = [(str(failure.node), str(failure.errstr)) for failure in GetBuildFailures()]
    own = [text for node, text in failures if node.startswith(f"{folder}/") or node.endswith(f"-{folder.name}.json")]
    shared = [text for node, text in failures if f"/{board}/" in node] or [text for _, text in failures]
    return next(iter(own or shared), "was not built")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _activations(plan: Path) -> int:
    """Bytes of RAM, of all pools that a loader does not find in flash."""
    if not plan.is_file():
        return 0
    values = json.loads(plan.read_text())
    flash = {image["pool"] for image in values["images"] if image["source"] == image["destination"]}
    return sum(pool["used"] for pool in values["pools"] if pool["fname"] not in flash)
