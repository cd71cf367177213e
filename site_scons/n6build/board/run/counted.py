"""Instruction counts of the virtual board as input of the timing model."""

from __future__ import annotations

from n6build.board.run.session import Outcome
from n6build.judge.timing.expected import Counted
from n6build.judge.timing.model import Span


def counted_in(outcome: Outcome | None, network: int) -> Counted | None:
    """Return the counts of a network, or None.

    None means that no instructions were counted, or that nothing is known of their cycles. The span of
    cycles of an instruction covers all its known meanings.

    Args:
        outcome: Result of a run, None if there was no run.
        network: Place of the network in the outcome.
    """
    if outcome is None or outcome.counts != "instructions" or network >= len(outcome.networks):
        return None
    known = [each.cycles for each in outcome.meanings.values() if each.cycles]
    if not known:
        return None
    low, high = min(each.low for each in known), max(each.high for each in known)
    epochs = outcome.networks[network].epoch_cycles
    return Counted({epoch: cycles.total for epoch, cycles in epochs.items()}, Span(low, (low + high) / 2, high))
