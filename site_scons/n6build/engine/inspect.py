"""Target plan and option explain: views of a plan on the console and in files."""

from __future__ import annotations

import json
import os
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from n6build.base.console import clipped, line, printable, say, show, styled
from n6build.base.files import to_json, write_atomically
from n6build.engine.explain import Status, explanation, statuses
from n6build.engine.perform import Site
from n6build.engine.plan import Plan, plan_json, step_for
from n6build.engine.step import Step

_COLUMNS = 100
# Columns behind the verb, and behind 'from', 'with', 'why' below it.
_SUBJECT_AT = 12
_DETAIL_AT = _SUBJECT_AT + 5
_FOLDED_FROM = 3
_REASONS_SHOWN = 3
_DEPTH_SHOWN = 4
_BARE = re.compile(r"[A-Za-z_][\w./+-]*")


def plan_text(
    statuses: Sequence[Status], goals: Sequence[str] = (), *, verbose: bool = False, columns: int = _COLUMNS
) -> str:
    """Return a plan as text.

    Adjacent steps of one folder with the same state and reasons share a line.

    Args:
        statuses: Status of each step.
        goals: Names of the requested goals.
        verbose: Whether each step is shown separately, in full.
        columns: Maximum length of a line.
    """
    lines = [_line("Goals", ", ".join(goals), "", columns)] if goals else []
    room = columns - _DETAIL_AT
    same = _reasons_of_all(statuses)
    for alike in _alone(statuses) if verbose else _folded(statuses):
        lines.append(_headline(alike, columns))
        lines += _everything(alike[0], room) if verbose else _details(alike, room, why=not same)
    lines.append(_line("In all", _counted(statuses), "", columns))
    lines += _why(same, room) if not verbose else ()
    return "".join(f"{each}\n" for each in lines)


def explain_text(output: str, lines: Iterable[str], *, columns: int = _COLUMNS) -> str:
    """Return the text of option explain.

    Args:
        output: File that is explained.
        lines: Lines from `n6build.engine.explain.explanation`, which may be long and are not cut.
        columns: Maximum length of the first line.
    """
    rest = (f"{' ' * _SUBJECT_AT}{printable(each)}" for each in lines)
    return "".join(f"{each}\n" for each in (_line("Explain", output, "", columns), *rest))


def _alone(statuses: Sequence[Status]) -> Iterator[tuple[Status, ...]]:
    for status in statuses:
        yield (status,)


def _folded(statuses: Sequence[Status]) -> Iterator[tuple[Status, ...]]:
    """Yield groups of similar steps within a folder, in the same order otherwise."""
    for _, neighbours in groupby(statuses, key=lambda status: (status.step.verb, _folder(status.step.name))):
        alike: dict[tuple[object, ...], list[Status]] = {}
        for status in neighbours:
            alike.setdefault((status.state, status.reasons), []).append(status)
        for each in alike.values():
            yield from _alone(each) if len(each) < _FOLDED_FROM else (tuple(each),)


def _reasons_of_all(statuses: Sequence[Status]) -> tuple[str, ...]:
    """Return the reasons that all steps have in common, else none.

    In a new build folder all steps have the same reason, which is shown once.
    """
    reasons = {(status.state, status.reasons) for status in statuses}
    return statuses[0].reasons if len(statuses) > 1 and len(reasons) == 1 else ()


def _headline(alike: Sequence[Status], columns: int) -> str:
    step, state = alike[0].step, alike[0].state
    outputs = [output for status in alike for output in status.step.outputs]
    if len(alike) > 1:
        return _line(
            step.verb, _folder(step.name), f"{len(outputs)} files, {state}", columns, dim=state == "up to date"
        )
    more = f" and {len(outputs) - 1} more" if len(outputs) > 1 else ""
    return _line(step.verb, step.name + more, state, columns, dim=state == "up to date")


def _line(verb: str, subject: str, detail: str, columns: int, *, dim: bool = False) -> str:
    room = columns - _SUBJECT_AT - (len(detail) + 2 if detail else 0)
    verb, subject = clipped(printable(verb), _SUBJECT_AT - 1), _end(printable(subject), room)
    if dim:
        return styled(f"{verb.rjust(_SUBJECT_AT - 1)} {subject}, {detail}", "dim")
    return line(verb, subject, detail)


