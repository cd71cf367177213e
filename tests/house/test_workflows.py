"""The shipped workflows check everything, and no cache restores stale builds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from end_to_end.conftest import COPIED
from n6build.describe.invocation import Invocation
from n6build.describe.option import chosen
from n6build.describe.project_settings import resolve

ROOT = Path(__file__).resolve().parents[2]
GITHUB, GITLAB = ROOT / ".github/workflows/daily.yml", ROOT / ".gitlab-ci.yml"


def github_steps() -> list[dict[str, Any]]:
    return list(yaml.safe_load(GITHUB.read_text())["jobs"]["check"]["steps"])


def github_cache(path: str) -> dict[str, str]:
    (cache,) = (step["with"] for step in github_steps() if path in str(step.get("with", {}).get("path")))
    return dict(cache)


def hashed(key: str) -> set[str]:
    """Return the files and folders whose content is in the key."""
    (arguments,) = re.findall(r"hashFiles\((.*?)\)", key)
    return {name.removesuffix("/**") for name in re.findall(r"'(.*?)'", arguments)}


@pytest.mark.parametrize("task", ["lint", "test", "matrix"])
def test_all_that_can_be_checked_is(task: str) -> None:
    on_gitlab = [line for job in yaml.safe_load(GITLAB.read_text()).values() for line in job_script(job)]
    for commands in ([step.get("run", "") for step in github_steps()], on_gitlab):
        assert [command for command in commands if command.startswith(f"make {task}")]


def test_each_night_coverage_leads_the_search_for_bad_input() -> None:
    on_github = yaml.safe_load(GITHUB.read_text())["jobs"]["fuzz"]
    assert on_github["if"] == "github.event_name == 'schedule'"
    on_gitlab = yaml.safe_load(GITLAB.read_text())["fuzz"]
    for commands in ([step.get("run", "") for step in on_github["steps"]], job_script(on_gitlab)):
        assert [command for command in commands if command.startswith("make fuzz GUIDED=1")]


def job_script(job: Any) -> list[str]:
    return list(job.get("script", [])) if isinstance(job, dict) else []


def test_daily_builds_trust_no_times_of_files() -> None:
    (on_github,) = (step for step in github_steps() if step.get("run", "").startswith("make matrix"))
    on_gitlab = yaml.safe_load(GITLAB.read_text())["matrix"]
    for variables in (on_github["env"], on_gitlab["variables"]):
        settings = resolve({}, {name: str(value) for name, value in variables.items()}, ROOT)
        assert chosen(Invocation, settings, ROOT).paranoid


def test_what_scons_has_built_is_taken_for_the_same_content_only() -> None:
    cache = github_cache(".scons-cache")
    assert hashed(cache["key"]) == {*COPIED, "pyproject.toml", "requirements"}
    assert "restore-keys" not in cache
    caches = yaml.safe_load(GITLAB.read_text())["matrix"]["cache"]
    assert [each["key"] for each in caches if each["paths"] == [".scons-cache"]] == ["scons-$CI_COMMIT_SHA"]


def test_the_emulator_is_taken_for_what_it_is_made_of() -> None:
    cache = github_cache(".cache/n6build")
    parts = hashed(cache["key"])
    assert {"tools/virtual_board", "boards/soc", "site_scons/n6build/board/virtual_board", "pyproject.toml"} <= parts
    # Files that are generated for the emulator come from these folders.
    assert {
        "firmware/templates",
        "site_scons/n6build/describe/formats",
        "site_scons/n6build/describe/hardware",
    } <= parts
    assert "restore-keys" not in cache
    assert all(list(ROOT.glob(part)) for part in parts)


def test_files_of_keys_exist() -> None:
    for job in yaml.safe_load(GITLAB.read_text()).values():
        for cache in job.get("cache", []) if isinstance(job, dict) else []:
            files = cache["key"]["files"] if isinstance(cache["key"], dict) else []
            assert len(files) <= 2
            assert all((ROOT / file).is_file() for file in files)


def test_every_night_has_edits_of_its_own() -> None:
    github = yaml.safe_load(GITHUB.read_text())["jobs"]["prove"]
    assert github["if"] == "github.event_name == 'schedule'"
    assert github["steps"][-1]["run"] == "make prove SEED=${{ github.run_number }}"
    gitlab = yaml.safe_load(GITLAB.read_text())["prove"]
    assert gitlab["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "schedule"'}]
    assert gitlab["script"] == ["make prove SEED=$CI_PIPELINE_IID"]
