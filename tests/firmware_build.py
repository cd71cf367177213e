"""Small programs for the virtual board, with n6build's bring-up code and flags."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from compiled_objects import compile_objects
from n6build.base.c_format import header_text
from n6build.base.intel_hex import ERASED
from n6build.base.paths import FIRMWARE, ROOT
from n6build.compile import toolchain
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.board_header import header_texts
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.program_places import appli_ram, fsbl_ram, program_script
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.elf_reader import payload_of
from n6build.steps.firmware_headers import FORMATS

BOARD = load_board("nucleo-n657")
CPU = list(toolchain.CPU)
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# The name of the link in a program's folder, which leads to this project.
PROJECT = Path("project")
LINK = ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections,--nmagic,--build-id=none"]


def compiler() -> str:
    found = shutil.which("arm-none-eabi-gcc")
    assert found, "arm-none-eabi-gcc is missing: make setup"
    return found


def board_headers(folder: Path, board: Board = BOARD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in header_texts(board).items():
        (folder / name).write_text(text)
    return folder


def headers(folder: Path, board: Board = BOARD) -> Path:
    board_headers(folder, board)
    for described in FORMATS:
        (folder / described.header).write_text(header_text(described))
    return folder


def bring_up() -> list[Path]:
    return sorted((FIRMWARE / "bring_up").glob("*.c"))


def build(
    folder: Path,
    name: str,
    sources: Sequence[Path],
    script: str,
    extra: Sequence[str] = (),
    board: Board = BOARD,
    of_first: Sequence[str] = (),
) -> Path:
    """Compile and link a program, and return the ELF file.

    Debug information names files of the project relative to it, wherever the program is made.

    Args:
        of_first: Options for the first source only, so that other programs can use the objects of
            the other sources.
    """
    headers(folder / "include", board)
    (folder / f"{name}.ld").write_text(script)
    # The link keeps this checkout's path out of the commands, so all checkouts share the compiler's cache.
    (folder / PROJECT).unlink(missing_ok=True)
    (folder / PROJECT).symlink_to(ROOT)
    elf = folder / f"{name}.elf"
    paths = ["-Iinclude", *(f"-I{PROJECT}/firmware/{part}" for part in ("bring_up", "fsbl"))]
    maps = [f"-ffile-prefix-map={place}" for place in (f"{folder}=.", f"{PROJECT}/=", f"{ROOT}/=")]
    command = [compiler(), "-std=c11", "-O1", "-g", *CPU, *WARNINGS, *paths, *maps, *extra]
    written = [_linked(each) for each in sources if each.suffix != ".o"]
    objects = compile_objects(folder, written[:1], [*command, *of_first])
    objects += compile_objects(folder, written[1:], command)
    objects += [str(each) for each in sources if each.suffix == ".o"]
    command += [*objects, *LINK, "-T", f"{name}.ld", "-o", str(elf)]
    subprocess.run(command, cwd=folder, check=True)
    return elf


def _linked(source: Path) -> Path:
    return PROJECT / source.relative_to(ROOT) if source.is_relative_to(ROOT) else source


def build_fsbl(folder: Path, source: Path, extra: Sequence[str] = (), board: Board = BOARD) -> Path:
    """Build a first program from one source.

    Args:
        extra: Options for the source.
    """
    load_appli = FIRMWARE / "fsbl" / "n6_load_appli.c"
    script = program_script(fsbl_ram(board.soc))
    return build(folder, source.stem, [source, load_appli, *bring_up()], script, board=board, of_first=extra)


def build_appli(folder: Path, source: Path, extra: Sequence[str] = ()) -> Path:
    return build(folder, source.stem, [*bring_up(), source], program_script(appli_ram(BOARD.soc)), extra)


def image_of(elf: Path, kind: BinaryType) -> bytes:
    payload = payload_of(elf)
    soc = BOARD.soc
    offset = soc.boot.payload_offset if kind is BinaryType.FSBL else soc.load_and_run.payload_offset
    return with_boot_header(payload.data, payload.address, kind, offset)


def write_nor(path: Path, parts: dict[int, bytes], size: int = 32 << 20) -> Path:
    """Write a NOR's content.

    Args:
        parts: Address in the window -> bytes.
    """
    nor = bytearray([ERASED]) * size
    for address, data in parts.items():
        start = address - BOARD.nor.base
        nor[start : start + len(data)] = data
    path.write_bytes(nor)
    return path
