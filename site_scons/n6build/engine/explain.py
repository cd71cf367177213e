"""Reasons to do a step or not, compared with the last time in the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from n6build.base import uses
from n6build.base.bounded import parse_json
from n6build.engine.closure import Code
from n6build.engine.ledger import UNSTABLE, Entry, Ledger
from n6build.engine.plan import Plan, needs_of
from n6build.engine.signature import signed_parts
from n6build.engine.step import Step

Parts = Mapping[str, object]
Ignored = Callable[[str], bool]
DigestOf = Callable[[str], str]
State = Literal["up to date", "to do", "if changed"]
_SHOWN_DIGITS = 12
_SHOWN_LETTERS = 60


@dataclass(frozen=True)
class Status:
    """The status of a step before a build.

    Attributes:
        step: The step.
        state: 'if changed' if an input is going to be made again, perhaps with the same bytes.
        reasons: Reasons for the state, one line each.
    """

    step: Step
    state: State
    reasons: tuple[str, ...]


def statuses(plan: Plan, ledger: Ledger, code: Code, top: str) -> list[Status]:
    """Return the status of each step, in the order of the plan.

    No program is run and no network is accessed.

    Args:
        plan: The plan.
        ledger: Ledger of the build folder.
        code: Code of the library.
        top: Folder of the project, absolute.
    """
    found: dict[str, Status] = {}
    # Many steps read the same files.
    digest_of = cache(uses.digest_of)
    for step in plan.steps:
        found[step.name] = _status(step, plan, found, ledger, signed_parts(step, code, top), digest_of)
    return list(found.values())


def _status(
    step: Step, plan: Plan, before: Mapping[str, Status], ledger: Ledger, parts: Parts, digest_of: DigestOf
) -> Status:
    waiting = {
        maker.name
        for file in (*needs_of(step), *_headers_of(step, ledger))
        if (maker := plan.makers.get(file)) is not None and not _is_up_to_date(before.get(maker.name))
    }
    reasons = tuple(reasons_for(step, ledger, parts, digest_of, ignoring=lambda file: _is_made_by(plan, file, waiting)))
    if reasons:
        return Status(step, "to do", reasons)
    if step.always:
        return Status(step, "to do", ("it runs on every request",))
    taken = {*step.sources, *step.templates, *_headers_of(step, ledger)}
    used = [name for name in sorted(waiting) if not taken.isdisjoint(plan.makers[name].outputs)]
    if used:
        return Status(step, "if changed", tuple(f"{name} is made again" for name in used))
    return Status(step, "up to date", ())


def _is_up_to_date(maker: Status | None) -> bool:
    """Return whether a step that makes an input is up to date.

    Args:
        maker: None if it comes later in the plan, as a step may that makes a header which was
            absent.
    """
    return maker is not None and maker.state == "up to date"


def _headers_of(step: Step, ledger: Ledger) -> Iterable[str]:
    entry = ledger.entries.get(step.name)
    return entry.inputs if entry else ()


def _is_made_by(plan: Plan, file: str, names: set[str]) -> bool:
    maker = plan.makers.get(file)
    return maker is not None and maker.name in names


def reasons_for(
    step: Step, ledger: Ledger, parts: Parts, digest_of: DigestOf = uses.digest_of, *, ignoring: Ignored | None = None
) -> Iterator[str]:
    """Yield reasons to do the step, the most informative first.

    There is none if everything is as it was.

    Args:
        step: The step, whose sources are as they will be.
        ledger: Ledger of the build folder.
        parts: Parts from `signed_parts`.
        digest_of: Function that returns the digest of a file, as in `uses`.
        ignoring: Function that returns whether a change of a file does not count.
    """
    entry = ledger.entries.get(step.name)
    if entry is None:
        yield "it was never built in this build folder"
        return
    yield from _changed_parts(entry.parts, parts)
    for file, was in entry.inputs.items():
        now = digest_of(file)
        if now != was and not (ignoring and ignoring(file)):
            yield _changed_file(file, was, now)
    yield from ledger.objections(step)


def _changed_file(file: str, was: str, now: str) -> str:
    if was == UNSTABLE:
        return f"{file} changed while it was read"
    if not was:
        return f"{file} is new"
    if not now:
        return f"{file} was removed"
    return f"{file} has changed, from {was[:_SHOWN_DIGITS]} to {now[:_SHOWN_DIGITS]}"


def _changed_parts(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in now:
        old, new = before.get(name), now[name]
        if old == new:
            continue
        if name == "parameters":
            yield from _changed_parameters(_parsed(old), _parsed(new))
        elif name == "code":
            yield "the code of its step has changed"
        elif name == "tools":
            known = dict(old) if old and isinstance(old[0], list) else {}
            for tool, digest in new:
                if known.get(tool) != digest:
                    yield f"{tool} has changed"
        elif isinstance(new, list):
            yield from _changed_list(name, old if isinstance(old, list) else [], new)
        else:
            yield f"its {name} has changed, from {_short(old)} to {_short(new)}"


def _changed_list(name: str, old: list[str], new: list[str]) -> Iterator[str]:
    what = name.replace("_", " ")
    gone = [each for each in old if each not in new]
    added = [each for each in new if each not in old]
    if gone:
        yield f"its {what} no longer: {_short(' '.join(gone))}"
    if added:
        yield f"its {what} now: {_short(' '.join(added))}"
    if not gone and not added:
        yield f"its {what} are in a different order"


def _parsed(text: Any) -> Any:
    try:
        return parse_json(text)
    except (TypeError, ValueError):
        return text


def _changed_parameters(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield one line for each value that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                yield from _changed_parameters(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            if one != other:
                yield from _changed_parameters(one, other, f"{path}[{index}]")
    else:
        yield f"parameter {path} has changed, from {_short(old)} to {_short(new)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}..."


def explanation(status: Status, entry: Entry | None) -> list[str]:
    """Return lines about one file, for its user.

    Args:
        status: Status of the step that makes the file.
        entry: Entry of the last time, None if there was none.
    """
    lines = []
    if status.state == "up to date":
        lines.append("is up to date: none of its inputs has changed")
    elif status.state == "if changed":
        lines.append("will be made again if any of its inputs changes:")
    else:
        lines.append("will be made:")
    lines += [f"  {reason}" for reason in status.reasons]
    if entry is not None:
        lines.append(f"was last made {entry.origin} ({entry.seconds:.2f} s), because")
        lines += [f"  {reason}" for reason in entry.reason.split("; ")]
    return lines
