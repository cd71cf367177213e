"""SCons tool: env.N6Run(target, ...) boots a flashed board, compares its results and writes them as JSON and as JUnit XML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from n6build.errors import N6Error
from n6build.files import to_json, write_atomically
from n6build.flash.probes import VIRTUAL
from n6scons import stage_action, stop_with


def generate(env: Any) -> None:
    env.AddMethod(_run, "N6Run")


def exists(env: Any) -> bool:
    return True


def _run(env: Any, target: str, receipts: list[Any], networks: list[Any], programs: list[Any]) -> Any:
    """receipts: of N6Flash. networks: of N6Networks. programs: the ELF files of FSBL and Appli, for source lines in findings."""
    board = env["N6_BOARD"]
    if env["N6_PROBE"] != VIRTUAL:
        console = f"{board.title} prints on its ST-LINK's serial port, {board.console.baud} 8N1"
        what = f"run boots the virtual board only so far; {console}"
        stop_with(N6Error("N6-RUN-010", what, hint="leave 'run' away, or use probe=virtual"))
    folder = env.N6VirtualBoardFolder()
    elves = [Path(str(program)) for program in programs]
    # Pairs of a matrix run at the same time, and end in a table.
    pair = env["N6_PAIR"]

    def boot(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.flash.model_update import remember_running
        from n6build.network.read_artifacts import read_artifacts
        from n6build.run.session import run_on_virtual_board, show_line
        from n6build.run.table import print_results, run_junit

        on_line: Callable[[str], None] = (lambda _: None) if pair else show_line
        artifacts = [read_artifacts(network.folder, network.name) for network in networks]
        models = [network.model for network in networks]
        pairs = list(zip(models, artifacts, strict=True))
        outcome = run_on_virtual_board(board, pairs, folder, elves, gdb=env["N6_GDB"], on_line=on_line)
        if outcome.models:
            remember_running(folder, outcome.models)
        write_atomically(Path(str(target[0])), to_json(asdict(outcome)))
        write_atomically(Path(str(target[1])), run_junit(outcome))
        if not pair:
            print_results(outcome, artifacts)
        outcome.raise_if_wrong()

    result = env.Command([target, target.replace(".json", ".xml")], receipts, stage_action("Run", boot, stage="run"))
    env.Depends(result, [*(node for network in networks for node in network.targets), *programs])
    # Somebody who asks for a run wants to see one.
    env.AlwaysBuild(result)
    env.NoCache(result)
    return result[0]
