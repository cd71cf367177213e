"""SCons tool: env.N6Report(folder, ...) -> report.html, report.txt and report.json of the build that has just been done."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from n6build.console import say
from n6build.files import write_atomically
from n6scons import actions_so_far, stage_action


def generate(env: Any) -> None:
    env.AddMethod(_report, "N6Report")


def exists(env: Any) -> bool:
    return True


def _report(
    env: Any,
    folder: str,
    networks: list[Any],
    plan: Any,
    manifest: Any,
    programs: list[Any],
    checks: Any,
    others: list[Any],
) -> list[Any]:
    """programs: ELF files of FSBL and Appli. others: what else this call builds, and the run where there is one."""
    board, runtime = env["N6_BOARD"], env["N6_RUNTIME"]
    ran = [node for node in others if str(node).endswith("run.json")]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.checks.run import read_results
        from n6build.image.manifest import read_manifest
        from n6build.image.sizes import program_extent
        from n6build.memory_plan.plan import read_plan
        from n6build.network.read_artifacts import read_artifacts
        from n6build.network.runtimes import version_text
        from n6build.report.collect import collect
        from n6build.report.content import report_json
        from n6build.report.html import report_html
        from n6build.report.text import report_text

        paths = [Path(str(node)) for node in source]
        artifacts = [read_artifacts(network.folder, network.name) for network in networks]
        tools = [tool for each in artifacts for tool in each.tools]
        actions, seconds = actions_so_far()
        report = collect(
            board=board,
            plan=read_plan(paths[0]),
            manifest=read_manifest(paths[1]),
            networks=[(network.backend, each) for network, each in zip(networks, artifacts, strict=True)],
            programs=[program_extent(name, path) for name, path in zip(("FSBL", "Appli"), paths[2:4], strict=True)],
            cycles=_cycles(Path(str(ran[0]))) if ran else [],
            checks=read_results(paths[4]),
            versions=[
                *dict.fromkeys(tools),
                ("ll_aton", f"{version_text(runtime.version)} ({'n6build' if runtime.name == 'n6build' else 'ST'})"),
                ("compiler", _compiler_version(env)),
            ],
            actions=actions,
            seconds=seconds,
        )
        text = report_text(report)
        for path, content in zip(target, (report_html(report), text, report_json(report)), strict=True):
            write_atomically(Path(str(path)), content)
        print(text, end="", flush=True)
        say("Report", str(target[0]))

    report = env.Command(
        [f"{folder}/report.html", f"{folder}/report.txt", f"{folder}/report.json"],
        [plan, manifest, *programs, checks],
        stage_action("Report", make, stage="report"),
    )
    env.Depends(report, others)
    # It tells what this very call has done.
    env.AlwaysBuild(report)
    env.NoCache(report)
    return list(report)


def _cycles(run: Path) -> list[dict[int, int]]:
    networks = json.loads(run.read_text())["networks"]
    return [
        {int(epoch): sum(cycles.values()) for epoch, cycles in network["epoch_cycles"].items()} for network in networks
    ]


def _compiler_version(env: Any) -> str:
    command = [env.subst("$CC"), "--version"]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env=env["ENV"], stdin=subprocess.DEVNULL
    )
    return result.stdout.splitlines()[0] if result.stdout else "unknown"
