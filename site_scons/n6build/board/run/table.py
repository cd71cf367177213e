"""Results of a run for people, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.console import clipped, say, show
from n6build.base.junit import Case, junit
from n6build.board.run.compare import Verdict
from n6build.board.run.comparison_text import accuracy_text, result_lines, verdict_text
from n6build.board.run.console_log import EpochCycles
from n6build.board.run.instructions import meaning_lines
from n6build.board.run.npu_epochs import SHOWN, hardware_epochs, npu_table
from n6build.board.run.saturation import saturated_units, saturation_lines
from n6build.board.run.session import NetworkOutcome, Outcome
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.timed_epochs import timed_epochs
from n6build.judge.timing.expected import NetworkTime
from n6build.judge.timing.timing_table import rows_text, whole_text

_RULE = "  " + "-" * 100


def print_results(outcome: Outcome, networks: Sequence[NetworkArtifacts], times: Sequence[NetworkTime]) -> None:
    """Print a line for each inference, a table of epochs, and a result.

    Args:
        outcome: Result of the run.
        networks: In the order of the outcome.
        times: Expected times on the chip, in the order of the outcome.
    """
    for network, artifacts, time in zip(outcome.networks, networks, times, strict=True):
        if len(networks) > 1:
            say("Model", network.model)
        for verdict in network.verdicts[:SHOWN]:
            told = ", ".join(part for part in (_answer(verdict), _counted(verdict, outcome.counts)) if part)
            compared = verdict_text(verdict, exact=network.tolerance is None)
            say("Vector", f"{verdict.index}  {told}", compared, "good" if verdict.passes else "bad")
        if len(network.verdicts) > SHOWN:
            say("Vector", f"... {len(network.verdicts) - SHOWN} more")
        for text in (*epoch_table(network, artifacts, outcome, time), *_npu_table(network, artifacts)):
            show(text)
    for line in result_lines(outcome.networks):
        say("Result", line)


def _npu_table(network: NetworkOutcome, artifacts: NetworkArtifacts) -> list[str]:
    epochs = hardware_epochs(network.npu_epochs, artifacts)
    return [*npu_table(epochs), *saturation_lines(saturated_units(epochs))]


def epoch_table(network: NetworkOutcome, artifacts: NetworkArtifacts, outcome: Outcome, time: NetworkTime) -> list[str]:
    """Return a table of the first inference's epochs and the mean of all inferences.

    If there are many epochs, only those that take longest are shown, in their order. The table is empty if nothing was counted.

    Args:
        network: Outcome of the network.
        artifacts: Files of the compiled network.
        outcome: Result of the run.
        time: Expected time on the chip.
    """
    cycles = [verdict.cycles for verdict in network.verdicts if verdict.cycles]
    total = sum(epoch.total for epoch in network.epoch_cycles.values())
    if not cycles or not total:
        return []
    ms = f"ms at {outcome.clock_hz / 1e6:.0f} MHz"
    lines = [
        f"  {'epoch':<24}{ms:>16}{outcome.counts:>14} {'':>7}[{'start':>12}{'core':>12}{'end':>12} ]  expected on the chip",
        _RULE,
    ]
    counted = [
        (epoch, network.epoch_cycles[epoch.first])
        for epoch in timed_epochs(artifacts)
        if epoch.first in network.epoch_cycles
    ]
    # None of the counted epochs may be in the files of the network.
    least = min(sorted((each.total for _, each in counted), reverse=True)[:SHOWN], default=0)
    for epoch, each in counted:
        if each.total >= least:
            per_mac = f"  {each.total / epoch.macs:.2f} per MAC" if epoch.macs else ""
            name = clipped(f"{epoch.number:>4}  {epoch.kind}", 24)
            lines.append(
                f"  {name:<24}{_ms(each.total, outcome):>16}{each.total:>14,}{each.total / total:>7.1%} "
                + _split(each)
                + f"  {rows_text(time, epoch.first, epoch.last):<26}{per_mac}".rstrip()
            )
    others = [each.total for _, each in counted if each.total < least]
    if others:
        name = f"{len(others):>4}  others, in run.json"
        lines.append(f"  {name:<24}{_ms(sum(others), outcome):>16}{sum(others):>14,}{sum(others) / total:>7.1%}")
    mean = sum(cycles) / len(cycles)
    parts = [sum(getattr(each, part) for each in network.epoch_cycles.values()) for part in ("start", "core", "end")]
    shares = "".join(f"{part / total:>{width}.1%}" for part, width in zip(parts, (12, 12, 12), strict=True))
    per_second = f"{outcome.clock_hz / mean:,.2f} inf/s"
    lines += [
        _RULE,
        f"  {'total':<24}{_ms(mean, outcome):>16}{mean:>14,.0f} {'':>7}" + _split(EpochCycles(*parts)),
        f"  {'expected on the chip':<24}{whole_text(time)}, at {time.at.text}",
        f"  {'mean of ' + str(len(cycles)):<24}{per_second:>16}{'':>22}[{shares} ]",
        _RULE,
    ]
    if outcome.counts == "instructions":
        lines.append(
            "  The virtual board counts instructions; the times assume one per cycle, and are not those of a real board."
        )
        lines += meaning_lines(outcome.meanings)
    return lines


def _ms(cycles: float, outcome: Outcome) -> str:
    return f"{1000 * cycles / outcome.clock_hz:,.3f}"


def _split(cycles: EpochCycles) -> str:
    return f"[{cycles.start:>12,}{cycles.core:>12,}{cycles.end:>12,} ]"


def run_junit(outcome: Outcome) -> bytes:
    """Return JUnit XML with a test case for each inference, and one for an accuracy.

    Test cases of the virtual board have no time, since it counts instructions.
    """
    is_timed = outcome.counts == "cycles"
    cases = [
        Case(
            group=network.model,
            name=f"{verdict.index} {verdict.label}".strip(),
            seconds=(verdict.cycles or 0) / outcome.clock_hz if is_timed else 0.0,
            failure=_failure(verdict, exact=network.tolerance is None),
            output=", ".join(part for part in _told(network, verdict, outcome.counts) if part),
        )
        for network in outcome.networks
        for verdict in network.verdicts
    ]
    cases += [
        Case(network.model, "accuracy on the board", 0.0, "", accuracy_text(network))
        for network in outcome.networks
        if accuracy_text(network)
    ]
    cases += [
        Case("virtual board", f"finding {number}", 0.0, text, "") for number, text in enumerate(outcome.findings, 1)
    ]
    return junit(f"{outcome.board} {'+'.join(network.model for network in outcome.networks)}", cases)


def _failure(verdict: Verdict, *, exact: bool) -> str:
    if verdict.passes is not False:
        return ""
    if exact:
        return f"{verdict.different_bytes} bytes differ from the reference"
    return f"too far from the reference: {verdict_text(verdict, exact=False)}"


def _told(network: NetworkOutcome, verdict: Verdict, counts: str) -> tuple[str, ...]:
    """Return the words on an inference; without a tolerance, no distance."""
    compared = verdict_text(verdict, exact=False) if network.tolerance else ""
    return _answer(verdict), _counted(verdict, counts), compared


def _counted(verdict: Verdict, counts: str) -> str:
    return f"{verdict.cycles:,} {counts}" if verdict.cycles else ""


def _answer(verdict: Verdict) -> str:
    if not verdict.answer:
        return verdict.label or "done"
    score = f" {verdict.score:.3f}" if verdict.score is not None else ""
    label = f" (label {verdict.label})" if verdict.label and verdict.label != verdict.answer else ""
    return f"{verdict.answer}{score}{label}"
