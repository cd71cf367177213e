"""Report for a terminal, at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import chain

from n6build.base.console import clipped, kib, printable
from n6build.board.run.saturation import losing_units, saturation_text
from n6build.check.run import summary
from n6build.judge.accuracy.figures import lines_of
from n6build.judge.own_blobs.epoch_grades import counted_grades
from n6build.judge.timing.expected import NetworkTime
from n6build.judge.timing.timing_table import whole_text
from n6build.tell.content import AddressRange, NetworkSection, NpuSection, Part, Report, RunSection, Unit, urgency
from n6build.tell.slowest import SlowNetwork, slowest

_COLUMNS = 100
_WIDTH = 64
_EPOCHS_SHOWN = 20
_UNITS: tuple[tuple[Unit, str], ...] = (("NPU", "the NPU"), ("CPU", "the CPU"), ("both", "both"))


def report_text(report: Report) -> str:
    """Return the report as lines, each with a newline at its end."""
    lines = [f"{report.application} on {report.board}, profile {report.profile}", ""]
    if slow := slowest(report):
        lines += [*chain.from_iterable(map(_slow, slow)), ""]
    for network in report.networks:
        lines += [*_network(network, "instructions" if report.meanings else "cycles"), ""]
    for axis in (*report.memory, report.flash):
        lines += [*_axis(axis), ""]
    if report.elsewhere:
        lines += ["Not completely inside a memory of the board", *map(_part, report.elsewhere), ""]
    lines += [*_checks(report), ""]
    if report.run:
        lines += [*_run(report.run), ""]
    lines.append("Versions")
    width = min(max((len(name) for name, _ in report.versions), default=0), 40) + 2
    lines += [f"  {name:<{width}}{version}" for name, version in report.versions]
    lines += ["", *_actions(report)]
    return "".join(f"{clipped(printable(line), _COLUMNS)}\n" for line in lines)


def _end(path: str, columns: int) -> str:
    return path if len(path) <= columns else f"...{path[3 - columns :]}"


def share_text(part: float, whole: float) -> str:
    """Return a share as '12.5%'; a share of an empty whole is '0.0%'."""
    return f"{part / whole:.1%}" if whole else "0.0%"


def _slow(network: SlowNetwork) -> Iterator[str]:
    """Yield a line for each of the slowest epochs of a network, with the reason."""
    yield network.sentence
    width = max(len(each.row.number) for each in network.epochs)
    for each in network.epochs:
        kind = clipped(printable(each.row.kind), 15)
        yield f"  {each.row.number:>{width}}  {kind:<15}{each.share:>7.1%}  {each.takes:<18}  {each.why}"


def _network(network: NetworkSection, counted: str) -> Iterator[str]:
    """Yield the lines of a network.

    `counted` is instructions, or cycles of a real board.
    """
    yield f"Network {network.model}, compiled by {network.backend}"
    for direction, ports in (("input", network.inputs), ("output", network.outputs)):
        for port in ports:
            yield f"  {direction:<12}{port}"
    yield f"  {'weights':<12}{kib(network.weights_bytes):>10}   activations {kib(network.activations_bytes)}"
    yield from _counts(network)
    yield from _labelled("compared", network.compared)
    yield from _labelled("int8", lines_of(network.accuracy) if network.accuracy else ())
    yield from _epochs(network, counted)
    if network.npu:
        yield from _npu(network.npu)
    if network.time:
        yield from _time(network.time)


def _counts(network: NetworkSection) -> Iterator[str]:
    """Yield the numbers of epochs and MACs, and the shares of NPU and CPU in them."""
    counts = ", ".join(f"{network.epochs_on(unit)} on {name}" for unit, name in _UNITS if network.epochs_on(unit))
    yield f"  {'epochs':<12}{network.epoch_count:>10}   {counts}{f'; {network.macs:,} MACs' if network.macs else ''}"
    if network.macs and any(network.epochs_on(unit) for unit in ("NPU", "both")):
        shares = [f"{share_text(network.macs_on(unit), network.macs)} on {name}" for unit, name in _UNITS]
        yield f"  {'MACs':<12}{'':>10}   {', '.join(shares)}"


def _labelled(label: str, sentences: Iterable[str]) -> Iterator[str]:
    """Yield wrapped sentences, with a label in front of the first."""
    for number, sentence in enumerate(sentences):
        first = f"  {'' if number else label:<12}"
        yield from textwrap.wrap(sentence, _COLUMNS, initial_indent=first, subsequent_indent=" " * 14)


def _epochs(network: NetworkSection, counted: str) -> Iterator[str]:
    """Yield a line for each of the largest epochs, in the order of execution.

    `counted` is instructions, or cycles of a real board.
    """
    largest = network.largest(_EPOCHS_SHOWN)
    width = max(4, *(len(epoch.number) for epoch in largest), 4)
    for epoch in sorted(largest, key=lambda epoch: epoch.index):
        moved = f"{kib(epoch.bytes):>11}" if epoch.bytes else " " * 11
        cycles = f"{epoch.cycles:>14,} {counted}" if epoch.cycles is not None else ""
        kind = clipped(printable(epoch.kind), 34 - width)
        macs = f"{epoch.macs:>14,} MACs" if epoch.macs else " " * 19
        yield f"    {epoch.number:>{width}}  {epoch.unit:<5}{kind:<{35 - width}}{macs}{moved}{cycles}"
    if len(network.epochs) > len(largest):
        yield f"    and {len(network.epochs) - len(largest)} more"


def _npu(npu: NpuSection) -> Iterator[str]:
    """Yield the lines on the NPU; the page has the complete lists."""
    if npu.grades:
        yield f"  {'grades':<12}{counted_grades(npu.grades)}; experimental"
    for graded in npu.warned[:_EPOCHS_SHOWN]:
        why = f"epoch {graded.number}, {graded.what}: a board failed with this kind, in rung {', '.join(graded.failed)}"
        yield from textwrap.wrap(why, _COLUMNS, initial_indent="    ", subsequent_indent=" " * 6)
    if len(npu.warned) > _EPOCHS_SHOWN:
        yield f"    and {len(npu.warned) - _EPOCHS_SHOWN} more"
    if npu.use is None:
        why = f"NPU  its use by the network cannot be read: {npu.problem}"
        yield from textwrap.wrap(why, _COLUMNS, initial_indent="  ", subsequent_indent=" " * 7)
    else:
        kinds = ", ".join(f"{len(kind.units)} {kind.kind}" for kind in npu.use.kinds)
        yield f"  {'NPU':<12}{npu.use.epochs:>10}   epochs, with {kinds or 'no units'}"
        for each in npu.use.unmodelled[:_EPOCHS_SHOWN]:
            yield f"    epoch {each.epoch}: {each.what}; the virtual NPU does not model that"
        if len(npu.use.unmodelled) > _EPOCHS_SHOWN:
            yield f"    and {len(npu.use.unmodelled) - _EPOCHS_SHOWN} more"
    if npu.epochs:
        macs, reads, writes = (
            sum(each) for each in zip(*((e.macs, e.reads, e.writes) for e in npu.epochs), strict=True)
        )
        yield f"    first inference: {macs:,} MACs, {kib(reads)} read, {kib(writes)} written"
        losing = losing_units(npu.epochs)
        for unit in losing[:_EPOCHS_SHOWN]:
            told = f"epoch {unit.epoch}, {printable(unit.layer)}: {saturation_text(unit)}"
            yield from textwrap.wrap(told, _COLUMNS, initial_indent="    ", subsequent_indent=" " * 6)
        if len(losing) > _EPOCHS_SHOWN:
            yield f"    and {len(losing) - _EPOCHS_SHOWN} more"


def _time(time: NetworkTime) -> Iterator[str]:
    """Yield the lines on the expected time, which is no measurement."""
    yield f"  {'expected':<12}{whole_text(time)}, at {time.at.text}"
    for note in time.notes:
        yield from textwrap.wrap(f"not known: {note}", _COLUMNS, initial_indent=" " * 14, subsequent_indent=" " * 16)


def _axis(axis: AddressRange) -> Iterator[str]:
    """Yield the lines of an axis to scale.

    A letter is a 64th of the axis; a smaller used range is still one letter.
    """
    yield f"{axis.title}, 0x{axis.address:08X}..0x{axis.address + axis.size:08X}, {kib(axis.size)}"
    row = ["."] * _WIDTH
    for space in axis.spaces:
        for part in space.parts:
            first = (part.address - axis.address) * _WIDTH // axis.size
            last = min((part.address + part.size - 1 - axis.address) * _WIDTH // axis.size, _WIDTH - 1)
            row[first : last + 1] = part.kind[0].upper() * (last + 1 - first)
    yield f"  |{''.join(row)}|"
    for space in axis.spaces:
        share = share_text(space.used, space.size)
        yield f"  {space.name:<16}0x{space.address:08X}  {kib(space.size):>10}{kib(space.used):>12} used {share:>7}"
        yield from map(_part, space.parts)
    for pool in axis.pools:
        yield f"  {clipped(printable(pool.label), 44):<46}0x{pool.address:08X}  {kib(pool.size):>12}"


def _part(part: Part) -> str:
    label = clipped(printable(part.label), 40)
    return f"    {part.kind[0].upper()} {label:<42}0x{part.address:08X}  {part.size:>12,} B"


def _checks(report: Report) -> Iterator[str]:
    yield f"Checks: {summary(report.checks)}"
    for check in sorted(report.checks, key=urgency):
        for finding in check.findings:
            word = "waived" if check.state == "waived" else check.severity
            yield f"  {word:<8}{check.id}  {finding.where}"
            answer = f"waived: {check.reason}" if check.state == "waived" else f"hint: {finding.hint}"
            for text in (finding.what, answer):
                yield from textwrap.wrap(text, _COLUMNS, initial_indent=" " * 10, subsequent_indent=" " * 10)


def _run(run: RunSection) -> Iterator[str]:
    registers = f"{len(run.registers)} registers without a model"
    yield f"Run: {run.ended or 'inferences made'}; {len(run.findings)} findings, {registers}"
    for finding in run.findings:
        yield from textwrap.wrap(f"finding  {finding}", _COLUMNS, initial_indent="  ", subsequent_indent=" " * 10)
    for each in run.registers:
        counted = f"{each.reads} reads, {each.writes} writes"
        yield f"  stored   0x{each.address:08X} {each.name}, {counted}, first at {each.where}"


def _actions(report: Report) -> Iterator[str]:
    yield f"Rebuilt by this call: {len(report.actions)} targets in {report.seconds:.2f} s"
    for action in sorted(report.actions, key=lambda action: -action.seconds)[:_EPOCHS_SHOWN]:
        yield f"  {action.stage:<12}{_end(action.target, 70):<72}{action.seconds:>8.2f} s"
