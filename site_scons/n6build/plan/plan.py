"""A plan: steps that fit together, and names for what somebody may ask for."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from n6build.base.errors import N6Error
from n6build.plan.step import Step, Tool, canonical

FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """steps: each behind those that make its sources. goals: what a name such as 'build' asks for, as outputs of steps."""

    steps: tuple[Step, ...]
    goals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def makers(self) -> dict[str, Step]:
        """By output."""
        return {output: step for step in self.steps for output in step.outputs}

    def step_of(self, file: str) -> Step | None:
        return self.makers.get(file)

    def behind(self, wanted: Iterable[str]) -> tuple[Step, ...]:
        """The steps that are needed for these outputs, in the order of the plan."""
        needed: set[str] = set()
        waiting = list(wanted)
        while waiting:
            step = self.makers.get(waiting.pop())
            if step is not None and step.name not in needed:
                needed.add(step.name)
                waiting += needs_of(step)
        return tuple(step for step in self.steps if step.name in needed)


def needs_of(step: Step) -> tuple[str, ...]:
    """Files that have to be there before it runs."""
    return (*step.sources, *step.templates, *step.after)


def make_plan(steps: Iterable[Step], goals: Mapping[str, Sequence[str]] | None = None) -> Plan:
    """Steps in any order; one that comes twice counts once.

    Raises N6-STEP-003 where two steps make one file, N6-STEP-004 for a circle, N6-STEP-007 for a function that is not there.
    """
    makers: dict[str, Step] = {}
    different: dict[Step, None] = dict.fromkeys(steps)
    for step in different:
        for output in step.outputs:
            other = makers.setdefault(output, step)
            if other is not step or step.outputs.count(output) > 1:
                what = f"two steps make {output}: {_described(other)} and {_described(step)}"
                raise N6Error("N6-STEP-003", what, where=step.made_at or None, hint="give one of them another output")
        _check_function(step)
    return Plan(_ordered(different, makers), {name: tuple(files) for name, files in (goals or {}).items()})


def joined(plans: Sequence[Plan]) -> Plan:
    """What several plans have in common is there once."""
    goals: dict[str, dict[str, None]] = {}
    for plan in plans:
        for name, files in plan.goals.items():
            goals.setdefault(name, {}).update(dict.fromkeys(files))
    return make_plan(
        (step for plan in plans for step in plan.steps), {name: tuple(each) for name, each in goals.items()}
    )


def _described(step: Step) -> str:
    return f"{step.verb} {step.name}" + (f" ({step.made_at})" if step.made_at else "")


def _check_function(step: Step) -> None:
    """Without importing it, which takes its time: by the text of its module."""
    module, _, name = step.function.partition(":")
    if not module:
        return
    source = _source_of(module)
    if source is None:
        what = f"step {step.name}: there is no module '{module}'"
        raise N6Error("N6-STEP-007", what, where=step.made_at or None, hint="name it as 'module:function'")
    if not re.search(rf"^def {re.escape(name)}\(".encode(), source, re.MULTILINE):
        what = f"step {step.name}: module '{module}' has no function '{name}'"
        hint = "define it there with def, at the top level"
        raise N6Error("N6-STEP-007", what, where=step.made_at or None, hint=hint)


@cache
def _source_of(module: str) -> bytes | None:
    try:
        found = importlib.util.find_spec(module)
        return Path(found.origin).read_bytes() if found and found.origin else None
    except (ImportError, ValueError, OSError):
        return None


def _ordered(steps: Iterable[Step], makers: Mapping[str, Step]) -> tuple[Step, ...]:
    """Topological, otherwise as given. Raises N6-STEP-004."""
    done: dict[Step, None] = {}
    for step in steps:
        _visit(step, makers, done)
    return tuple(done)


def _visit(first: Step, makers: Mapping[str, Step], done: dict[Step, None]) -> None:
    """Without recursion: plans of others may be deep."""
    path: dict[str, tuple[Step, Iterator[str]]] = {first.name: (first, iter(needs_of(first)))}
    if first in done:
        return
    while path:
        name, (step, needs) = next(reversed(path.items()))
        for file in needs:
            below = makers.get(file)
            if below is None or below in done:
                continue
            if below.name in path:
                names = [*path]
                circle = " <- ".join([*names[names.index(below.name) :], below.name])
                what = f"steps need each other in a circle: {circle}"
                raise N6Error(
                    "N6-STEP-004", what, where=step.made_at or None, hint="a step needs only what comes before"
                )
            path[below.name] = (below, iter(needs_of(below)))
            break
        else:
            done[step] = None
            del path[name]


def plan_json(plan: Plan) -> dict[str, Any]:
    """Only what differs from a step that says nothing."""
    return {
        "format": FORMAT,
        "goals": {name: list(files) for name, files in plan.goals.items()},
        "steps": [_step_json(step) for step in plan.steps],
    }


_DEFAULTS = {each.name: each.default for each in fields(Step) if each.name != "made_at"}


def _step_json(step: Step) -> dict[str, Any]:
    values = {name: getattr(step, name) for name, default in _DEFAULTS.items() if getattr(step, name) != default}
    values["tools"] = [asdict(tool) for tool in step.tools]
    # Readable, and the same text again when it is read.
    values["parameters"] = json.loads(step.parameters)
    return {name: value for name, value in values.items() if value not in ([], {})}


def read_plan_json(values: Any) -> Plan:
    """Of `plan_json`. Raises N6-STEP-009 where it is not a plan of this version, and what `make_plan` does."""
    plan = read_trusted_plan_json(values)
    return make_plan(plan.steps, plan.goals)


def read_trusted_plan_json(values: Any) -> Plan:
    """Of a plan that was checked before it was written. Raises N6-STEP-009 where it is not a plan of this version."""
    try:
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']}, not {FORMAT}")
        steps = []
        for each in values["steps"]:
            given: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in each.items()
            }
            given["tools"] = tuple(Tool(str(tool["name"]), str(tool["digest"])) for tool in each.get("tools", ()))
            given["parameters"] = canonical(each.get("parameters", {}))
            steps.append(Step(**given, made_at="plan.json"))
        return Plan(tuple(steps), {str(name): tuple(map(str, files)) for name, files in values["goals"].items()})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise N6Error("N6-STEP-009", f"is not a plan: {error}", hint="scons plan writes it anew") from error
