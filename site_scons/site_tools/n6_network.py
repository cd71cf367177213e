"""SCons tool, stage 1: env.N6Network(folder, model) -> network.c, network.h, pool images, c_info and report.

Construction variables: N6_BOARD (n6build.boards.Board), N6_PROFILE (name of a memory pool profile).
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from n6build.console import say
from n6build.files import to_json
from n6build.paths import TEMPLATES
from n6scons import library_files, stage_action

NETWORK = "network"


def generate(env: Any) -> None:
    env.AddMethod(_network, "N6Network")


def exists(env: Any) -> bool:
    return True


def _network(env: Any, folder: str, model: Any) -> list[Any]:
    """model: n6build.models.Model. Returns the targets, network.c first."""
    from n6build.network.board_pools import pools_of
    from n6build.network.memory_pools import initializer_pools

    pools = pools_of(env["N6_BOARD"], env["N6_PROFILE"])

    def compile_model(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.models import check_hash
        from n6build.network.reference import compile_network

        check_hash(model)
        say("Backend", "reference", "every epoch runs on the Cortex-M55")
        compile_network(Path(str(source[0])), pools, Path(str(target[0])).parent, name=NETWORK)

    names = [f"{NETWORK}.c", f"{NETWORK}.h", f"{NETWORK}_c_info.json", f"{NETWORK}_generate_report.txt"]
    names += [f"{NETWORK}_atonbuf.{pool.fname}.raw" for pool in initializer_pools(pools)]
    targets = env.Command(
        [f"{folder}/{name}" for name in names],
        [env.File(str(model.file)), env.Value(to_json([asdict(pool) for pool in pools]), name="memory pools")],
        stage_action("Network", compile_model, stage="network"),
    )
    env.Depends(targets, env.Value(model.sha256 or "", name="sha256"))
    env.Depends(targets, library_files(env, "network", "models.py"))
    env.Depends(targets, [env.File(str(path)) for path in sorted(TEMPLATES.glob("network*.j2"))])
    return targets
