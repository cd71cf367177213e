"""The Python code behind a provenance, which is known only after the plan is made.

It is a separate module because every build needs it, but few builds make a provenance.
"""

from __future__ import annotations

import json
from dataclasses import replace

from n6build.base.files import sha256
from n6build.engine.closure import Code
from n6build.engine.plan import Plan
from n6build.engine.signature import modules_behind
from n6build.engine.step import Step, canonical

FUNCTION = "n6build.steps.origin_files:make_image_provenance"


def with_code(plan: Plan, code: Code) -> Plan:
    """Add the digest of the Python code to the parameters of provenance steps.

    The code is that of all steps which the provenance depends on. The plan is made, and remembered,
    before this code is known.

    Args:
        plan: Plan without the digest.
        code: Digests of Python modules.

    Returns:
        The plan, with new parameters in the steps of `FUNCTION`.
    """
    return Plan(
        tuple(_with_code(step, plan, code) if step.function == FUNCTION else step for step in plan.steps), plan.goals
    )


def _with_code(step: Step, plan: Plan, code: Code) -> Step:
    modules = {module for behind in plan.behind(step.sources[:1]) for module in modules_behind(behind)}
    digests = {module: code.digest_of(module) for module in modules}
    return replace(
        step, parameters=canonical({**json.loads(step.parameters), "code": sha256(canonical(digests).encode())})
    )