def _details(alike: Sequence[Status], room: int, *, why: bool) -> Iterator[str]:
    """Yield the lines below the headline of a step.

    A step that waits for others takes two lines in all: its reasons name its inputs.
    """
    if alike[0].state == "to do":
        steps = [status.step for status in alike]
        files = _by_folder(dict.fromkeys(file for step in steps for file in _sources(step)))
        if files:
            yield _labelled("from", _listed(files, room))
        if len({step.parameters for step in steps}) == 1 and steps[0].parameters != "{}":
            yield _labelled("with", clipped(printable(_parameters(steps[0])), room))
    if why:
        yield from _why(alike[0].reasons, room, shown=_REASONS_SHOWN if alike[0].state == "to do" else 1)


def _why(reasons: Sequence[str], room: int, *, shown: int = _REASONS_SHOWN) -> Iterator[str]:
    left = len(reasons) - shown
    more = f", and {left} more" if left > 0 else ""
    lines = [clipped(printable(reason), room) for reason in reasons[:shown]]
    if more:
        lines[-1] = clipped(lines[-1], room - len(more)) + more
    yield from _column("why", lines)


def _everything(status: Status, room: int) -> Iterator[str]:
    step = status.step
    yield from _column("and", _wrapped(step.outputs[1:], room))
    yield from _column("from", _wrapped(_sources(step), room))
    if step.parameters != "{}":
        yield from _column("with", _filled(_parameters(step), room))
    if step.command:
        yield from _column("run", _filled(shlex.join(step.command), room))
    yield from _column("why", (each for reason in status.reasons for each in _filled(reason, room)))


