"""SCons tool: env.N6MemoryPlan(folder, networks) -> memory_plan.json, n6_memory_plan.c, n6_pools.ld and the images of the data
slots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.errors import N6Error
from n6build.files import read_bytes, to_json, write_atomically
from n6build.network.board_pools import external_regions
from n6build.paths import TEMPLATES
from n6scons import library_files, stage_action, stop_with

PLAN_FILES = ("memory_plan", "network/artifacts.py", "network/read_artifacts.py", "network/c_info_reader.py")
PLAN_FILES += ("network/network_c.py", "network/json_value.py", "network/runtimes.py", "boards.py", "soc.py")


def generate(env: Any) -> None:
    env.AddMethod(_memory_plan, "N6MemoryPlan")
    env.AddMethod(_vectors_images, "N6VectorsImages")


def exists(env: Any) -> bool:
    return True


def _memory_plan(env: Any, folder: str, networks: list[Any]) -> dict[str, list[Any]]:
    """networks: of N6Networks. Returns 'plan' (json, c, linker script), 'weights' and 'vectors' (slot images)."""
    board, profile, runtime = env["N6_BOARD"], env["N6_PROFILE"], env["N6_RUNTIME"]

    sizes = {name: size for network in networks for name, size in network.model.network.pools.items()}
    try:
        regions = external_regions(board, sizes)
    except N6Error as error:
        stop_with(error)

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.memory_plan.generated_c import plan_source, pools_script
        from n6build.memory_plan.plan import compiled_network, make_plan, plan_json
        from n6build.network.runtimes import check_epochs, check_version

        compiled = [compiled_network(network.model, network.folder, network.name) for network in networks]
        for network in compiled:
            check_epochs(network.artifacts, runtime)
            check_version(network.artifacts.ll_aton, runtime, network.artifacts.source.name)
        plan = make_plan(board, profile, compiled, regions)
        for path, text in zip(target, (plan_json(plan), plan_source(plan), pools_script(plan)), strict=True):
            write_atomically(Path(str(path)), text)

    inputs = [env.File(str(network.model.inputs)) for network in networks if network.model.inputs]
    plan = env.Command(
        [f"{folder}/memory_plan.json", f"{folder}/n6_memory_plan.c", f"{folder}/n6_pools.ld"],
        [*(node for network in networks for node in network.targets), *inputs],
        stage_action("Plan", make, stage="plan"),
    )
    about = [f"{network.name} {network.model.name} {network.model.result}" for network in networks]
    env.Depends(plan, env.Value(" ".join([*about, profile]), name="networks"))
    env.Depends(plan, env.Value(to_json(sizes), name="sizes"))
    env.Depends(plan, env.Value([runtime.name, *runtime.version], name="ll_aton"))
    env.Depends(plan, [env.File(str(path)) for path in board.files])
    env.Depends(plan, library_files(env, *PLAN_FILES))
    env.Depends(plan, env.File(str(TEMPLATES / "n6_memory_plan.c.j2")))
    return {
        "plan": plan,
        "weights": [
            _weights_image(env, folder, network, raw, plan[0], len(networks))
            for network in networks
            for raw in network.raws
        ],
        "vectors": _vectors_images(env, folder, networks),
    }


def _vectors_images(env: Any, folder: str, networks: list[Any]) -> list[Any]:
    return [_vectors_image(env, folder, network, len(networks)) for network in networks if network.model.inputs]


def _weights_image(env: Any, folder: str, network: Any, raw: Any, plan: Any, networks: int) -> Any:
    """Empty where the network compiler put nothing into the pool."""
    from n6build.memory_plan.slot_image import weights_slot_file

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.memory_plan.plan import read_plan
        from n6build.memory_plan.slot_image import slot_image

        raw = Path(str(source[0]))
        images = [image for image in read_plan(Path(str(source[1]))).images if image.file == raw.name]
        data = slot_image(read_bytes(raw), images[0].signature) if images else b""
        write_atomically(Path(str(target[0])), data)

    name = weights_slot_file(Path(str(raw)).name, network.name, networks)
    image = env.Command(f"{folder}/{name}", [raw, plan], stage_action("Weights", make, stage="image"))
    env.Depends(image, library_files(env, "memory_plan/slot_image.py"))
    return image[0]


def _vectors_image(env: Any, folder: str, network: Any, networks: int) -> Any:
    from n6build.memory_plan.slot_image import vectors_slot_file

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.memory_plan.slot_image import slot_image
        from n6build.memory_plan.vectors import read_vectors

        write_atomically(Path(str(target[0])), slot_image(read_vectors(Path(str(source[0]))).data, 0))

    name = vectors_slot_file(network.name, networks)
    image = env.Command(
        f"{folder}/{name}", env.File(str(network.model.inputs)), stage_action("Vectors", make, stage="image")
    )
    env.Depends(image, library_files(env, "memory_plan/slot_image.py", "memory_plan/vectors.py"))
    return image[0]
