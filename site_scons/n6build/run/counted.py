"""What a run on the virtual board has counted, as the model of expected times takes it."""

from __future__ import annotations

from n6build.run.session import Outcome
from n6build.timing.model import Span


def instructions_of(outcome: Outcome | None, network: int) -> dict[int, int] | None:
    """By number of the epoch; None where nothing was counted on the virtual board."""
    if outcome is None or outcome.counts != "instructions" or network >= len(outcome.networks):
        return None
    return {epoch: cycles.total for epoch, cycles in outcome.networks[network].epoch_cycles.items()}


def cycles_of(outcome: Outcome | None) -> Span | None:
    """That an instruction takes, of kernels in caches: the widest of what the instructions' meanings say."""
    if outcome is None:
        return None
    known = [each.cycles for each in outcome.meanings.values() if each.cycles]
    if not known:
        return None
    low, high = min(each.low for each in known), max(each.high for each in known)
    return Span(low, (low + high) / 2, high)
