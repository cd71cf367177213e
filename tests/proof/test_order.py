"""A plan does not depend on the order of its steps or of Python's sets."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import cast

import pytest
from called import call
from n6build.base.environment import read_environment
from n6build.base.paths import ROOT
from n6build.describe.choices import Choices
from n6build.engine.command import shown_command
from n6build.engine.local import execute, local_site
from n6build.engine.plan import Plan, make_plan, needs_of, plan_json
from n6build.engine.step import canonical
from n6build.steps.pipeline import application_plan

from proof.conftest import BOARD, tree

_PLANS = (
    Choices(models=("anomaly",)),
    Choices(models=("keyword", "anomaly"), loader="reloc", split=True, slots=2),
)
# These goals compile nothing, so that the test takes seconds, not minutes.
_GOALS = (f"{BOARD}/include/n6_soc.h", f"{BOARD}/include/n6_board_clock.h", f"{BOARD}/anomaly/n6_pools.ld")


def planned(choices: Choices, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.chdir(ROOT)
    return application_plan(choices, read_environment(), ["build"])


def shuffled(plan: Plan, seed: int) -> Plan:
    steps = list(plan.steps)
    random.Random(seed).shuffle(steps)
    return make_plan(steps, plan.goals)


@pytest.mark.parametrize("choices", _PLANS, ids=["linked", "relocatable"])
def test_steps_in_any_order_are_the_same_plan(choices: Choices, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(choices, monkeypatch)
    as_text = sorted(map(canonical, cast("list[object]", plan_json(plan)["steps"])))
    for seed in range(10):
        other = shuffled(plan, seed)
        assert sorted(map(canonical, cast("list[object]", plan_json(other)["steps"]))) == as_text
        assert {name: other.behind(files) for name, files in other.goals.items()}.keys() == plan.goals.keys()
        done: set[str] = set()
        for step in other.steps:
            assert {file for file in needs_of(step) if file in other.makers} <= done, shown_command(step) or step.name
            done |= set(step.outputs)


def test_steps_in_any_order_make_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for seed in (None, 1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        monkeypatch.chdir(folder)
        plan = application_plan(Choices(models=("anomaly",)), read_environment(), ["build"])
        plan = plan if seed is None else shuffled(plan, seed)
        execute(plan, _GOALS, local_site(Path("build"), dict(read_environment().commands)), jobs=2)
        made.append(tree(folder / "build"))
    assert made[0] == made[1] == made[2]
    assert set(_GOALS) <= set(made[0])


_PRINT_PLAN = """
import json, sys
from pathlib import Path
from n6build.describe.choices import Choices
from n6build.base.environment import read_environment
from n6build.engine.closure import library_code
from n6build.engine.local import execute, local_site
from n6build.engine.plan import plan_json
from n6build.engine.signature import signed_parts
from n6build.steps.pipeline import application_plan
plan = application_plan(Choices(models=("anomaly",)), read_environment(), ["build"])
code = library_code()
print(json.dumps([plan_json(plan), [signed_parts(step, code, str(Path.cwd())) for step in plan.steps]]))
execute(plan, json.loads(sys.argv[1]), local_site(Path("build"), dict(read_environment().commands)), jobs=1)
"""


def test_seeds_of_hashes_change_no_plan_no_signature_and_no_file(tmp_path: Path) -> None:
    found = []
    for seed in ("1", "4711"):
        folder = tmp_path / seed
        folder.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "site_scons")}
        result = call(sys.executable, "-c", _PRINT_PLAN, json.dumps(_GOALS), cwd=folder, **environment)
        assert result.returncode == 0, result.stderr
        plan = next(line for line in result.stdout.splitlines() if line.startswith("[{"))
        found.append((json.loads(plan), tree(folder / "build")))
    assert found[0] == found[1]
