"""What a run on the virtual board has counted, as the model of expected times takes it."""

from __future__ import annotations

from n6build.run.session import Outcome
from n6build.timing.expected import Counted
from n6build.timing.model import Span


def counted_in(outcome: Outcome | None, network: int) -> Counted | None:
    """Of a network, by its place in the outcome. None where nothing was counted on the virtual board, or nothing is known of
    cycles. An instruction takes what the widest of its meanings says."""
    if outcome is None or outcome.counts != "instructions" or network >= len(outcome.networks):
        return None
    known = [each.cycles for each in outcome.meanings.values() if each.cycles]
    if not known:
        return None
    low, high = min(each.low for each in known), max(each.high for each in known)
    epochs = outcome.networks[network].epoch_cycles
    return Counted({epoch: cycles.total for epoch, cycles in epochs.items()}, Span(low, (low + high) / 2, high))
