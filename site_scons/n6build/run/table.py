"""The results of a run for a person: one line a test vector, one an epoch, one sentence in the end."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.console import say, styled
from n6build.junit import Case, junit
from n6build.network.artifacts import NetworkArtifacts
from n6build.run.compare import Verdict
from n6build.run.session import NetworkOutcome, Outcome


def print_results(outcome: Outcome, networks: Sequence[NetworkArtifacts]) -> None:
    for network, artifacts in zip(outcome.networks, networks, strict=True):
        if len(networks) > 1:
            say("Model", network.model)
        _print_network(network, artifacts)
    compared = [verdict for each in outcome.networks for verdict in each.verdicts if verdict.equal is not None]
    equal = sum(verdict.equal is True for verdict in compared)
    if compared:
        say("Result", f"{equal} of {len(compared)} outputs equal the reference interpreter bit for bit")
    else:
        count = sum(len(network.verdicts) for network in outcome.networks)
        say("Result", f"{count} inferences", "no expected outputs to compare with")


def run_junit(outcome: Outcome) -> bytes:
    """One test case a test vector; the virtual board counts instructions, no time."""
    cases = [
        Case(
            group=network.model,
            name=f"{verdict.index} {verdict.label}".strip(),
            seconds=0.0,
            failure=f"{verdict.different_bytes} bytes differ from the reference" if verdict.equal is False else "",
            output=", ".join(part for part in (_answer(verdict), _plain_comparison(verdict)) if part),
        )
        for network in outcome.networks
        for verdict in network.verdicts
    ]
    cases += [
        Case("virtual board", f"finding {number}", 0.0, text, "") for number, text in enumerate(outcome.findings, 1)
    ]
    return junit(f"{outcome.board} {'+'.join(network.model for network in outcome.networks)}", cases)


def _plain_comparison(verdict: Verdict) -> str:
    return f"{verdict.cycles:,} instructions" if verdict.cycles else ""


def _print_network(network: NetworkOutcome, artifacts: NetworkArtifacts) -> None:
    for verdict in network.verdicts:
        say("Vector", f"{verdict.index}  {_answer(verdict)}", _comparison(verdict))
    total = sum(network.epoch_cycles.values())
    for epoch in artifacts.epochs:
        cycles = network.epoch_cycles.get(epoch.index)
        if cycles is not None and total:
            per_mac = f"{cycles / epoch.macs:.2f} per MAC" if epoch.macs else ""
            print(
                f"  {epoch.index:>4}  {epoch.kind:<20}{cycles:>12,} instructions {cycles / total:>6.1%}  {per_mac}".rstrip()
            )


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
