"""SCons tool, stage 3: env.N6Fsbl(folder) and env.N6Appli(folder, ...) -> ELF; env.N6BootImage -> image with boot header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.files import write_atomically
from n6build.paths import FIRMWARE
from n6scons import library_files, stage_action


def generate(env: Any) -> None:
    env.AddMethod(_headers, "N6Headers")
    env.AddMethod(_fsbl, "N6Fsbl")
    env.AddMethod(_appli, "N6Appli")
    env.AddMethod(_boot_image, "N6BootImage")


def exists(env: Any) -> bool:
    return True


def _headers(env: Any, folder: str) -> list[Any]:
    """n6_soc.h and n6_board.h of N6_BOARD."""
    from n6build import board_header, soc_header

    board = env["N6_BOARD"]

    def soc(target: list[Any], source: list[Any], env: Any) -> None:
        write_atomically(Path(str(target[0])), soc_header.soc_header(board.soc))

    def constants(target: list[Any], source: list[Any], env: Any) -> None:
        write_atomically(Path(str(target[0])), board_header.board_header(board))

    board_file, soc_file = (env.File(str(path)) for path in board.files)
    made = [
        env.Command(
            f"{folder}/n6_soc.h", [soc_file, str(soc_header.TEMPLATE)], stage_action("Header", soc, stage="header")
        ),
        env.Command(
            f"{folder}/n6_board.h",
            [board_file, soc_file, str(board_header.TEMPLATE)],
            stage_action("Header", constants, stage="header"),
        ),
    ]
    env.Depends(made, library_files(env, "soc_header.py", "board_header.py", "templates.py", "soc.py", "boards.py"))
    return env.Flatten(made)


def _objects(env: Any, folder: str, *directories: str) -> list[Any]:
    """Objects of all C files of firmware/<directory>, in the order of the arguments, then by name."""
    return [
        env.Object(f"{folder}/{directory}/{source.stem}.o", env.File(str(source)))
        for directory in directories
        for source in sorted((FIRMWARE / directory).glob("*.c"))
    ]


def _with_includes(env: Any, headers: list[Any], *directories: str) -> Any:
    generated = sorted({str(header.dir) for header in headers})
    return env.Clone(
        CPPPATH=[*(f"#{path}" for path in generated), *(str(FIRMWARE / directory) for directory in directories)]
    )


def _link(env: Any, elf: str, script: Path, objects: list[Any]) -> Any:
    linker_script = env.File(str(script))
    program = env.Program(
        elf,
        objects,
        LINKFLAGS=[*env["LINKFLAGS"], "-T", linker_script, f"-Wl,-Map={elf.replace('.elf', '.map').lstrip('#')}"],
    )
    env.SideEffect(elf.replace(".elf", ".map"), program)
    env.Clean(program, elf.replace(".elf", ".map"))
    env.Depends(program, linker_script)
    return program[0]


def _fsbl(env: Any, folder: str, headers: list[Any]) -> Any:
    fsbl = _with_includes(env, headers, "bring_up", "fsbl")
    objects = _objects(fsbl, f"{folder}/fsbl", "bring_up", "fsbl")
    return _link(fsbl, f"{folder}/fsbl/fsbl.elf", FIRMWARE / "fsbl" / "fsbl.ld", objects)


def _appli(env: Any, folder: str, board_folder: str, headers: list[Any], generated: list[Any]) -> Any:
    """generated: network.c, network.h and n6_memory_plan.c. What no model changes is compiled once a board."""
    directories = ("bring_up", "runtime", "kernels", "appli")
    appli = _with_includes(env, [*headers, *generated], *directories)
    shared = _with_includes(env, headers, *directories)
    stable = _objects(shared.Clone(CCFLAGS=[*env["CCFLAGS"], "-O3"]), f"{board_folder}/common", "kernels")
    stable += _objects(shared, f"{board_folder}/common", "runtime", "bring_up", "appli")
    sources = [node for node in generated if str(node).endswith(".c")]
    objects = [appli.Object(f"{folder}/appli/{Path(str(node)).stem}.o", node) for node in sources]
    return _link(appli, f"{folder}/appli/appli.elf", FIRMWARE / "appli" / "appli.ld", [*stable, *objects])


def _boot_image(env: Any, target: str, elf: Any, kind: str) -> Any:
    """kind: FSBL or SSBL, as the boot header names them."""

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.image.boot_header import BinaryType, with_boot_header
        from n6build.image.elf import payload_of

        payload = payload_of(Path(str(source[0])))
        write_atomically(Path(str(target[0])), with_boot_header(payload.data, BinaryType[kind]))

    image = env.Command(target, [elf], stage_action("Image", make, stage="image"))
    env.Depends(image, env.Value(kind, name="kind"))
    env.Depends(image, library_files(env, "image/boot_header.py", "image/elf.py"))
    return image[0]
