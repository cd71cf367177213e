"""The Python that carries out the steps behind a provenance: an input of it that is known only after the plan is made.

A module of its own, since every build needs it, and few make a provenance.
"""

from __future__ import annotations

import json
from dataclasses import replace

from n6build.base.files import sha256
from n6build.plan.closure import Code
from n6build.plan.plan import Plan
from n6build.plan.signature import modules_behind
from n6build.plan.step import Step, canonical

FUNCTION = "n6build.steps.provenance:make"


def with_code(plan: Plan, code: Code) -> Plan:
    """The plan, in which steps of `FUNCTION` know the Python that carries out the steps behind them. The plan itself is made
    before that is known, and is remembered without it."""
    return Plan(
        tuple(_with_code(step, plan, code) if step.function == FUNCTION else step for step in plan.steps), plan.goals
    )


def _with_code(step: Step, plan: Plan, code: Code) -> Step:
    modules = {module for behind in plan.behind(step.sources[:1]) for module in modules_behind(behind)}
    digests = {module: code.digest_of(module) for module in modules}
    return replace(
        step, parameters=canonical({**json.loads(step.parameters), "code": sha256(canonical(digests).encode())})
    )
