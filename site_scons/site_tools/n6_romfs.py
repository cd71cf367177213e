"""SCons tool: env.N6Romfs(board_folder) -> romfs<n>.img of every partition, with relocatable models in it.

Construction variables: N6_ROMFS (the description, in OpenMV's form), those of tools n6_network and n6_reloc.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.console import say
from n6build.errors import N6Error, did_you_mean
from n6build.files import read_bytes, write_atomically
from n6scons import library_files, stage_action, stop_with
from SCons.Script import COMMAND_LINE_TARGETS, Dir


def generate(env: Any) -> None:
    env.AddMethod(_romfs, "N6Romfs")


def exists(env: Any) -> bool:
    return True


def _romfs(env: Any, board_folder: str) -> list[Any]:
    """Every model is compiled with the profile of its entry, 'default' being that of the build."""
    if not env["N6_ROMFS"]:
        if "romfs" in COMMAND_LINE_TARGETS:
            hint = "romfs=romfs_config.json"
            stop_with(N6Error("N6-ROMFS-007", "target romfs needs the description of a file system", hint=hint))
        return []
    from n6build.image.romfs_manifest import read_manifest

    path = Path(env["N6_ROMFS"])
    try:
        partitions = read_manifest(path, {"TOP": Dir("#").abspath, "BUILD": Dir(env["N6_BUILD"]).abspath})
        made: dict[tuple[Path, str], Any] = {}
        return [_image(env, f"{board_folder}/romfs", partition, path, made) for partition in partitions]
    except N6Error as error:
        stop_with(error)


def _image(env: Any, folder: str, partition: Any, manifest: Path, made: dict[tuple[Path, str], Any]) -> Any:
    """partition: n6build.image.romfs_manifest.RomfsPartition. made: models that another partition has, too."""
    files = [
        _model(env, folder, entry, made) if entry.model else env.File(str(entry.path)) for entry in partition.entries
    ]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.console import kib
        from n6build.image.romfs import RomfsFile, make_romfs
        from n6build.image.romfs_manifest import check_size

        contents = [
            RomfsFile(entry.name, read_bytes(Path(str(file))), entry.alignment)
            for entry, file in zip(partition.entries, source, strict=True)
        ]
        image = make_romfs(contents)
        check_size(partition, len(image), manifest.name)
        write_atomically(Path(str(target[0])), image)
        used = f"{kib(len(image))} of {kib(partition.size)} ({len(image) / partition.size:.1%})"
        say("Romfs", f"partition {partition.number}", f"{len(contents)} files, {used}")

    image = env.Command(f"{folder}/romfs{partition.number}.img", files, stage_action("Romfs", make, stage="image"))
    about = [(entry.name, entry.alignment) for entry in partition.entries]
    env.Depends(image, env.Value(repr([partition.size, about]), name="entries"))
    env.Depends(image, library_files(env, "image/romfs.py", "image/romfs_manifest.py"))
    return image[0]


def _model(env: Any, folder: str, entry: Any, made: dict[tuple[Path, str], Any]) -> Any:
    """network_rel.bin of a RomfsEntry."""
    from n6build.image.romfs_manifest import DEFAULT_PROFILE
    from n6build.models import load_model

    profile = env["N6_PROFILE"] if entry.profile == DEFAULT_PROFILE else entry.profile
    board = env["N6_BOARD"]
    if profile not in board.profiles():
        hint = did_you_mean(profile, [*board.profiles(), DEFAULT_PROFILE])
        raise N6Error("N6-ROMFS-006", f"{board.title} has no profile '{profile}'", where=entry.where, hint=hint)
    model = load_model(str(entry.path.resolve()))
    key = entry.path.resolve(), entry.profile
    if key not in made:
        same = sum(path.stem == entry.path.stem and other == entry.profile for path, other in made)
        place = f"{folder}/{entry.path.stem}" + ("" if entry.profile == DEFAULT_PROFILE else f"-{profile}")
        # Two folders may have a model of the same name.
        made[key] = _make_model(env, place + (f"-{same + 1}" if same else ""), profile, model)
    return made[key]


def _make_model(env: Any, place: str, profile: str, model: Any) -> Any:
    own = env.Clone(N6_MODELS=(model,), N6_PROFILE=profile, N6_LOADER="reloc", N6_RELOC_SPLIT=False)
    (network,) = own.N6Networks(place)
    return own.N6Reloc(place, f"{env['N6_BUILD']}/{env['N6_BOARD'].name}", network).file
