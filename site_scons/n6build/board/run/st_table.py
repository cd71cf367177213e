"""Result of a run in the columns of ST's tools, for scripts that parse them."""

from __future__ import annotations

from n6build.board.run.console_log import EpochCycles
from n6build.board.run.session import NetworkOutcome, Outcome

_RULE = "  " + "-" * 82


def st_table(outcome: Outcome) -> list[str]:
    """Return the lines of a table for each network.

    A table has a line for each epoch, their total, and inferences per second. In brackets are the cycles
    before, in and after the work of an epoch. The list is empty if nothing was counted.
    """
    return [line for network in outcome.networks for line in _of_network(network, outcome)]


def _of_network(network: NetworkOutcome, outcome: Outcome) -> list[str]:
    cycles = [verdict.cycles for verdict in network.verdicts if verdict.cycles]
    epochs = network.epoch_cycles
    total = EpochCycles(*(sum(getattr(each, part) for each in epochs.values()) for part in ("start", "core", "end")))
    if not cycles or not total.total:
        return []
    rows = [_row(f"epoch {number}", each.total, each, outcome) for number, each in sorted(epochs.items())]
    mean = sum(cycles) / len(cycles)
    shares = "".join(
        f"{part / total.total:>{width}.1%}"
        for part, width in zip((total.start, total.core, total.end), (10, 11, 11), strict=True)
    )
    per_second = f"{outcome.clock_hz / mean:.2f} inf/s"
    assumed = "  The virtual board counts instructions, and the times assume one per cycle."
    return [
        *(f"  {'':<18}{'ms':>10}{'':<19}[{'start':>10}{'core':>11}{'end':>11} ]  {outcome.counts}", _RULE),
        *rows,
        *(_RULE, _row("total", mean, total, outcome), f"{per_second:>30}{'':<19}[{shares} ]", _RULE),
        *([assumed] if outcome.counts == "instructions" else []),
    ]


def _row(name: str, cycles: float, split: EpochCycles, outcome: Outcome) -> str:
    ms = f"{1000 * cycles / outcome.clock_hz:.3f}"
    return f"  {name:<18}{ms:>10}{'':<19}[{split.start:>10,}{split.core:>11,}{split.end:>11,} ]"
