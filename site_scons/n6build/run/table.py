"""The results of a run for a person: one line a test vector, one an epoch, one sentence in the end."""

from __future__ import annotations

from n6build.console import say, styled
from n6build.network.artifacts import NetworkArtifacts
from n6build.run.compare import Verdict
from n6build.run.session import Outcome


def print_results(outcome: Outcome, artifacts: NetworkArtifacts) -> None:
    for verdict in outcome.verdicts:
        say("Vector", f"{verdict.index}  {_answer(verdict)}", _comparison(verdict))
    total = sum(outcome.epoch_cycles.values())
    for epoch in artifacts.epochs:
        cycles = outcome.epoch_cycles.get(epoch.index)
        if cycles is not None and total:
            per_mac = f"{cycles / epoch.macs:.2f} per MAC" if epoch.macs else ""
            print(
                f"  {epoch.index:>4}  {epoch.kind:<20}{cycles:>12,} instructions {cycles / total:>6.1%}  {per_mac}".rstrip()
            )
    compared = [verdict for verdict in outcome.verdicts if verdict.equal is not None]
    equal = sum(verdict.equal is True for verdict in compared)
    if compared:
        say("Result", f"{equal} of {len(compared)} outputs equal the reference interpreter bit for bit")
    else:
        say("Result", f"{len(outcome.verdicts)} inferences", "no expected outputs to compare with")


def _answer(verdict: Verdict) -> str:
    if not verdict.answer:
        return verdict.label or "done"
    score = f" {verdict.score:.3f}" if verdict.score is not None else ""
    label = f" (label {verdict.label})" if verdict.label and verdict.label != verdict.answer else ""
    return f"{verdict.answer}{score}{label}"


def _comparison(verdict: Verdict) -> str:
    cycles = f"{verdict.cycles:,} instructions" if verdict.cycles else ""
    if verdict.equal is None:
        return cycles
    equal = styled("equal", "good") if verdict.equal else styled(f"{verdict.different_bytes} bytes differ", "bad")
    return f"{cycles}, {equal}" if cycles else equal
