"""Compiled networks in a folder: release, gate, expected time, and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from n6build.adopt.networks import FoundNetwork, find_networks
from n6build.base.errors import N6Error
from n6build.base.files import digest_of
from n6build.base.paths import project_path
from n6build.base.size_text import counted
from n6build.base.walk import Tree
from n6build.board.run.comparison_text import percent
from n6build.compile.artifacts.network_c import read_network_c
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.ll_aton import release_name
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.npu import Npu
from n6build.judge.npu.uses import npu_use
from n6build.judge.timing.conditions import conditions_of
from n6build.judge.timing.expected import expected_time
from n6build.judge.timing.model import MODEL, read_model
from n6build.judge.timing.of_network import work_of
from n6build.judge.timing.timing_table import span_text
from n6build.survey.kinds import Kind, Row, Wishes
from n6build.survey.runs import Joined, Ran, run_network

_MOST_NETWORKS = 10_000
# Reasons that the text shows; JSON has all.
_SHOWN_REASONS = 3
GateState = Literal["passes", "refused", "unreadable"]


@dataclass(frozen=True)
class Gate:
    """The verdict before anything runs.

    Attributes:
        state: Whether the virtual NPU models all units, fields and values that the network uses.
        epochs: Epochs of the NPU.
        units: Kinds of units that are used.
        containers: Versions of the blobs' containers; empty without blobs, or without containers.
        by_blob: Whether the epochs are in blobs of the epoch controller.
        reasons: Settings that are not modelled, or why the files cannot be read.
    """

    state: GateState
    epochs: int = 0
    units: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    by_blob: bool = False
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expected:
    """Expected time of an inference in ms.

    Attributes:
        ms: The most likely time.
        low: Lower end of the range.
        high: Upper end; None if only a lower one is known.
        why_not: Reason for a missing time; the numbers are 0 then.
    """

    ms: float = 0.0
    low: float = 0.0
    high: float | None = None
    why_not: str = ""


@dataclass(frozen=True)
class SurveyedNetwork:
    """All facts about a network.

    Attributes:
        place: network.c, from the surveyed folder on.
        copies: The same network in other folders.
        release: Release of ST's runtime that it requires; empty if it requires none.
        gate: Verdict before anything runs.
        weights: Files with its weights.
        missing: Pools whose weights are in no folder, and unusable files.
        expected: Expected time.
        run: Result of a run.
        joined: Comparison of its buffers; None if nobody asked for it, or it did not run.
    """

    place: str
    copies: tuple[str, ...]
    release: str
    gate: Gate
    weights: tuple[str, ...]
    missing: tuple[str, ...]
    expected: Expected
    run: Ran
    joined: Joined | None


def _find(tree: Tree, _: Wishes) -> tuple[tuple[FoundNetwork, ...], ...]:
    """Return the networks, each with its copies.

    The first of these has all weights, if any has.
    """
    alike: dict[tuple[str, ...], list[FoundNetwork]] = {}
    for network in find_networks(tree, _MOST_NETWORKS):
        alike.setdefault(_content(network), []).append(network)
    return tuple(tuple(sorted(each, key=lambda one: bool(_missing(one)))) for each in alike.values())


def _content(network: FoundNetwork) -> tuple[str, ...]:
    """Return the digests of network.c and of its blobs."""
    return tuple(digest_of(path) for path in (network.source, *_header(network)))


def _header(network: FoundNetwork) -> Iterator[Path]:
    if network.blobs:
        yield network.source.parent / (read_network_c(network.source).ecblobs_header or "")


def _missing(network: FoundNetwork) -> tuple[str, ...]:
    given = (*network.weights, *network.elsewhere)
    faults = (f"{each.file.name} {each.fault}" for each in given if each.fault)
    return (*(f"weights of pool {pool}" for pool in network.missing), *faults)


def _place_of(networks: Sequence[FoundNetwork]) -> Path:
    return networks[0].source


def _look_at(networks: Sequence[FoundNetwork], tree: Tree, wishes: Wishes) -> Row:
    network = networks[0]
    missing, gate = _missing(network), gate_of(network, wishes.board.soc.npu)
    run, joined = _run(network, tree, wishes, gate, missing)
    surveyed = SurveyedNetwork(
        place=str(network.source.relative_to(tree.root)),
        copies=tuple(str(each.source.relative_to(tree.root)) for each in networks[1:]),
        release=release_name(network.version) if network.version else "",
        gate=gate,
        weights=tuple(str(each.file.relative_to(tree.root)) for each in (*network.weights, *network.elsewhere)),
        missing=missing,
        expected=_expected(network, wishes.board),
        run=run,
        joined=joined,
    )
    return _row(surveyed)


def gate_of(network: FoundNetwork, npu: Npu) -> Gate:
    """Return whether the virtual NPU models all that a network uses."""
    if network.fault:
        return Gate("unreadable", reasons=(network.fault,))
    try:
        use = npu_use(network.source, npu)
    except N6Error as error:
        return Gate("unreadable", reasons=(_text(error),))
    reasons = tuple(f"epoch {each.epoch}: {each.what}" for each in use.unmodelled)
    units = tuple(each.kind for each in use.kinds)
    state: GateState = "refused" if reasons else "passes"
    return Gate(state, use.epochs, units, use.containers, use.by_blob, reasons)


def _text(error: N6Error) -> str:
    return f"{error.id}: {f'{error.where}: ' if error.where else ''}{error.what}"


def _expected(network: FoundNetwork, board: Board) -> Expected:
    if network.fault:
        return Expected(why_not=network.fault)
    try:
        artifacts = read_artifacts(network.source.parent, network.source.stem, ())
        time = expected_time(work_of(artifacts, board.soc), read_model(Path(project_path(MODEL))), conditions_of(board))
    except N6Error as error:
        return Expected(why_not=_text(error))
    return Expected(time.ms, time.low, time.high)


def _run(
    network: FoundNetwork, tree: Tree, wishes: Wishes, gate: Gate, missing: tuple[str, ...]
) -> tuple[Ran, Joined | None]:
    if not wishes.runs:
        return Ran("not run"), None
    if gate.state != "passes":
        return Ran("not run", f"the gate: {gate.state}"), None
    if missing:
        return Ran("not run", f"it lacks {', '.join(missing)}"), None
    return run_network(network, tree, wishes)


def _row(network: SurveyedNetwork) -> Row:
    return Row(network.place, _cells(network), tuple(_notes(network)), asdict(network), tuple(_counts(network)))


def _cells(network: SurveyedNetwork) -> dict[str, str]:
    """Return the cells of a network's row by the name of the column."""
    run, joined, expected = network.run, network.joined, network.expected
    return {
        "release": network.release.removeprefix("ST Edge AI ") or "unknown",
        "container": _container(network.gate),
        "gate": network.gate.state,
        "run": run.state,
        "cosine": f"{run.cosine:.4f}" if run.cosine is not None else "",
        "equal": percent(run.equal, run.elements) if run.elements else "",
        "within 1": percent(run.within_1, run.elements) if run.elements else "",
        "joined": f"{joined.compared} of {joined.buffers}" if joined and joined.buffers else "",
        "expected": "" if expected.why_not else span_text(expected.low, expected.high),
    }


