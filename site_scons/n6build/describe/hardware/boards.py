"""Boards: boards/<name>/board.yaml with boards/soc/<soc>.yaml, checked on load.

All sizes are bytes, all clocks Hz.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import files_in, is_file, remembered
from n6build.base.paths import BOARDS, own_folder
from n6build.base.same_fields import with_fields_of
from n6build.base.yaml_schema import Document, read_document
from n6build.describe.hardware.board import FIELD, RESERVED, Board, BoardFile, OnBus
from n6build.describe.hardware.board_rules import check_board, check_psram_size
from n6build.describe.hardware.i2c import load_i2c_part
from n6build.describe.hardware.nor import load_nor_commands
from n6build.describe.hardware.psram import load_psram_commands
from n6build.describe.hardware.soc import read_soc

# Folders of the parts that boards refer to.
_PARTS = ("soc", "nor", "psram", "i2c")


def board_names(folder: Path = BOARDS) -> list[str]:
    """Return the names of folders with a board.yaml, sorted."""
    return [path.name for path in files_in(folder) if is_file(path / "board.yaml")]


def known_boards() -> list[str]:
    """Return the names of the project's own boards and of those of n6build, sorted."""
    return sorted({*board_names(own_folder(BOARDS)), *board_names()})


def home_of_board(name: str) -> Path:
    """Return the folder boards/ that describes a board of this name.

    This is the project's own folder if the board is there, else that of n6build.
    """
    own = own_folder(BOARDS)
    if "/" in name or not is_file(own / name.lower() / "board.yaml"):
        return BOARDS
    for part in _PARTS:
        files_in(own / part, "*.yaml")
    return own


def load_board(name: str, folder: Path = BOARDS) -> Board:
    """Read a board by its name or one of its aliases, in upper or lower case.

    Raises:
        N6Error: N6-BOARD-001 with the nearest name if there is no such board; the errors of `read_board`.
    """
    name = name.lower()
    if "/" in name or not is_file(folder / name / "board.yaml"):
        names = board_names(folder)
        aliases = {alias: board for board in names for alias in _board_document(folder, board).load(BoardFile).aliases}
        if name not in aliases:
            raise N6Error("N6-BOARD-001", f"no board '{name}'", hint=did_you_mean(name, [*names, *aliases]))
        name = aliases[name]
    return read_board(folder / name / "board.yaml")


@remembered
def read_board(path: Path) -> Board:
    """Read and check a board.

    The descriptions of the chip and of other parts come from the folders beside the board's, or
    else from those of n6build.

    Args:
        path: board.yaml.

    Raises:
        N6Error: N6-BOARD-002 if there is no such chip; N6-BOARD-012 if the name differs from the
            folder's; N6-BOARD-013 or N6-BOARD-014 if there are no such NOR or PSRAM commands;
            N6-BOARD-015 if the name is reserved; N6-BUS-002 if there is no such I2C part;
            N6-SOC-00x, N6-NOR-001, N6-PSRAM-001, N6-BUS-001, N6-YAML-00x; those of `check_board`.
    """
    folder, name = path.parent.parent, path.parent.name
    document = _board_document(folder, name)
    described = document.load(BoardFile)
    if described.name != name:
        what = f"the name of the board is '{described.name}', but its folder is '{name}'"
        raise N6Error("N6-BOARD-012", what, where=document.where("name"), hint="use the same name for both")
    if name in RESERVED or name.endswith(FIELD):
        what = f"the board cannot be called '{name}': that folder has other build products"
        raise N6Error("N6-BOARD-015", what, where=document.where("name"), hint="another name")
    soc_path = _described_in(folder / "soc", described.soc, "N6-BOARD-002", "chip", document.where("soc"))
    nor_path = _described_in(
        folder / "nor", described.nor.commands, "N6-BOARD-013", "NOR commands", document.where("nor", "commands")
    )
    described_soc = read_soc(soc_path, shown_as=_shown(soc_path, folder))
    soc = described_soc.soc
    check_board(described, soc, document)
    psram_path = _psram_path(described, document, folder)
    psram_commands = load_psram_commands(psram_path, _shown(psram_path, folder)) if psram_path else None
    if psram_commands:
        check_psram_size(described, psram_commands, document)
    i2c_paths = _i2c_paths(described, document, folder)
    return with_fields_of(
        Board,
        described,
        soc=soc,
        clock=soc.clock(described.clock_profile or described.max_speed),
        max_speed=soc.clock(described.max_speed),
        nor_commands=load_nor_commands(nor_path, _shown(nor_path, folder)),
        psram_commands=psram_commands,
        i2c=_devices(described, i2c_paths, folder),
        files=(
            folder / name / "board.yaml",
            *described_soc.files,
            nor_path,
            *([psram_path] if psram_path else []),
            *dict.fromkeys(i2c_paths),
        ),
        soc_files=described_soc.files,
    )


def _psram_path(described: BoardFile, document: Document, folder: Path) -> Path | None:
    if described.external_ram is None or described.external_ram.psram is None:
        return None
    where = document.where("external_ram", "psram", "commands")
    name = described.external_ram.psram.commands
    return _described_in(folder / "psram", name, "N6-BOARD-014", "PSRAM commands", where)


def _i2c_paths(described: BoardFile, document: Document, folder: Path) -> list[Path]:
    """Return the file of each device's part."""
    where = document.where("i2c")
    return [_described_in(folder / "i2c", device.part, "N6-BUS-002", "I2C part", where) for device in described.i2c]


def _devices(described: BoardFile, paths: Sequence[Path], folder: Path) -> tuple[OnBus, ...]:
    parts = [load_i2c_part(path, _shown(path, folder)) for path in paths]
    return tuple(
        OnBus(device.bus, part.address if device.address is None else device.address, part)
        for device, part in zip(described.i2c, parts, strict=True)
    )


def _described_in(folder: Path, name: str, code: str, kind: str, where: str) -> Path:
    path = folder / f"{name}.yaml"
    common = BOARDS / folder.name / path.name
    # A step declares only the file that it reads. `home_of_board` notes the other possible places for the plan.
    if os.path.isfile(common) and not os.path.isfile(path):  # noqa: PTH113 - a name need not be a valid file name
        return common
    if not is_file(path):
        known = {each.stem for place in (folder, common.parent) for each in files_in(place, "*.yaml")}
        raise N6Error(code, f"no {kind} '{name}'", where=where, hint=did_you_mean(name, known))
    return path


def _shown(path: Path, folder: Path) -> str:
    """Return a path from the folder that holds boards/, in the project or in n6build."""
    base = folder if path.is_relative_to(folder) else BOARDS
    return path.relative_to(base.parent).as_posix()


def _board_document(folder: Path, name: str) -> Document:
    path = folder / name / "board.yaml"
    return read_document(path, shown_as=_shown(path, folder))
