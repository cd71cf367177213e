"""SCons tool, stage 3: env.N6Headers, N6BringUp, N6Fsbl, N6Appli, N6RelocAppli -> ELF; env.N6BootImage -> image with header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.files import write_atomically
from n6build.paths import FIRMWARE
from n6scons import library_files, once, stage_action, stop_with

# Of firmware/appli, in both kinds of application.
_SHARED = ("n6_appli", "n6_inference", "n6_link", "n6_slot")


def generate(env: Any) -> None:
    env.SetDefault(N6_SIGN="")
    env.AddMethod(_headers, "N6Headers")
    env.AddMethod(_bring_up, "N6BringUp")
    env.AddMethod(_fsbl, "N6Fsbl")
    env.AddMethod(_appli, "N6Appli")
    env.AddMethod(_reloc_appli, "N6RelocAppli")
    env.AddMethod(_boot_image, "N6BootImage")


def exists(env: Any) -> bool:
    return True


def _headers(env: Any, folder: str) -> list[Any]:
    """n6_soc.h and n6_board.h of N6_BOARD."""
    return once(f"{folder}/n6_soc.h", lambda: _make_headers(env, folder))


def _make_headers(env: Any, folder: str) -> list[Any]:
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
    # The profile may be another one than board.yaml names: mode=max-speed.
    env.Depends(made[1], env.Value(board.clock.name, name="clock"))
    env.Depends(made, library_files(env, "soc_header.py", "board_header.py", "templates.py", "soc.py", "boards.py"))
    return env.Flatten(made)


def _objects(env: Any, folder: str, *directories: str) -> list[Any]:
    """Objects of all C files of firmware/<directory>, in the order of the arguments, then by name."""
    return [
        _object(env, f"{folder}/{directory}/{source.stem}.o", source)
        for directory in directories
        for source in sorted((FIRMWARE / directory).glob("*.c"))
    ]


def _object(env: Any, target: str, source: Path) -> Any:
    """Once for all applications of a call that link it."""
    return once(target, lambda: env.Object(target, env.File(str(source))))


def _with_includes(env: Any, headers: list[Any], *directories: str) -> Any:
    generated = sorted({str(header.dir) for header in headers})
    return env.Clone(
        CPPPATH=[*(f"#{path}" for path in generated), *(str(FIRMWARE / directory) for directory in directories)]
    )


def _linker_script(env: Any, target: str, function: Any) -> Any:
    from n6build import linker_script

    board = env["N6_BOARD"]

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        write_atomically(Path(str(target[0])), function(board.soc))

    def script() -> Any:
        made = env.Command(
            target, [str(board.files[1]), str(linker_script.TEMPLATE)], stage_action("Script", make, stage="header")
        )
        env.Depends(made, library_files(env, "linker_script.py", "templates.py", "soc.py"))
        return made[0]

    return once(target, script)


def _link(env: Any, elf: str, scripts: list[Any], objects: list[Any]) -> Any:
    map_file = elf.replace(".elf", ".map")
    flags = [*env["LINKFLAGS"], *(flag for script in scripts for flag in ("-T", script)), f"-Wl,-Map={map_file}"]
    program = env.Program(elf, objects, LINKFLAGS=flags)
    env.Depends(program, scripts)
    env.SideEffect(map_file, program)
    env.Clean(program, map_file)
    return program[0]


def _bring_up(env: Any, board_folder: str, headers: list[Any]) -> list[Any]:
    """Objects that FSBL and Appli have in common."""
    return _objects(_with_includes(env, headers, "bring_up"), f"{board_folder}/common", "bring_up")


def _fsbl(env: Any, board_folder: str, headers: list[Any], bring_up: list[Any]) -> Any:
    from n6build.linker_script import fsbl_script

    script = _linker_script(env, f"{board_folder}/fsbl/fsbl.ld", fsbl_script)
    own = _objects(_with_includes(env, headers, "bring_up", "fsbl"), board_folder, "fsbl")
    elf = f"{board_folder}/fsbl/fsbl.elf"
    return once(elf, lambda: _link(env, elf, [script], [*bring_up, *own]))


def _appli(
    env: Any,
    folder: str,
    board_folder: str,
    headers: list[Any],
    bring_up: list[Any],
    networks: list[Any],
    plan: list[Any],
) -> Any:
    """networks: of N6Networks. plan: the files of N6MemoryPlan. What no model changes is compiled once a board."""
    from n6build.linker_script import appli_script

    runtime = env["N6_RUNTIME"]
    runtime_env = _with_includes(env, headers, "bring_up", "kernels", "appli")
    runtime_env.Append(CPPPATH=[str(folder) for folder in runtime.include_folders], CPPDEFINES=list(runtime.defines))
    foreign = runtime_env.Clone(CCFLAGS=[*runtime_env["CCFLAGS"], *runtime.compile_flags])
    common = f"{board_folder}/common" + ("" if runtime.name == "n6build" else f"-{runtime.name}")
    # What changes seldom stands first, so that an edit behind it moves no address in front.
    stable = _objects(runtime_env.Clone(CCFLAGS=[*runtime_env["CCFLAGS"], "-O3"]), common, "kernels")
    stable += [_object(foreign, f"{common}/runtime/{source.stem}.o", source) for source in runtime.sources]
    stable += [*bring_up, *_objects(runtime_env, common, "appli")]

    script = _linker_script(env, f"{board_folder}/common/appli.ld", appli_script)
    pools = next(node for node in plan if str(node).endswith(".ld"))
    includes = sorted({f"#{node.dir}" for network in networks for node in network.targets} | {f"#{folder}"})
    objects = []
    for network in networks:
        # Code of ST's compiler is not held to the warnings of this project.
        flags = [] if network.backend == "reference" else ["-w"]
        network_env = foreign.Clone(CPPPATH=[*foreign["CPPPATH"], *includes], CCFLAGS=[*foreign["CCFLAGS"], *flags])
        sources = [node for node in network.targets if str(node).endswith(".c") and "stai_" not in node.name]
        objects += [network_env.Object(f"{folder}/appli/{Path(str(node)).stem}.o", node) for node in sources]
    # The plan has compared the versions of network and runtime: before a compiler meets them.
    env.Requires(objects, plan)
    tables = next(node for node in plan if str(node).endswith(".c"))
    objects.append(runtime_env.Object(f"{folder}/appli/{Path(str(tables)).stem}.o", tables))
    libraries = [env.File(str(library)) for library in runtime.libraries]
    return _link(env, f"{folder}/appli/appli.elf", [script, pools], [*stable, *objects, *libraries])


def _reloc_appli(
    env: Any, folder: str, board_folder: str, headers: list[Any], bring_up: list[Any], plan: list[Any]
) -> Any:
    """plan: the files of N6RelocPlan. No network is in it: it installs what it finds in flash."""
    from n6build.linker_script import appli_script
    from n6build.reloc.compilation import firmware_defines

    runtime = env["N6_RUNTIME"]
    own = _with_includes(env, headers, "bring_up", "kernels", "appli", "appli_reloc", "reloc")
    own.Append(
        CPPPATH=[str(path) for path in runtime.include_folders],
        CPPDEFINES=[*runtime.defines, *firmware_defines(runtime, debug_info=env["N6_RELOC_DEBUG_INFO"])],
        # The models' security state is compared with that of this code.
        CCFLAGS=["-mcmse"],
    )
    foreign = own.Clone(CCFLAGS=[*own["CCFLAGS"], *runtime.compile_flags])
    common = f"{board_folder}/common/reloc" + ("" if runtime.name == "n6build" else f"-{runtime.name}")
    stable = [
        _object(foreign, f"{common}/runtime/{source.stem}.o", source)
        for source in (*runtime.sources, runtime.reloc.loader)
    ]
    stable += [_object(own, f"{common}/appli/{name}.o", FIRMWARE / "appli" / f"{name}.c") for name in _SHARED]
    stable += [*_objects(own, common, "reloc", "appli_reloc"), *bring_up]
    script = _linker_script(env, f"{board_folder}/common/appli.ld", appli_script)
    tables = next(node for node in plan if str(node).endswith(".c"))
    objects = [own.Object(f"{folder}/appli/{Path(str(tables)).stem}.o", tables)]
    libraries = [env.File(str(library)) for library in runtime.libraries]
    return _link(env, f"{folder}/appli/appli.elf", [script], [*stable, *objects, *libraries])


def _boot_image(env: Any, target: str, elf: Any, kind: str) -> Any:
    """kind: FSBL or SSBL, as the boot header names them. Construction variable N6_SIGN: empty, 'tool', or a folder with keys."""
    boot, load = env["N6_BOARD"].soc.boot, env["N6_BOARD"].soc.load_and_run
    load_address = boot.header_address if kind == "FSBL" else load.load_address
    signing = _signing(env) if env["N6_SIGN"] else None

    def make(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.image.boot_header import BinaryType, with_boot_header
        from n6build.image.elf import payload_of
        from n6build.image.signing import signed_image

        payload = payload_of(Path(str(source[0])))
        if signing is None:
            image = with_boot_header(payload.data, payload.address, BinaryType[kind])
        else:
            image = signed_image(payload.data, BinaryType[kind], *signing, load_address)
        write_atomically(Path(str(target[0])), image)

    def image() -> Any:
        made = env.Command(target, [elf], stage_action("Image" if signing is None else "Sign", make, stage="image"))
        env.Depends(made, env.Value(kind, name="kind"))
        env.Depends(made, library_files(env, "image/boot_header.py", "image/elf.py", "image/signing.py"))
        if signing is not None:
            tool, keys = signing
            env.Depends(made, [env.File(str(path)) for path in (tool, *(keys.public if keys else ()))])
            env.Depends(made, [env.File(str(keys.private))] if keys else [])
            # A signature is another one each time, and made with a key that not everybody has.
            env.NoCache(made)
        return made[0]

    return once(target, image)


def _signing(env: Any) -> tuple[Path, Any]:
    """ST's tool, and the keys or None."""
    from n6build.errors import N6Error
    from n6build.image.signing import find_keys, find_signing_tool

    try:
        return find_signing_tool(), None if env["N6_SIGN"] == "tool" else find_keys(Path(env["N6_SIGN"]))
    except N6Error as error:
        stop_with(error)
