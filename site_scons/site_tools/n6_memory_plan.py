"""SCons tool: env.N6MemoryPlan(folder, model, network) -> memory_plan.json, n6_memory_plan.c and the images of the data slots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.files import read_bytes, write_atomically
from n6build.paths import TEMPLATES
from n6scons import library_files, stage_action


def generate(env: Any) -> None:
    env.AddMethod(_memory_plan, "N6MemoryPlan")


def exists(env: Any) -> bool:
    return True


def _memory_plan(env: Any, folder: str, model: Any, network: list[Any]) -> dict[str, list[Any]]:
    """network: the targets of N6Network. Returns 'plan' (json, c), 'weights' and 'vectors' (slot images)."""
    board, profile = env["N6_BOARD"], env["N6_PROFILE"]
    network_folder = Path(str(network[0])).parent
    raws = [node for node in network if str(node).endswith(".raw")]
    inputs = [env.File(str(model.inputs))] if model.inputs else []

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.memory_plan.generated_c import plan_source
        from n6build.memory_plan.plan import make_plan, plan_json
        from n6build.memory_plan.vectors import NO_VECTORS, read_vectors
        from n6build.network.artifacts import read_artifacts

        artifacts = read_artifacts(network_folder, network_folder.name)
        vectors = read_vectors(model.inputs) if model.inputs else NO_VECTORS
        plan = make_plan(
            board, profile, model.name, artifacts, vectors, is_classification=model.result == "classification"
        )
        write_atomically(Path(str(target[0])), plan_json(plan))
        write_atomically(Path(str(target[1])), plan_source(plan))

    plan = env.Command(
        [f"{folder}/memory_plan.json", f"{folder}/n6_memory_plan.c"],
        [*network, *inputs],
        stage_action("Plan", make, stage="plan"),
    )
    env.Depends(plan, env.Value(f"{model.name} {model.result} {profile}", name="model"))
    env.Depends(plan, [env.File(str(path)) for path in board.files])
    env.Depends(plan, library_files(env, "memory_plan", "boards.py", "soc.py"))
    env.Depends(plan, env.File(str(TEMPLATES / "n6_memory_plan.c.j2")))

    def weights_image(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.memory_plan.plan import read_plan
        from n6build.memory_plan.slot_image import slot_image

        raw = Path(str(source[0]))
        image = next(image for image in read_plan(Path(str(source[1]))).images if image.file == raw.name)
        write_atomically(Path(str(target[0])), slot_image(read_bytes(raw), image.signature))

    def vectors_image(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.memory_plan.slot_image import slot_image
        from n6build.memory_plan.vectors import read_vectors

        write_atomically(Path(str(target[0])), slot_image(read_vectors(model.inputs).data, 0))

    image_sources = library_files(env, "memory_plan/slot_image.py", "memory_plan/vectors.py")
    weights = [
        env.Command(
            f"{folder}/weights_{_pool_of(raw)}.bin",
            [raw, plan[0]],
            stage_action("Weights", weights_image, stage="image"),
        )
        for raw in raws
    ]
    vectors = (
        [env.Command(f"{folder}/vectors.bin", inputs, stage_action("Vectors", vectors_image, stage="image"))]
        if inputs
        else []
    )
    env.Depends([*weights, *vectors], image_sources)
    return {"plan": plan, "weights": env.Flatten(weights), "vectors": env.Flatten(vectors)}


def _pool_of(raw: Any) -> str:
    return str(raw).split(".")[-2]