def _container(gate: Gate) -> str:
    """Return the form of the blobs, such as the version of their container."""
    if gate.state == "unreadable":
        return ""
    versions = [each.split()[0] for each in gate.containers]
    return ", ".join(versions) or ("blobs" if gate.by_blob else "none")


def _notes(network: SurveyedNetwork) -> Iterator[str]:
    """Yield notes below a network's row: reasons of its cells, and copies."""
    gate, run, expected = network.gate, network.run, network.expected
    yield from gate.reasons[:_SHOWN_REASONS]
    if len(gate.reasons) > _SHOWN_REASONS:
        yield f"and {len(gate.reasons) - _SHOWN_REASONS} more; --json has all"
    yield from (f"lacks {each}" for each in network.missing)
    # Otherwise the notes above have the reason.
    if run.why and not network.missing and gate.state == "passes":
        yield run.why
    if run.not_compared:
        yield run.not_compared
    if network.joined:
        yield network.joined.text
    if expected.why_not and gate.state != "unreadable":
        yield f"no expected time: {expected.why_not}"
    if network.copies:
        yield f"also in {counted(len(network.copies), 'other folder')}"


def _counts(network: SurveyedNetwork) -> Iterator[str]:
    yield {"passes": "pass the gate", "refused": "refused", "unreadable": "cannot be read"}[network.gate.state]
    if network.run.state != "not run":
        yield network.run.state
    if network.run.elements:
        yield "compared"


NETWORKS: Kind[Sequence[FoundNetwork]] = Kind(
    name="networks",
    columns={
        "release": 10,
        "container": 10,
        "gate": 10,
        "run": 7,
        "cosine": 6,
        "equal": 8,
        "within 1": 8,
        "joined": 10,
        "expected": 20,
    },
    find=_find,
    place_of=_place_of,
    look_at=_look_at,
    counts=("pass the gate", "refused", "cannot be read", "runs", "far off", "fails", "compared"),
)
