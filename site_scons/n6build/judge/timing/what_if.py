"""The time of a network under single changes.

They are other clocks, other places of weights, and use of the epoch controller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from n6build.describe.hardware.board import Board
from n6build.judge.timing.conditions import Conditions, all_conditions
from n6build.judge.timing.expected import Counted, NetworkTime, expected_time
from n6build.judge.timing.model import TimeModel
from n6build.judge.timing.of_network import EpochWork, NetworkWork

_SHOWN = 3
# A smaller gain, as a share of the whole time, is not worth a change.
_LEAST_GAIN = 0.01


@dataclass(frozen=True)
class Change:
    """A single change.

    Attributes:
        what: The change in words.
        ms: Gain in ms.
        low: Lower end of the gain.
        high: Upper end of the gain; None if the network has only a lower bound.
        how: Command or action for the change.
    """

    what: str
    ms: float
    low: float
    high: float | None
    how: str


def changes(
    work: NetworkWork, model: TimeModel, board: Board, at: Conditions, counted: Counted | None = None
) -> tuple[Change, ...]:
    """Return the changes that save time, the largest gain first.

    Args:
        work: Work of the network.
        model: Model of times.
        board: The board.
        at: Clocks.
        counted: Instructions of a run, as in `expected_time`.
    """
    now = expected_time(work, model, at, counted)
    found = [
        _change(now, expected_time(changed, model, conditions, counted), what, how)
        for what, how, changed, conditions in _tried(work, model, board, at)
    ]
    worth = [each for each in found if each.ms > _LEAST_GAIN * now.ms]
    return tuple(sorted(worth, key=lambda each: -each.ms))


def _change(now: NetworkTime, then: NetworkTime, what: str, how: str) -> Change:
    """Return a change; the gain is as uncertain, in proportion, as the time before."""
    gain = now.ms - then.ms
    share = gain / now.ms if now.ms > 0 else 0.0
    return Change(what, gain, share * now.low, None if now.high is None else share * now.high, how)


def _tried(
    work: NetworkWork, model: TimeModel, board: Board, at: Conditions
) -> Iterator[tuple[str, str, NetworkWork, Conditions]]:
    for other in all_conditions(board):
        if (other.cpu_hz, other.npu_hz) != (at.cpu_hz, at.npu_hz):
            yield f"clock profile {other.name}, {other.text}", f"clock={other.name}", work, other
    # This is the fastest clock at which a NOR was measured.
    fast = round(model.measured.nor.high)
    if at.nor_hz < fast * 1_000_000 and at.nor_bytes > 1:
        faster = replace(at, nor_hz=fast * 1_000_000)
        yield f"the NOR at {fast} MHz, which its fuse for high speed allows", f"flash={fast}", work, faster
    for epoch in _heaviest(work):
        changed = [_on_chip(each) if each is epoch else each for each in work.epochs]
        what = f"weights of epoch {epoch.number} in AXISRAM ({epoch.flash[0] / 1024:.0f} KiB)"
        yield what, "place them by the memory pools", replace(work, epochs=tuple(changed)), at
    if any(each.flash[1] for each in work.epochs):
        moved = tuple(_on_chip(each) for each in work.epochs)
        what = f"all weights in AXISRAM ({work.weights / 1024:.0f} KiB), if they fit"
        yield what, "profile=noextmem", replace(work, epochs=moved), at
    if sum(each.starts == "CPU" for each in work.epochs) > 1:
        yield "one blob of the epoch controller", "--enable-epoch-controller", _in_one_blob(work), at


def _heaviest(work: NetworkWork) -> Sequence[EpochWork]:
    return sorted((each for each in work.epochs if each.flash[0]), key=lambda each: -each.flash[0])[:_SHOWN]


def _on_chip(epoch: EpochWork) -> EpochWork:
    return replace(epoch, flash=(0, 0))


def _in_one_blob(work: NetworkWork) -> NetworkWork:
    """Return the work in which consecutive epochs of the NPU are started once."""
    epochs: list[EpochWork] = []
    for epoch in work.epochs:
        follows = bool(epochs) and epochs[-1].on == "NPU"
        by = None if follows else "controller"
        epochs.append(replace(epoch, starts=by) if epoch.on == "NPU" else epoch)  # type: ignore[arg-type]
    return replace(work, epochs=tuple(epochs))
