"""SCons tool: env.N6Run(target, ...) boots a flashed board, compares its results and writes them as JSON and as JUnit XML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from n6build.console import say
from n6build.errors import N6Error
from n6build.files import to_json, write_atomically
from n6build.flash.choose import choose_programmer
from n6build.flash.program import board_lock
from n6build.flash.programmer import ProbeProgrammer, RamProgram
from n6build.flash.virtual import VIRTUAL
from n6scons import quiet_action, stage_action, stop_with


def generate(env: Any) -> None:
    env.SetDefault(N6_INPUTS="", N6_EXPECTED="", N6_CONSOLE="", N6_START="flash")
    env.AddMethod(_run, "N6Run")


def exists(env: Any) -> bool:
    return True


def _run(env: Any, target: str, receipts: list[Any], networks: list[Any], programs: list[Any]) -> Any:
    """receipts: of N6Flash. networks: of N6Networks. programs: the ELF files of FSBL and Appli, for source lines in findings."""
    board = env["N6_BOARD"]
    folder = env.N6VirtualBoardFolder()
    elves = [Path(str(program)) for program in programs]
    # Pairs of a matrix run at the same time, and end in a table.
    pair = env["N6_PAIR"]
    is_virtual = env["N6_PROBE"] == VIRTUAL
    linked = bool(env["N6_INPUTS"] or env["N6_EXPECTED"] or env["N6_RUNS"]) or not is_virtual
    _check_options(env, len(networks), linked)
    if "no-run" in env["N6_MODES"]:
        return _start(env, receipts, elves[0])

    def boot(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.flash.model_update import remember_running
        from n6build.network.read_artifacts import read_artifacts
        from n6build.run.linked_session import run_on_linked_virtual_board
        from n6build.run.session import run_on_virtual_board, show_line
        from n6build.run.table import print_results, run_junit

        on_line: Callable[[str], None] = (lambda _: None) if pair else show_line
        artifacts = [read_artifacts(network.folder, network.name) for network in networks]
        models = [network.model for network in networks]
        pairs = list(zip(models, artifacts, strict=True))
        programmer = _programmer(env)
        if not is_virtual:
            outcome = _run_on_probe(env, programmer, _linked(env, pairs), elves[0], on_line)
        elif linked:
            nor = folder / "nor.bin"
            outcome = run_on_linked_virtual_board(board, _linked(env, pairs), nor, elves, on_line)
        else:
            outcome = run_on_virtual_board(board, pairs, folder, elves, gdb=env["N6_GDB"], on_line=on_line)
        if outcome.models:
            remember_running(programmer.record, outcome.models)
        write_atomically(Path(str(target[0])), to_json(asdict(outcome)))
        write_atomically(Path(str(target[1])), run_junit(outcome))
        if not pair:
            print_results(outcome, artifacts)
        outcome.raise_if_wrong()

    made_of = [*receipts, *(node for network in networks for node in network.targets), *programs]
    result = env.Command([target, target.replace(".json", ".xml")], made_of, stage_action("Run", boot, stage="run"))
    # Somebody who asks for a run wants to see one.
    env.AlwaysBuild(result)
    env.NoCache(result)
    return result[0]


def _check_options(env: Any, networks: int, linked: bool) -> None:
    """Stops where an option would have no effect."""
    is_virtual = env["N6_PROBE"] == VIRTUAL
    if (env["N6_INPUTS"] or env["N6_EXPECTED"]) and networks > 1:
        what = "'inputs' and 'expected' are of a single network"
        stop_with(N6Error("N6-OPTION-007", what, hint="leave them away, or name one model"))
    if env["N6_GDB"] and linked:
        what = "'gdb=1' is for a run of the virtual board on its test vectors in flash"
        stop_with(N6Error("N6-OPTION-009", what, hint="leave inputs, expected and runs away, with probe=virtual"))
    if env["N6_START"] == "ram" and is_virtual and not env["N6_PAIR"]:
        stop_with(N6Error("N6-OPTION-009", "'start=ram' is for a board on a cable", hint="leave it away"))


def _start(env: Any, receipts: list[Any], fsbl: Path) -> Any:
    """Whatever is in flash begins, and nobody listens. fsbl: the ELF file."""

    def start(target: list[Any], source: list[Any], env: Any) -> None:
        if env["N6_PROBE"] == VIRTUAL:
            say("Ready", f"{env['N6_BOARD'].name} (virtual)", "it is on while somebody runs it; mode=no-run")
            return
        programmer = _programmer(env)
        with board_lock(programmer):
            _begin(env, programmer, fsbl)
        say("Started", f"{env['N6_BOARD'].name} ({programmer.name})", "no inference: mode=no-run")

    started = env.Alias("n6-start", [*receipts, str(fsbl)], quiet_action(start, stage="run"))
    env.AlwaysBuild(started)
    return started[0]


def _programmer(env: Any) -> Any:
    return choose_programmer(env["N6_PROBE"], env["N6_BOARD"], env.N6VirtualBoardFolder())


def _begin(env: Any, programmer: ProbeProgrammer, fsbl: Path) -> None:
    """By a reset, or with option start=ram by the debugger: the boot ROM leaves a board in peace whose selectors stand for
    programming."""
    from n6build.image.elf import payload_of

    if env["N6_START"] == "ram":
        payload = payload_of(fsbl)
        programmer.start(RamProgram(payload.address, payload.data))
    else:
        programmer.reset()


def _linked(env: Any, pairs: list[tuple[Any, Any]]) -> list[Any]:
    """Inputs go over the console, outputs come back: on a real board always, on the virtual one with options inputs and runs."""
    from n6build.memory_plan.vectors import read_vectors
    from n6build.run.linked_session import LinkedNetwork

    networks = []
    for model, artifacts in pairs:
        given = Path(env["N6_INPUTS"]) if env["N6_INPUTS"] else model.inputs
        if given is None:
            hint = "inputs=FILE.npy, or vectors.inputs in model.yaml"
            raise N6Error("N6-VEC-003", f"model {model.name} has no inputs to run on", hint=hint)
        inputs = read_vectors(given)
        # Those of model.yaml belong to its own inputs.
        wanted = Path(env["N6_EXPECTED"]) if env["N6_EXPECTED"] else None if env["N6_INPUTS"] else model.expected
        expected = read_vectors(wanted) if wanted else None
        if expected and expected.count != inputs.count:
            what = f"has {expected.count} rows, the inputs have {inputs.count}"
            raise N6Error("N6-VEC-004", what, where=expected.name, hint="a row of outputs for each row of inputs")
        labels = () if env["N6_INPUTS"] else model.labels
        networks.append(LinkedNetwork(model, artifacts, inputs, expected, labels, env["N6_RUNS"] or inputs.count))
    return networks


def _run_on_probe(
    env: Any, programmer: ProbeProgrammer, networks: list[Any], fsbl: Path, on_line: Callable[[str], None]
) -> Any:
    from n6build.run.linked_session import console_of, run_on_real_board

    port = env["N6_CONSOLE"] or console_of(programmer.name)
    with board_lock(programmer):
        return run_on_real_board(env["N6_BOARD"], networks, port, lambda: _begin(env, programmer, fsbl), on_line)
