"""Expected times for people: a table of epochs, a summary, and useful changes."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.console import clipped, printable
from n6build.judge.timing.expected import EpochTime, NetworkTime
from n6build.judge.timing.model import Span
from n6build.judge.timing.what_if import Change

_SHOWN = 40
_KIND = 30
_RULE = "  " + "-" * 112
_NOT_MEASURED = "  Expected, not measured: nine of ten measurements were within this range of the model (docs/time.md)."


def span_text(low: float, high: float | None) -> str:
    """Return a range: '8.1 to 9.4 ms', or 'at least 8.1 ms'."""
    return f"at least {_ms(low)} ms" if high is None else f"{_ms(low)} to {_ms(high)} ms"


def spread_text(span: Span) -> str:
    """Return a value with its range: '9.0 ms (8.1 to 9.4 ms)'."""
    return f"{_ms(span.value)} ms ({span_text(span.low, span.high)})"


def whole_text(time: NetworkTime) -> str:
    """Return a network's time: '9.0 ms (8.1 to 9.4 ms)', or 'at least 8.1 ms'."""
    return span_text(time.low, None) if time.high is None else spread_text(Span(time.low, time.ms, time.high))


def rows_text(time: NetworkTime, first: int, last: int) -> str:
    """Return the range of the epochs from one of ST's numbers to another.

    The form is that of `span_text`; the text is empty if there are no epochs.
    """
    inside = [each for each in time.epochs if first <= each.number <= last]
    highs = [each.high for each in inside if each.high is not None]
    high = sum(highs) if len(highs) == len(inside) else None
    return span_text(sum(each.low for each in inside), high) if inside else ""


def time_lines(time: NetworkTime) -> list[str]:
    """Return the table of a network.

    If there are many epochs, only those that take longest are shown, in their order.
    """
    longest = sorted(time.epochs, key=lambda each: -each.ms)[:_SHOWN]
    shown = [each for each in time.epochs if each in longest]
    head = ("NPU", "flash", "CPU", "overhead", "expected", "range, ms")
    columns = "".join(f"{name:>{width}}" for name, width in zip(head, (9, 9, 9, 10, 10, 20), strict=True))
    lines = [f"  {'epoch':<38}{columns}  bound by", _RULE]
    lines += [_line(each) for each in shown]
    if len(shown) < len(time.epochs):
        rest = sum(each.ms for each in time.epochs if each not in longest)
        lines.append(f"  {len(time.epochs) - len(shown)} more epochs, {_ms(rest)} ms together")
    parts = (time.part("npu"), time.part("flash"), time.part("cpu"), time.part("overhead"))
    cells = "".join(f"{_ms(part):>{width}}" for part, width in zip(parts, (9, 9, 9, 10), strict=True))
    lines += [_RULE, f"  {'all, at ' + time.at.text:<38}"]
    shown_ms = time.low if time.high is None else time.ms
    lines.append(f"  {'':<38}{cells}{_whole(shown_ms, time.high):>10}{_range(time.low, time.high):>20}")
    if time.on_npu:
        lines.append(f"  Compiled for the NPU, by the classes of its operators: {spread_text(time.on_npu)}.")
    lines += [_NOT_MEASURED, *_estimate(time), *(f"  Not known: {printable(note)}." for note in time.notes)]
    return lines


def _estimate(time: NetworkTime) -> list[str]:
    if time.estimate is None:
        return []
    return [f"  ST's compiler expects {_ms(time.estimate)} ms; on six networks that was 0.7 to 98 times wrong."]


def _line(epoch: EpochTime) -> str:
    name = clipped(f"{epoch.number:>4}  {printable(epoch.kind)}", 8 + _KIND)
    parts = (epoch.npu, epoch.flash, epoch.cpu, epoch.overhead)
    cells = "".join(f"{_ms(part):>{width}}" for part, width in zip(parts, (9, 9, 9, 10), strict=True))
    end = f"{_whole(epoch.ms, epoch.high):>10}{_range(epoch.low, epoch.high):>20}  {epoch.bound}"
    return f"  {name:<38}{cells}{end}"


def change_lines(changes: Sequence[Change], limit: int = 6) -> list[str]:
    """Return the changes that save time, the largest gain first."""
    if not changes:
        return ["  No single change that n6build tried helps."]
    lines = ["  The best single changes:"]
    for each in changes[:limit]:
        gain = f"-{_ms(each.ms)} ms ({_range(each.low, each.high)})"
        lines.append(f"  {gain:<28} {each.what}; {each.how}")
    return lines


def board_lines(times: Sequence[tuple[str, NetworkTime]]) -> list[str]:
    """Return a line for each board or clock that runs the same network."""
    width = max(len(name) for name, _ in times)
    return [f"  {name:<{width}}  {time.at.text:<46} {whole_text(time)}" for name, time in times]


def _whole(ms: float, high: float | None) -> str:
    return f">={_ms(ms)}" if high is None else _ms(ms)


def _range(low: float, high: float | None) -> str:
    return f"{_ms(low)} or more" if high is None else f"{_ms(low)} to {_ms(high)}"


def _ms(value: float) -> str:
    return f"{value:,.3f}" if value < 10 else f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"
