"""SCons tool, stage 3: env.N6FlashManifest, env.N6Hex and env.N6Sizes over the images of all flash slots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.files import write_atomically
from n6scons import library_files, stage_action


def generate(env: Any) -> None:
    env.AddMethod(_manifest, "N6FlashManifest")
    env.AddMethod(_hex, "N6Hex")
    env.AddMethod(_sizes, "N6Sizes")


def exists(env: Any) -> bool:
    return True


def _manifest(env: Any, target: str, parts: list[tuple[str, Any]], plan: Any) -> Any:
    """parts: (flash slot, image). plan: memory_plan.json, which says where several images share a slot."""
    board = env["N6_BOARD"]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.image.manifest import make_manifest, manifest_json
        from n6build.memory_plan.plan import read_plan

        path = Path(str(target[0]))
        files = [(slot, Path(str(image))) for slot, image in parts]
        addresses = read_plan(Path(str(source[0]))).flash_addresses()
        write_atomically(path, manifest_json(make_manifest(board, files, path.parent, addresses)))

    manifest = env.Command(
        target, [plan, *(image for _, image in parts)], stage_action("Manifest", make, stage="image")
    )
    env.Depends(manifest, env.Value(" ".join(slot for slot, _ in parts), name="slots"))
    env.Depends(manifest, [env.File(str(path)) for path in board.files])
    env.Depends(manifest, library_files(env, "image/manifest.py"))
    return manifest[0]


def _hex(env: Any, target: str, manifest: Any) -> Any:
    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.image.hexfile import merged_hex
        from n6build.image.manifest import read_manifest

        path = Path(str(source[0]))
        write_atomically(Path(str(target[0])), merged_hex(read_manifest(path).segments, path.parent))

    firmware = env.Command(target, [manifest], stage_action("Hex", make, stage="image"))
    env.Depends(firmware, library_files(env, "image/hexfile.py"))
    return firmware[0]


def _sizes(env: Any, target: str, manifest: Any, fsbl: Any, appli: Any, plan: Any) -> Any:
    """A table of every region against its limit, as text."""
    board = env["N6_BOARD"]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.image.manifest import read_manifest
        from n6build.image.sizes import pool_uses, region_uses, size_table
        from n6build.memory_plan.plan import read_plan

        paths = [Path(str(node)) for node in source]
        uses = region_uses(board, read_manifest(paths[0]), paths[1], paths[2])
        plan = read_plan(paths[3])
        named = {each.name: f" of {each.model}" if len(plan.networks) > 1 else "" for each in plan.networks}
        uses += pool_uses([(f"{pool.fname}{named[pool.network]}", pool.used, pool.size) for pool in plan.pools])
        table = size_table(uses)
        write_atomically(Path(str(target[0])), table)
        print(table, end="", flush=True)
        env.N6SayLacking(paths[0])

    sizes = env.Command(target, [manifest, fsbl, appli, plan], stage_action("Sizes", make, stage="image"))
    env.Depends(sizes, library_files(env, "image/sizes.py"))
    return sizes[0]
