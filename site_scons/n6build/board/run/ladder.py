"""Record of a climb of target ladder, also used by field reports.

The networks come with n6build: the record contains nothing of a user's model.

Rungs of target ladder, from the simplest use of the NPU to a whole network. Each rung has a
conclusion for the case that it is the first to fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.board.run.compare import Verdict
from n6build.board.run.session import NetworkOutcome
from n6build.judge.own_blobs.board_record import Ladder, Result, RungEpoch, RungResult


@dataclass(frozen=True)
class Rung:
    """A step of target ladder.

    Attributes:
        name: Name of its model in models/ladder.
        tells: Conclusion if this is the first rung that fails.
    """

    name: str
    tells: str


# Before the first network: the programs start, and the runtime compares the versions of the NPU's units.
START = Rung("start", "the programs ended before they reached the NPU")
VERSIONS = Rung("versions", "this NPU has other units than the blobs expect: the other rungs have no meaning")
RUNGS = (
    Rung(
        "copy",
        "it copies 64 bytes between two engines: with no output, check the epoch controller, its clocks and its "
        "access to memory (RIF, caches); with wrong bytes, check the addressing of STRENG",
    ),
    Rung("offset", "a copy runs, so the start and the addresses are right: check ARITH, or a link to it"),
    Rung("sum", "ARITH adds 128 to the data of one engine: check ARITH with two inputs"),
    Rung(
        "mean",
        "sums run: check POOL, or its link to ARITH",
    ),
    Rung("pool", "POOL and ARITH work together: check POOL with windows, or repeated frames"),
    Rung(
        "pad",
        "this is the first CONVACC, with one weight: check its input of kernels, or its padding of an image",
    ),
    Rung(
        "dense",
        "CONVACC runs, and the epoch before it that adds 128: check deep mode, or the layout of its kernels",
    ),
    Rung("pointwise", "one pixel is right: check the order of pixels in deep mode"),
    Rung("depthwise", "deep mode is right: check a kernel of 3x3, its padding, or its line buffer"),
    Rung(
        "chain",
        "one CONVACC is right: check the sums that go from one CONVACC to the next, or their common frame of kernels",
    ),
    Rung(
        "layers",
        "every kind of epoch is right by itself, and the named output is the first wrong one: check a size that no "
        "rung has, or data of the epochs before it",
    ),
    Rung(
        "logits",
        "the same layers are right with separate memory for each result: check reused memory, or an epoch whose "
        "result only exists in unsigned form",
    ),
)
# A network that comes with n6build, with the operators of all rungs before it.
WHOLE = "keyword"
_LAST = Rung(
    WHOLE,
    "all results of the NPU are right: check the CPU's work at the end, or caches between both",
)
NETWORKS = (*RUNGS, _LAST)


CLIMBED: tuple[Result, ...] = ("equal", "near")


def first_failed(ladder: Ladder) -> Rung | None:
    """Return the first rung that was not climbed, or None."""
    rungs = {each.name: each for each in (START, VERSIONS, *NETWORKS)}
    return next((rungs[each.name] for each in ladder.rungs if each.result not in CLIMBED), None)


def results_of(
    climbed: Sequence[NetworkOutcome],
    epochs: Sequence[Sequence[RungEpoch]],
    error: N6Error | None,
    *,
    served: bool,
) -> tuple[RungResult, ...]:
    """Return the result of each rung.

    Args:
        climbed: Networks that ran to their end; the last one may differ from the reference.
        epochs: Epochs of each network.
        error: Error that ended the climb.
        served: True if the board had started and answered.
    """
    networks = [_climbed(rung, outcome, own) for rung, outcome, own in zip(NETWORKS, climbed, epochs, strict=False)]
    stopped = error is not None and all(each.result in CLIMBED for each in networks)
    of_versions = error is not None and _is_of_versions(error)
    start: Result = "equal" if served or climbed else "stopped"
    versions: Result = "equal" if climbed else "stopped" if of_versions else "not reached"
    if served and not climbed and not of_versions:
        # The climb ended in the first network, after the comparison of versions.
        versions = "equal"
    rest: list[RungResult] = []
    for rung, own in list(zip(NETWORKS, epochs, strict=True))[len(networks) :]:
        here = stopped and not rest and start == versions == "equal"
        result: Result = "stopped" if here and error and _is_of_the_blob(error) else "not reached"
        marked = tuple(replace(each, result=result) for each in own)
        rest.append(RungResult(rung.name, "stopped" if here else "not reached", marked))
    return RungResult(START.name, start), RungResult(VERSIONS.name, versions), *networks, *rest


def _is_of_versions(error: N6Error) -> bool:
    """Return true if the runtime found an NPU on which it starts no blob."""
    return error.id == "N6-FW-060" or error.id == "N6-FW-061"  # noqa: PLR1714 - so that it shows as a question, not a source


def _is_of_the_blob(error: N6Error) -> bool:
    """Return true if a blob may have caused the error.

    The epoch controller reports an error or does not end; the board falls silent, as when a bus never
    answers and the watchdog resets the chip; or a guard was written. An unplugged cable is another error.
    """
    ended = error.id == "N6-FW-063" or error.id == "N6-FW-064" or error.id == "N6-LADDER-004"  # noqa: PLR1714 - as above
    return ended or error.id == "N6-LINK-001" or error.id == "N6-LINK-005"  # noqa: PLR1714 - as above


def _climbed(rung: Rung, outcome: NetworkOutcome, epochs: Sequence[RungEpoch]) -> RungResult:
    verdicts = outcome.verdicts
    equal, passes = all(each.equal for each in verdicts), all(each.passes for each in verdicts)
    result: Result = "equal" if equal else "near" if passes else "differs"
    return RungResult(
        rung.name,
        result,
        _located(epochs, verdicts) if result == "differs" else tuple(replace(each, result=result) for each in epochs),
        len(verdicts),
        sum(each.different_bytes for each in verdicts),
        verdicts[0].cycles if verdicts else None,
    )


def _located(epochs: Sequence[RungEpoch], verdicts: Sequence[Verdict]) -> tuple[RungEpoch, ...]:
    """Return the epochs of a rung that differs, with their results.

    The outputs locate the fault: the epochs after the last equal output, up to the first wrong one,
    differ. Later epochs have read wrong numbers: their result is unknown.
    """
    outputs = [each for verdict in verdicts for each in verdict.outputs]
    wrong = {_maker(each.name) for each in outputs if each.equal < each.elements}
    right = {_maker(each.name) for each in outputs} - wrong
    first = next((place for place, each in enumerate(epochs) if each.node in wrong), len(epochs) - 1)
    good = max((place for place, each in enumerate(epochs[:first]) if each.node in right), default=-1)

    def result_at(place: int) -> Result:
        if place <= good:
            return "equal"
        return "differs" if place <= first else "not reached"

    return tuple(replace(each, result=result_at(place)) for place, each in enumerate(epochs))


def _maker(output: str) -> str:
    """Return the node whose epoch completes an output."""
    return output.removesuffix("_out_0")


def epoch_counts(ladder: Ladder) -> tuple[str, ...]:
    """Return the numbers of confirmed, failed and unreached epochs, for each grade."""
    found: dict[str, dict[str, int]] = {}
    for rung in ladder.rungs:
        for epoch in rung.epochs:
            result = epoch.result or rung.result
            word = "confirmed" if result == "equal" else result
            of_grade = found.setdefault(epoch.grade, {})
            of_grade[word] = of_grade.get(word, 0) + 1
    return tuple(
        f"{grade}: " + ", ".join(f"{count} {word}" for word, count in words.items()) for grade, words in found.items()
    )


def ladder_lines(ladder: Ladder) -> list[str]:
    """Return the lines of a Markdown report."""
    whose = "on the virtual board, which proves nothing about a chip" if ladder.virtual else "on this board"
    lines = [
        f"By n6build {ladder.n6build}, {whose}. Epochs of the NPU by grade: {'; '.join(epoch_counts(ladder))}.",
        "",
    ]
    lines += ["| rung | result | bytes that differ | epochs of the NPU, with their grades |", "|---|---|---|---|"]
    for each in ladder.rungs:
        epochs = "; ".join(
            f"{epoch.kind} ({epoch.grade}{f', {epoch.result}' if epoch.result not in (None, each.result) else ''})"
            for epoch in each.epochs
        )
        lines.append(f"| {each.name} | **{each.result}** | {each.different_bytes if each.vectors else ''} | {epochs} |")
    if failed := first_failed(ladder):
        lines += ["", f"It ended with {ladder.error}: {failed.tells}."]
    return [*lines, ""]
