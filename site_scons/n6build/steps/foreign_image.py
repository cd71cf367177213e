"""A third-party program: its bytes in flash, and its facts for the checks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, require_at_most, to_json, write_atomically
from n6build.base.paths import project_path
from n6build.check.rules.third_party import CACHE_FUNCTIONS
from n6build.check.subject import ForeignProgram
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.declarations import Declarations
from n6build.place.image.elf_reader import Symbol, allocated_sections, labels_of, symbols_of
from n6build.place.image.foreign import MAX_ELF_BYTES, Role, flash_pieces, started_program
from n6build.place.image.linker_map import object_at, read_linker_map
from n6build.place.image.manifest import FlashFile
from n6build.place.image.memory_regions import read_memory_regions
from n6build.place.image.mpu_tables import mpu_regions
from n6build.place.image.program_board import ProgramBoard, program_board


@dataclass(frozen=True)
class GivenProgram:
    """Files of a third-party program.

    Attributes:
        file: File that goes into flash.
        role: Role of the program.
        elf: ELF file of the same program, may be `file`; empty if there is none.
        copied_by_ours: The program is an Appli that this project's FSBL starts.
        linker_map: Map of its link; empty if no option names it.
        linker_script: Script of its link; empty if no option names it.
    """

    file: str
    role: Role
    elf: str
    copied_by_ours: bool
    linker_map: str = ""
    linker_script: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return all files of the program that are read."""
        return tuple(dict.fromkeys(filter(None, (self.file, self.elf, self.linker_map, self.linker_script))))


def read_foreign_program(given: GivenProgram, board: ProgramBoard) -> ForeignProgram:
    """Read a third-party program for the checks.

    Raises:
        N6Error: N6-IMAGE-001, N6-FOREIGN-00x, N6-FILE-002 or N6-FILE-003 if a file cannot be read.
    """
    script = given.linker_script
    regions = read_memory_regions(Path(script), script) if script else ()
    start = started_program(Path(given.file), given.role, board, copied_by_ours=given.copied_by_ours)
    if not given.elf:
        return ForeignProgram(Path(given.file).name, given.role, start, has_elf=False, regions=regions)
    elf = Path(given.elf)
    require_at_most(elf, MAX_ELF_BYTES)
    declared = Declarations(elf)
    mapped = read_linker_map(Path(given.linker_map)) if given.linker_map else ()
    symbols = tuple(symbols_of(elf))

    def place(symbol: Symbol) -> str:
        return declared.place(symbol.name, symbol.address) or object_at(mapped, symbol.address)

    named = {symbol.name for symbol in symbols}
    return ForeignProgram(
        Path(given.file).name,
        given.role,
        start,
        sections=tuple(allocated_sections(elf)),
        symbols=symbols,
        labels=labels_of(elf),
        regions=regions,
        functions=frozenset(name for name in CACHE_FUNCTIONS if name in named or declared.place(name)),
        mpu=mpu_regions(elf, declared, symbols),
        place=place,
    )


@dataclass(frozen=True)
class ForeignImageParameters:
    """Parameters of the step.

    Attributes:
        board: Board facts for third-party programs.
        role: Role of the file.
        address: Address of data in a file format without addresses.
        copied_by_ours: This project's FSBL starts the Appli.
    """

    board: ProgramBoard
    role: Role
    address: int | None
    copied_by_ours: bool


@dataclass(frozen=True)
class PlacedPiece:
    """A contiguous piece of a file in flash.

    Attributes:
        slot: Slot that begins at the address: 'fsbl' or 'appli', else 'data'.
        address: Address in flash.
        offset: Offset in the file with all pieces, in bytes.
        length: Length in bytes.
    """

    slot: str
    address: int
    offset: int
    length: int


@dataclass(frozen=True)
class Placed:
    """Pieces of a file in flash, sorted by address."""

    pieces: tuple[PlacedPiece, ...]


def foreign_image_step(
    output: str, file: str, role: Role, board: Board, *, address: int | None = None, copied_by_ours: bool = False
) -> Step:
    """Return the step that places a third-party file in flash.

    Args:
        output: File with all pieces, one after the other. A .json file beside it lists them.
        file: Third-party file.
        role: Role of the file.
        board: Board of the application.
        address: Address of data in a file format without addresses.
        copied_by_ours: This project's FSBL starts the Appli.
    """
    return Step(
        verb="Place",
        stage="image",
        outputs=(output, str(Path(output).with_suffix(".json"))),
        sources=(project_path(file),),
        parameters=to_parameters(ForeignImageParameters(program_board(board), role, address, copied_by_ours)),
        function="n6build.steps.foreign_image:make_foreign_image",
    )


def make_foreign_image(call: Call) -> None:
    """Write the pieces and their list.

    Raises:
        N6Error: The errors of `flash_pieces`.
    """
    given = call.parameters_as(ForeignImageParameters)
    slots = given.board.flash.slots
    file = call.sources[0]
    pieces = flash_pieces(file, given.role, given.board, given.address, copied_by_ours=given.copied_by_ours)
    placed: list[PlacedPiece] = []
    offset = 0
    starts = {slots.fsbl.address: "fsbl", slots.appli.address: "appli"}
    for piece in pieces:
        slot = starts.get(piece.address, "data")
        placed.append(PlacedPiece(slot, piece.address, offset, len(piece.data)))
        offset += len(piece.data)
        say("At", f"0x{piece.address:08X}", f"{len(piece.data)} bytes of {file.name}")
    write_atomically(call.outputs[0], b"".join(piece.data for piece in pieces))
    write_atomically(call.outputs[1], to_json(asdict(Placed(tuple(placed)))))


def placed_files(image: Path, listed: Path) -> list[FlashFile]:
    """Return the manifest entries of a file that this step has placed.

    Args:
        image: File with all pieces.
        listed: List of the pieces.

    Raises:
        N6Error: N6-IMAGE-007 if the list is invalid.
    """
    try:
        placed = decode_json(read_bytes(listed), Placed)
    except ValueError as error:
        what = f"is not a list of placed files: {error}"
        raise N6Error("N6-IMAGE-007", what, where=listed.name, hint="remove the file and build again") from error
    return [FlashFile(each.slot, image, each.address, each.offset, each.length) for each in placed.pieces]
