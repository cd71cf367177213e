"""Program images in a folder: FSBLs and Applis, and what looks wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.console import clipped
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, read_part
from n6build.base.size_text import counted
from n6build.base.walk import Tree
from n6build.describe.formats.boot_header import MAGIC
from n6build.describe.hardware.board import Board
from n6build.place.image.foreign import is_elf, is_hex
from n6build.survey.kinds import Kind, Row, Wishes
from n6build.tell.image_facts import Explained, explain_image

_SUFFIXES = (".bin", ".hex", ".ihex", ".elf", ".axf", ".out", ".img", ".stm32")
_TITLES = {"fsbl": "FSBL", "appli": "Appli"}
# e_machine of an ELF file and its place; Arm (ELF for the Arm Architecture, section 5).
_MACHINE, _ARM = 18, b"\x28\x00"


@dataclass(frozen=True)
class FoundImage:
    """A file with at least one program.

    Attributes:
        file: The file.
        copies: Files with the same content.
        parts: Explanation of each part.
        fault: Reason if the file cannot be read.
    """

    file: Path
    copies: tuple[Path, ...]
    parts: tuple[Explained, ...] = ()
    fault: str = ""

    def has(self, role: str) -> bool:
        """Return whether a part of the file is an FSBL ('fsbl') or an Appli ('appli')."""
        return any(part.role == role for part in self.parts)


def find_images(tree: Tree, board: Board) -> tuple[FoundImage, ...]:
    """Return the files with a program, those with one content once.

    Args:
        tree: Files of the folder.
        board: Board whose places decide the role of a program.
    """
    alike: dict[str, list[Path]] = {}
    for file in sorted(tree.ending(*_SUFFIXES)):
        alike.setdefault(digest_of(file), []).append(file)
    found = (_found(files, board) for files in alike.values())
    return tuple(each for each in found if each is not None)


def _found(files: Sequence[Path], board: Board) -> FoundImage | None:
    """Return a file with its copies, or None if it has no program."""
    file, *copies = files
    try:
        head = read_part(file, 0, 64)
        if is_elf(head) and head[_MACHINE : _MACHINE + len(_ARM)] != _ARM:
            return None
        parts = explain_image(file, board)
    except N6Error as error:
        # Large data in bare bytes is refused for its size, and is no program.
        is_program = head.startswith(MAGIC) or is_elf(head) or is_hex(head)
        return FoundImage(file, tuple(copies), fault=f"{error.id}: {error.what}") if is_program else None
    image = FoundImage(file, tuple(copies), tuple(parts))
    return image if image.has("fsbl") or image.has("appli") else None


def _find(tree: Tree, wishes: Wishes) -> tuple[FoundImage, ...]:
    return find_images(tree, wishes.board)


def _place_of(image: FoundImage) -> Path:
    return image.file


def _look_at(image: FoundImage, tree: Tree, _: Wishes) -> Row:
    place = str(image.file.relative_to(tree.root))
    doubts = [doubt.what for part in image.parts for doubt in part.doubts]
    programs = [part for part in image.parts if part.role]
    facts = [dict(part.facts) for part in programs]
    cells = {
        "program": " + ".join(_TITLES[part.role] for part in programs),
        "header": facts[0].get("header", "").partition(",")[0].partition(";")[0] if facts else "",
        "entry": facts[0].get("entry", "") if facts else "",
        "verdict": "unreadable" if image.fault else "doubtful" if doubts else "fine",
    }
    notes = (
        *([image.fault] if image.fault else []),
        *(clipped(doubt, 400) for doubt in doubts),
        *([f"also in {counted(len(image.copies), 'other file')}"] if image.copies else []),
    )
    document = {
        "place": place,
        "copies": [str(each.relative_to(tree.root)) for each in image.copies],
        "fault": image.fault,
        "parts": [asdict(part) | {"facts": dict(part.facts)} for part in image.parts],
    }
    return Row(place, cells, notes, document, tuple(_counts(image, has_doubts=bool(doubts))))


def _counts(image: FoundImage, *, has_doubts: bool) -> Iterator[str]:
    yield from (f"with an {title}" for role, title in _TITLES.items() if image.has(role))
    if has_doubts:
        yield "doubtful"
    if image.fault:
        yield "cannot be read"


IMAGES: Kind[FoundImage] = Kind(
    name="images",
    columns={"program": 12, "header": 12, "entry": 10, "verdict": 10},
    find=_find,
    place_of=_place_of,
    look_at=_look_at,
    counts=("with an FSBL", "with an Appli", "doubtful", "cannot be read"),
)
