"""Step of target ladder: runs NPU networks on a board until one gives wrong bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from n6build.base.caller import in_words_of_caller
from n6build.base.console import clipped, printable, say
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.base.size_text import counted
from n6build.base.version import version
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.run.field_report import hashed_serial
from n6build.board.run.guards import without_guards
from n6build.board.run.ladder import NETWORKS, WHOLE, epoch_counts, first_failed, results_of
from n6build.board.run.linked_session import LinkedNetwork, noted
from n6build.board.run.session import NetworkOutcome, raise_if_different, show_line
from n6build.describe.formats.console import DONE
from n6build.describe.hardware.board import Board
from n6build.describe.model import Model
from n6build.engine.step import Call, Step
from n6build.judge.own_blobs.board_record import Ladder, read_epochs
from n6build.steps.ask_board import AskingParameters, ask, asking_step
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.flash_board import Target
from n6build.steps.reference_outputs import Expected
from n6build.steps.run_board import NetworkOnBoard, Session, as_run, linked_network, network_on_board

_LONGEST_TEXT = 2000


@dataclass(frozen=True)
class RunLadderParameters(AskingParameters):
    """Parameters of the step. record: File for the results."""

    record: str


def record_of(build: str, board: str) -> str:
    """Return the file that target ladder writes and a field report reads."""
    return f"{build}/field/{board}-ladder.json"


def ladder_step(
    record: str,
    receipts: Sequence[str],
    networks: Sequence[tuple[NetworkSteps, Expected]],
    elves: Mapping[str, str],
    board: Board,
    target: Target,
    console: str,
) -> Step:
    """Return the step of target ladder.

    Args:
        record: File of `record_of`.
        receipts: Receipts of the programmed board.
        networks: Rungs with their expected outputs.
        elves: Available ELF files by name, FSBL first.
        board: Board of the run.
        target: Board and programmer.
        console: Serial port; empty for the port of the probe.

    Raises:
        N6Error: N6-OPTION-014 if start=ram has no ELF file of the FSBL.
    """
    described = [(each, _to_the_byte(network_on_board(each, expected), each.model)) for each, expected in networks]
    on_board = tuple(network for _, network in described)
    parameters = RunLadderParameters(target, on_board, len(elves), console, version(), record)
    function = "n6build.steps.run_ladder:perform_run_ladder"
    return asking_step("Climb", function, record, receipts, described, elves, board, target, parameters)


def _to_the_byte(network: NetworkOnBoard, model: Model) -> NetworkOnBoard:
    """Return the network with exact comparison, except for the whole network.

    All others are made so that they have a single right result, however the NPU rounds.
    """
    return network if model.name == WHOLE else replace(network, exact=True)


def _guarded(network: NetworkOnBoard) -> LinkedNetwork:
    """Return the network with the guards that its buffers may have."""
    model, artifacts = as_run(network)
    artifacts, guards = without_guards(artifacts)
    return replace(linked_network(model, artifacts, Session()), guards=guards)


def perform_run_ladder(call: Call) -> None:
    """Write the record, even if the climb fails.

    Raises:
        N6Error: N6-LADDER-001, after writing, if a rung fails.
    """
    given = call.parameters_as(RunLadderParameters)
    board, programmer = given.target.opened()
    networks = [_guarded(each) for each in given.networks]
    epochs = [tuple(read_epochs(Path(each.folder) / f"{each.name}_npu.json").values()) for each in given.networks]
    guards = [guard for each in networks for guard in each.guards]
    of = sum(bool(each.guards) for each in networks)
    say(
        "Guards",
        f"{len(guards)} of {sum(guard.bytes for guard in guards):,} bytes",
        f"around the buffers of {of} rungs",
    )
    climbed: list[NetworkOutcome] = []
    lines: list[str] = []

    def after(index: int, outcome: NetworkOutcome) -> None:
        climbed[index:] = [outcome]
        _say(index, outcome)
        raise_if_different(outcome)

    stopped: N6Error | None = None
    try:
        elves = call.sources[: given.elves]
        found = ask(
            given.target,
            board,
            programmer,
            given.console,
            networks,
            elves,
            noted(lines, show_line),
            strict_clocks=True,
            after=after,
        )
        found.raise_if_wrong()
    except N6Error as error:
        stopped = error
    is_virtual = given.target.probe == VIRTUAL
    served = any(DONE.read(line) for line in lines)
    ladder = Ladder(
        n6build=given.n6build,
        board=board.name,
        virtual=is_virtual,
        probe="" if is_virtual else hashed_serial(programmer.name),
        rungs=results_of(climbed, epochs, stopped, served=served),
        error=stopped.id if stopped else "",
        what=clipped(printable(stopped.what), _LONGEST_TEXT) if stopped else "",
    )
    write_atomically(Path(given.record), to_json(asdict(ladder)))
    for line in epoch_counts(ladder):
        say("Epochs", line)
    say("Record", given.record, in_words_of_caller("scons field-report includes it"))
    if is_virtual:
        say("Note", "this is the virtual board", "it settles nothing about the chip")
    if stopped:
        raise _failed(ladder, stopped)
    write_atomically(call.outputs[0], "")


def _say(index: int, outcome: NetworkOutcome) -> None:
    verdicts = outcome.verdicts
    different = sum(each.different_bytes for each in verdicts)
    equal = "equal" if not different else f"{different} bytes differ"
    within = ", within the tolerance" if different and all(each.passes for each in verdicts) else ""
    say(
        "Rung",
        f"{index + 1} of {len(NETWORKS)}, {outcome.model}",
        f"{counted(len(verdicts), 'vector')}, {equal}{within}",
    )


def _failed(ladder: Ladder, error: N6Error) -> N6Error:
    rung = first_failed(ladder)
    if rung is None:
        # All rungs passed, but the virtual board reported a finding.
        return error
    what = f"rung {rung.name} fails: {error.id}: {error.what}"
    # The hint of a violated guard is the same for each rung.
    hint = error.hint if error.id == "N6-LADDER-004" else rung.tells
    return N6Error("N6-LADDER-001", what, where=error.where, hint=hint)
