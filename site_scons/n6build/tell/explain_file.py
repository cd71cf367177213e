"""The explanation of a file from outside: a program, or a console log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.console import clipped, printable, show
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most, read_part
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import home_of_board, load_board
from n6build.engine.inspect import explain
from n6build.engine.perform import Site
from n6build.engine.plan import Plan
from n6build.place.image.foreign import is_elf, is_hex
from n6build.tell.image_facts import Doubt, Explained, explain_image
from n6build.tell.log_facts import explain_log

# A day of a chatty program.
_MOST_OF_LOG = 64 << 20
_HEAD = 512


def explain_file(path: Path, board: Board) -> list[Explained]:
    """Explain a program or a console log; its content decides which of them it is.

    Args:
        path: File in any format.
        board: Board whose places a program is compared with.

    Raises:
        N6Error: N6-FILE-002 or N6-FILE-003 if the file cannot be read; the errors of `explain_image`.
    """
    head = read_part(path, 0, _HEAD)
    if not head:
        return [Explained("empty file", (), (Doubt("it has no content", "build or capture it again"),))]
    if not is_elf(head) and not is_hex(head) and _is_text(head):
        text = read_at_most(path, _MOST_OF_LOG).decode("utf-8", "replace")
        return [explain_log(text)]
    return explain_image(path, board)


def explained_text(name: str, parts: Sequence[Explained]) -> str:
    """Return the explanation as text, a paragraph for each part."""
    lines = []
    for part in parts:
        lines.append(f"{printable(name)}: {part.title}")
        lines += [f"{label:>14}  {text}" for label, text in part.facts]
        for doubt in part.doubts:
            lines += [f"{'looks wrong':>14}  {clipped(printable(doubt.what), 400)}", f"{'cure':>14}  {doubt.cure}"]
        if not part.doubts:
            lines.append(f"{'looks wrong':>14}  nothing")
        lines.append("")
    return "\n".join(lines)


def explain_product_or_file(file: str, plan: Plan, site: Site, board: str) -> None:
    """Print why a build product was or will be made, or what another file is.

    Args:
        file: Name of the file.
        plan: Plan with all products.
        site: Place of the build.
        board: Name of the board for a program.

    Raises:
        N6Error: N6-STEP-014 for neither; the errors of `explain_file`.
    """
    try:
        explain(file, plan, site)
    except N6Error as error:
        if error.id != "N6-STEP-014" or not is_file(Path(file)):
            raise
        chosen = load_board(board, home_of_board(board))
        show(explained_text(file, explain_file(Path(file), chosen)))


def _is_text(head: bytes) -> bool:
    """Return whether bytes are those of a text, with a few wrong letters."""
    readable = sum(byte in b"\t\r\n\x1b" or 0x20 <= byte < 0x7F for byte in head)
    return b"\0" not in head and readable > len(head) // 2
