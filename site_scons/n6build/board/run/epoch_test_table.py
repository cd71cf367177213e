"""Results of a run with reference tensors, as a table and as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.console import clipped, say, show, styled
from n6build.base.errors import N6Error
from n6build.base.junit import Case, junit
from n6build.base.size_text import counted
from n6build.board.run.comparison_text import percent
from n6build.board.run.epoch_test import FedEpoch
from n6build.board.run.epoch_test_run import FedOutcome
from n6build.board.run.saturation import REMEDY, saturation_lines, saturation_text

_RULE = "  " + "-" * 100


def print_fed(outcome: FedOutcome) -> None:
    """Print a line for each compared buffer, the sum, and the other buffers."""
    show(f"  {'epoch':<28}{'elements':>12}{'equal':>11}{'within 1':>11}{'max':>6}   buffer")
    show(_RULE)
    for each in outcome.epochs:
        name = clipped(f"{each.epoch:>4}  {each.operators}", 28)
        equal, within_1 = (percent(count, each.elements) for count in (each.equal, each.within_1))
        line = f"  {name:<28}{each.elements:>12,}{equal:>11}{within_1:>11}{each.max:>6}"
        show(
            f"{line}   {each.buffer}"
            + (
                ""
                if each.good
                else f"  {styled('outside its ' + ('tolerance' if each.furthest is None else 'bound'), 'bad')}"
            )
        )
    show(_RULE)
    for one in outcome.not_compared:
        show(f"  {one.epoch:>4}  {one.buffer}: not compared, {one.why}")
    for constant in outcome.contradictions:
        show(f"  {constant.epoch:>4}  {styled('not from the model', 'bad')}: {constant.what}")
    for text in saturation_lines(outcome.saturated):
        show(text)
    say("Epochs", _sum(outcome), f"against {outcome.reference}")


def _far(epoch: FedEpoch) -> str:
    return f"{percent(epoch.equal, epoch.elements)} equal, {percent(epoch.within_1, epoch.elements)} within 1"


def _sum(outcome: FedOutcome) -> str:
    elements, equal, within_1 = (
        sum(getattr(each, field) for each in outcome.epochs) for field in ("elements", "equal", "within_1")
    )
    buffers = len(outcome.epochs) + len(outcome.not_compared)
    worst = max((each.max for each in outcome.epochs), default=0)
    return (
        f"{len(outcome.epochs)} of {buffers} buffers compared, {elements:,} elements: {percent(equal, elements)} equal, "
        f"{percent(within_1, elements)} within 1, max {worst}"
    )


def raise_if_outside(outcomes: Sequence[FedOutcome], findings: Sequence[str]) -> None:
    """Check that all epochs are within their tolerance and nothing was found.

    Raises:
        N6Error: N6-RUN-004 for findings of the virtual board; N6-RUN-014 for the first constant that does
            not follow from the model; N6-RUN-011 for the first epoch outside its tolerance.
    """
    if findings:
        raise N6Error("N6-RUN-004", f"the virtual board has {counted(len(findings), 'finding')}", where=findings[0])
    for outcome in outcomes:
        _raise_if_contradicted(outcome)
        first = outcome.first_wrong
        if first:
            wrong = sum(not each.good for each in outcome.epochs)
            worst = min(outcome.epochs, key=lambda each: (each.within_1 / each.elements, each.equal / each.elements))
            what = (
                f"{wrong} of {len(outcome.epochs)} epochs are outside their {_limits(outcome)}, epoch {first.epoch} first: "
                f"{_reason(first)}; furthest off is epoch {worst.epoch}, "
                f"{percent(worst.within_1, worst.elements)} within 1"
            )
            raise N6Error("N6-RUN-011", what, where=f"{outcome.model}: {first.buffer}", hint=_hint(outcome, first))


def _raise_if_contradicted(outcome: FedOutcome) -> None:
    if not outcome.contradictions:
        return
    first = outcome.contradictions[0]
    epochs = len({each.epoch for each in outcome.contradictions})
    what = (
        f"{counted(epochs, 'epoch')} {'has' if epochs == 1 else 'have'} constants that do not follow from "
        f"{outcome.reference}, epoch {first.epoch} first: {first.what}"
    )
    hint = "compile the network from this model again, or name the model that it was compiled from (reference.model)"
    raise N6Error("N6-RUN-014", what, where=outcome.model, hint=hint)


def _hint(outcome: FedOutcome, wrong: FedEpoch) -> str:
    """Return the remedy for a wrong epoch."""
    losing = [saturation_text(each) for each in outcome.losing if each.epoch == wrong.epoch]
    if wrong.reads_from is not None:
        return f"check epoch {wrong.reads_from}, too: this epoch reads its output, which is not compared"
    if losing:
        return f"{'; '.join(losing)}: {REMEDY}"
    return "check its weights, its quantisation and tolerance.epoch in model.yaml: its inputs were right"


def _reason(epoch: FedEpoch) -> str:
    """Return why an epoch is wrong, with its shares."""
    return epoch.why if epoch.furthest is None else f"{_far(epoch)}, but {epoch.why}"


def _limits(outcome: FedOutcome) -> str:
    """Return the word for the limits of the wrong epochs."""
    return "tolerance" if all(each.furthest is None for each in outcome.epochs if not each.good) else "bound"


def fed_junit(board: str, outcomes: Sequence[FedOutcome], findings: Sequence[str]) -> bytes:
    """Return JUnit XML with a test case for each buffer."""
    cases = [
        Case(
            group=outcome.model,
            name=f"epoch {each.epoch} {each.buffer}",
            seconds=0.0,
            failure="" if each.good else _reason(each),
            output=f"{each.elements} elements, {each.equal} equal, {each.within_1} within 1, max {each.max}",
        )
        for outcome in outcomes
        for each in outcome.epochs
    ]
    cases += [
        Case(group=outcome.model, name=f"epoch {each.epoch} constants", seconds=0.0, failure=each.what, output="")
        for outcome in outcomes
        for each in outcome.contradictions
    ]
    cases += [Case("virtual board", f"finding {number}", 0.0, text, "") for number, text in enumerate(findings, 1)]
    return junit(f"{board} {'+'.join(outcome.model for outcome in outcomes)} by epochs", cases)
