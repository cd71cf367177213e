"""The errors of expected times, and of ST's estimate: the figures of docs/time.md."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.judge.timing.facts import read_measurements
from timing_fit import estimates_off, validations


def timing_figures() -> Iterator[tuple[str, str]]:
    """Yield name and value of each figure."""
    facts = read_measurements()
    for name, held in validations(facts).items():
        yield f"expected times: {name}", held.text
    yield "expected times: networks, by ST's compiler", f"median {estimates_off(facts):.1%} ({len(facts.estimates)})"
