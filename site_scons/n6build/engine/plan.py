"""A plan: steps that fit together, and goals, which are names for outputs."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, cached_property
from typing import Any

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.regular_file import content_of
from n6build.engine.step import Step, Tool, canonical

FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """A plan.

    Attributes:
        steps: Steps, each behind those that make its sources.
        goals: Outputs of steps, by a name such as 'build'.
    """

    steps: tuple[Step, ...]
    goals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def makers(self) -> dict[str, Step]:
        """Return the step that makes each output."""
        return {output: step for step in self.steps for output in step.outputs}

    def behind(self, wanted: Iterable[str]) -> tuple[Step, ...]:
        """Return the steps needed for these outputs, in the order of the plan."""
        needed: set[str] = set()
        waiting = list(wanted)
        while waiting:
            step = self.makers.get(waiting.pop())
            if step is not None and step.name not in needed:
                needed.add(step.name)
                waiting += needs_of(step)
        return tuple(step for step in self.steps if step.name in needed)


def needs_of(step: Step) -> tuple[str, ...]:
    """Return the files that have to exist before the step runs."""
    return (*step.sources, *step.templates, *step.after)


def make_plan(steps: Iterable[Step], goals: Mapping[str, Sequence[str]] | None = None) -> Plan:
    """Return a plan of steps.

    Args:
        steps: Steps in any order; equal ones count once.
        goals: Outputs of steps, by the names of goals.

    Raises:
        N6Error: N6-STEP-003 if two steps make the same file; N6-STEP-004 for a cycle; N6-STEP-007
            for a function that does not
            exist.
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


def step_for(file: str, plan: Plan) -> Step:
    """Return the step that makes a file.

    Args:
        file: Path relative to the working directory, or absolute.
        plan: The plan.

    Raises:
        N6Error: N6-STEP-014 if no step makes it.
    """
    name = os.path.relpath(file) if os.path.isabs(file) and file not in plan.makers else os.path.normpath(file)
    step = plan.makers.get(name)
    if step is None:
        near = did_you_mean(name, plan.makers)
        hint = near if near.startswith("did you mean") else "run scons plan, which lists the outputs of all steps"
        raise N6Error("N6-STEP-014", f"no step of this plan makes {name}", hint=hint)
    return step


def joined(plans: Sequence[Plan]) -> Plan:
    """Return the steps and goals of several plans as one plan, common ones once.

    If one of the plans has all steps, they were checked when it was made.

    Raises:
        N6Error: Errors of `make_plan`.
    """
    wanted: dict[str, dict[str, None]] = {}
    for plan in plans:
        for name, files in plan.goals.items():
            wanted.setdefault(name, {}).update(dict.fromkeys(files))
    goals = {name: tuple(each) for name, each in wanted.items()}
    steps = dict.fromkeys(step for plan in plans for step in plan.steps)
    whole = next((plan for plan in plans if len(plan.steps) == len(steps)), None)
    return make_plan(steps, goals) if whole is None else Plan(whole.steps, goals)


def _described(step: Step) -> str:
    return f"{step.verb} {step.name}" + (f" ({step.made_at})" if step.made_at else "")


def _check_function(step: Step) -> None:
    """Check that the function of a step exists, by the text of its module.

    This is faster than importing the module.

    Raises:
        N6Error: N6-STEP-007 if there is no such function.
    """
    module, _, name = step.function.partition(":")
    if not module:
        return
    source = _source_of(module)
    if source is None:
        what = f"step {step.name}: module '{module}' does not exist"
        raise N6Error("N6-STEP-007", what, where=step.made_at or None, hint="name it as 'module:function'")
    if not re.search(rf"^def {re.escape(name)}\(".encode(), source, re.MULTILINE):
        what = f"step {step.name}: module '{module}' has no function '{name}'"
        hint = "define it there with def, at the top level"
        raise N6Error("N6-STEP-007", what, where=step.made_at or None, hint=hint)


@cache
def _source_of(module: str) -> bytes | None:
    try:
        found = importlib.util.find_spec(module)
        return content_of(found.origin) if found and found.origin else None
    except (ImportError, ValueError, OSError):
        return None


def _ordered(steps: Iterable[Step], makers: Mapping[str, Step]) -> tuple[Step, ...]:
    """Return steps behind those that they need, and otherwise in the given order.

    Raises:
        N6Error: N6-STEP-004 for a cycle.
    """
    done: dict[Step, None] = {}
    for step in steps:
        _visit(step, makers, done)
    return tuple(done)


def _visit(first: Step, makers: Mapping[str, Step], done: dict[Step, None]) -> None:
    """Add a step to `done`, behind all that it needs.

    There is no recursion, since plans may be deep.
    """
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
                cycle = " <- ".join([*names[names.index(below.name) :], below.name])
                what = f"steps depend on each other in a cycle: {cycle}"
                raise N6Error(
                    "N6-STEP-004",
                    what,
                    where=step.made_at or None,
                    hint="use outputs of earlier steps only",
                )
            path[below.name] = (below, iter(needs_of(below)))
            break
        else:
            done[step] = None
            del path[name]


def plan_json(plan: Plan) -> dict[str, object]:
    """Return the plan for a JSON file.

    Fields of steps that have their default are omitted.
    """
    return {
        "format": FORMAT,
        "goals": {name: list(files) for name, files in plan.goals.items()},
        "steps": [_step_json(step) for step in plan.steps],
    }


_DEFAULTS = {each.name: each.default for each in fields(Step) if each.name != "made_at"}


def _step_json(step: Step) -> dict[str, Any]:
    values = {name: getattr(step, name) for name, default in _DEFAULTS.items() if getattr(step, name) != default}
    values["tools"] = [asdict(tool) for tool in step.tools]
    # Parameters are a readable object, which gives the same text when it is read back.
    values["parameters"] = json.loads(step.parameters)
    return {name: value for name, value in values.items() if value not in ([], {})}


def read_plan_json(values: object) -> Plan:
    """Return a plan that n6build has written as JSON.

    Args:
        values: Values from `plan_json`; nothing else is expected.

    Raises:
        N6Error: N6-STEP-009 if it is not a plan of this version.
    """
    document: Any = values
    try:
        if document["format"] != FORMAT:
            raise ValueError(f"it has format {document['format']} of another n6build; this one reads {FORMAT}")
        steps = []
        for each in document["steps"]:
            given: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in each.items()
            }
            given["tools"] = tuple(Tool(str(tool["name"]), str(tool["digest"])) for tool in each.get("tools", ()))
            given["parameters"] = canonical(each.get("parameters", {}))
            steps.append(Step(**given, made_at="plan.json"))
        return Plan(tuple(steps), {str(name): tuple(map(str, files)) for name, files in document["goals"].items()})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise N6Error("N6-STEP-009", f"is not a plan: {error}", hint="run scons plan, which writes it again") from error
