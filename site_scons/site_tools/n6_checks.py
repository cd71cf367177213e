"""SCons tool: env.N6Checks(folder, ...) -> checks.json, then checks.txt, which a failed check of severity error stops.

Two files, because a report has to be possible of a build whose checks fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from n6build.console import say
from n6build.files import to_json, write_atomically
from n6build.network.board_pools import pools_of_networks
from n6scons import library_files, quiet_action, stage_action

_LIBRARY = ("checks", "memory_plan", "network/artifacts.py", "network/board_pools.py", "network/c_info_reader.py")
_LIBRARY += ("network/model_facts.py", "network/network_c.py", "network/read_artifacts.py", "network/runtimes.py")


def generate(env: Any) -> None:
    env.AddMethod(_checks, "N6Checks")


def exists(env: Any) -> bool:
    return True


def _checks(env: Any, folder: str, networks: list[Any], plan: Any, manifest: Any, installed: list[Any]) -> list[Any]:
    """networks: of N6Networks. plan: memory_plan.json. installed: of N6Reloc, empty where networks are linked into the Appli.

    Returns checks.json and checks.txt.
    """
    board, profile, runtime = env["N6_BOARD"], env["N6_PROFILE"], env["N6_RUNTIME"]
    models = [network.model for network in networks]
    given = pools_of_networks(board, profile, [model.network.pools for model in models])

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.checks.run import checks_json, run_checks
        from n6build.checks.subject import NetworkSubject, Subject
        from n6build.image.manifest import read_manifest
        from n6build.memory_plan.plan import read_plan
        from n6build.network.model_facts import read_model_facts
        from n6build.network.read_artifacts import read_artifacts

        subjects = tuple(
            NetworkSubject(
                model=network.model,
                backend=network.backend,
                artifacts=read_artifacts(network.folder, network.name),
                pools=pools,
                facts=read_model_facts(network.model.file) if network.model.file else None,
            )
            for network, pools in zip(networks, given, strict=True)
        )
        plan, manifest = read_plan(Path(str(source[0]))), read_manifest(Path(str(source[1])))
        subject = Subject(board, subjects, plan, manifest, runtime, tuple(_installed(env, installed)))
        results = run_checks(subject)
        write_atomically(Path(str(target[0])), checks_json(results))

    def judge(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.checks.run import described, raise_if_failed, read_results

        results = read_results(Path(str(source[0])))
        for verb, text in described(results):
            say(verb, text)
        raise_if_failed(results)
        write_atomically(Path(str(target[0])), "".join(f"{verb:<9}{text}\n" for verb, text in described(results)))

    checks = env.Command(f"{folder}/checks.json", [plan, manifest], stage_action("Check", make, stage="checks"))
    env.Depends(checks, [node for network in networks for node in network.targets])
    env.Depends(checks, [model.file for model in installed])
    env.Depends(checks, [env.File(str(model.file)) for model in models if model.file])
    described = [[model.name, repr(model.network), model.waived] for model in models]
    env.Depends(
        checks,
        env.Value(
            to_json([described, list(runtime.version), profile, *([env["N6_LOAD_MODE"]] if installed else [])]),
            name="models",
        ),
    )
    env.Depends(checks, [env.File(str(path)) for path in board.files])
    env.Depends(checks, library_files(env, *_LIBRARY))
    judged = env.Command(f"{folder}/checks.txt", checks, quiet_action(judge, stage="checks"))
    env.Depends(judged, library_files(env, "checks/run.py"))
    return [checks[0], judged[0]]


def _installed(env: Any, models: list[Any]) -> Iterator[Any]:
    if not models:
        return
    from n6build.checks.subject import InstalledModel
    from n6build.reloc.reader import read_reloc_file
    from n6build.reloc.slots import executable_ram_part

    mode, room = env["N6_LOAD_MODE"], executable_ram_part(env["N6_BOARD"], len(models))
    for model in models:
        file = read_reloc_file(Path(str(model.file)))
        needed = file.copy_bytes if mode == "copy" else file.xip_bytes
        yield InstalledModel(model.network.model.name, mode, needed, room)