def _column(label: str, lines: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(lines):
        yield _labelled("" if number else label, text)


def _labelled(label: str, text: str) -> str:
    return f"{' ' * _SUBJECT_AT}{styled(label.ljust(4), 'dim')} {text}"


def _sources(step: Step) -> tuple[str, ...]:
    return (*step.sources, *step.templates)


def _by_folder(files: Iterable[str]) -> list[tuple[str, int]]:
    """Return labels, each with its number of files.

    Many files of one folder have the folder as label, in the place of the first one.
    """
    folders: dict[str, list[str]] = {}
    for file in files:
        folders.setdefault(_folder(file), []).append(file)
    items: list[tuple[str, int]] = []
    for folder, inside in folders.items():
        if len(inside) < _FOLDED_FROM:
            items += ((file, 1) for file in inside)
        else:
            items.append((f"{folder} ({len(inside)} files)", len(inside)))
    return items


def _listed(items: Sequence[tuple[str, int]], room: int) -> str:
    """Return as many labels as fit, at least one, and the number of further files."""
    texts = [printable(text) for text, _ in items]
    left = sum(count for _, count in items)
    shown = ""
    for number, (text, (_, count)) in enumerate(zip(texts, items, strict=True)):
        left -= count
        longer = f"{shown}, {text}" if number else _end(text, room - len(_and_more(left)))
        if len(longer) + len(_and_more(left)) > room:
            return shown + _and_more(left + count)
        shown = longer
    return shown


def _and_more(count: int) -> str:
    return f" and {count} more" if count else ""


def _wrapped(texts: Sequence[str], room: int) -> Iterator[str]:
    """Yield texts on lines that break only between them.

    A text that is too long for a line loses its beginning.
    """
    current = ""
    for number, text in enumerate(texts):
        item = printable(text) + ("," if number < len(texts) - 1 else "")
        if current and len(current) + 1 + len(item) > room:
            yield current
            current = ""
        current = f"{current} {item}" if current else _end(item, room)
    if current:
        yield current


def _filled(text: str, room: int) -> list[str]:
    return textwrap.wrap(printable(text), room, break_on_hyphens=False)


def _parameters(step: Step) -> str:
    """Return the parameters without the outermost braces."""
    try:
        value = json.loads(step.parameters)
    except ValueError:
        return step.parameters
    return _items(value, 0) if isinstance(value, dict) else _readable(value, 0)


def _readable(value: Any, depth: int) -> str:
    """Return JSON with as little punctuation as possible.

    Names and texts are never cut, deep nesting is.
    """
    if isinstance(value, dict):
        return f"{{{_items(value, depth + 1)}}}" if depth < _DEPTH_SHOWN or not value else "{...}"
    if isinstance(value, list):
        inside = ", ".join(_readable(each, depth + 1) for each in value) if depth < _DEPTH_SHOWN or not value else "..."
        return f"[{inside}]"
    if isinstance(value, str) and _BARE.fullmatch(value) and value not in ("true", "false", "null"):
        return value
    return json.dumps(value, ensure_ascii=False)


def _items(value: dict[str, Any], depth: int) -> str:
    return ", ".join(f"{key}: {_readable(each, depth)}" for key, each in value.items())


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _end(path: str, room: int) -> str:
    """Return the end of a path that is too long.

    A file's own name says more than the folders in front of it.
    """
    return path if len(path) <= room else f"...{path[len(path) - max(room - 3, 0) :]}"


def _counted(statuses: Sequence[Status]) -> str:
    to_do = sum(status.state == "to do" for status in statuses)
    waiting = sum(status.state == "if changed" for status in statuses)
    if not to_do and not waiting:
        steps = "step" if len(statuses) == 1 else "steps"
        return f"nothing to do: {len(statuses)} {steps} up to date"
    text = f"{to_do} of {len(statuses)} steps to do"
    return f"{text}, {waiting} if those change" if waiting else text


def show_plan(plan: Plan, goals: Sequence[str], site: Site, *, verbose: bool) -> None:
    """Print the steps that these goals need, and write plan.json and plan.svg.

    The files are in the build folder. If the picture cannot be drawn, a line gives the reason, and an
    older one is removed.

    Raises:
        N6Error: N6-FILE-001 if a file cannot be written; N6-STEP-014 for a file that no step makes.
    """
    from n6build.engine.picture import NoPictureError, plan_svg  # noqa: PLC0415 - no build needs it.

    wanted = _wanted(plan, goals)
    found = statuses(wanted, site.ledger, site.code, str(site.top))
    show(plan_text(found, goals, verbose=verbose))
    write_plan(site.build / "plan.json", plan, goals)
    picture = site.build / "plan.svg"
    try:
        write_atomically(picture, plan_svg(wanted))
    except NoPictureError as reason:
        picture.unlink(missing_ok=True)
        say("Without", f"{picture.name}: {reason}")


def write_plan(path: Path, plan: Plan, goals: Sequence[str]) -> None:
    """Write the steps that these goals need, as JSON.

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written; N6-STEP-014 for a file that no step
            makes.
    """
    wanted = _wanted(plan, goals)
    portable = replace(wanted, goals={name: wanted.goals[name] for name in goals if name in wanted.goals})
    write_atomically(path, to_json(plan_json(portable)))


def files_of(goals: Sequence[str], plan: Plan) -> list[str]:
    """Return the outputs behind names of goals, and files as the plan names them.

    Raises:
        N6Error: N6-STEP-014 for a file that no step makes.
    """
    return [file for goal in goals for file in plan.goals.get(goal) or step_for(goal, plan).outputs]


def are_up_to_date(goals: Sequence[str], plan: Plan, site: Site) -> bool:
    """Return whether a build of these goals would do nothing.

    Raises:
        N6Error: N6-STEP-014 for a file that no step of the plan makes.
    """
    found = statuses(_wanted(plan, goals), site.ledger, site.code, str(site.top))
    return all(status.state == "up to date" for status in found)


def _wanted(plan: Plan, goals: Sequence[str]) -> Plan:
    return Plan(plan.behind(files_of(goals, plan)), plan.goals)


def explain(file: str, plan: Plan, site: Site) -> None:
    """Print why the file was or will be made.

    Raises:
        N6Error: N6-STEP-014 for a file that no step of the plan makes.
    """
    step = step_for(file, plan)
    shown = os.path.relpath(file) if os.path.isabs(file) else os.path.normpath(file)
    found = {status.step.name: status for status in statuses(plan, site.ledger, site.code, str(site.top))}
    why = explanation(found[step.name], site.ledger.entries.get(step.name))
    show(explain_text(shown, why))
