"""The explanation of a file from outside: a program, or a console log."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.console import clipped, printable, show
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most, read_part
from n6build.board.run.compare import firmware_hint
from n6build.board.run.console_log import ConsoleLog, read_console
from n6build.describe.formats import console
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import home_of_board, load_board
from n6build.engine.inspect import explain
from n6build.engine.perform import Site
from n6build.engine.plan import Plan
from n6build.place.image.foreign import is_elf, is_hex
from n6build.tell.image_facts import Doubt, Explained, explain_image

# A real console ends a line with CR LF, and begins with what the receiver took for letters while the pins were not driven.
_UNREADABLE = re.compile(r"[^\t\r\n -~]")
# A third of the letters: a wrong baud rate gives more, a few glitches fewer.
_GARBAGE = 1 / 3


@dataclass(frozen=True)
class _Known:
    """A text of another program with a known cause."""

    text: re.Pattern[str]
    what: str
    cure: str


# Texts of ST's runtime, HAL and C library, as their sources print them.
_KNOWN = (
    _Known(
        re.compile(r"assertion .*failed|assert_failed|Wrong parameters value", re.IGNORECASE),
        "an assertion of the program failed",
        "read the file and line that it names; run the same program on the virtual board (appli=FILE probe=virtual)",
    ),
    _Known(
        re.compile(r"HAL_XSPI|XSPI.*(?:timeout|error)|BSP_XSPI", re.IGNORECASE),
        "the flash did not answer",
        "switch the power off and on: a reset of the chip does not reset the NOR (docs/troubleshooting.md, HAL_XSPI timeout)",
    ),
    _Known(
        re.compile(r"LL_ATON.*(?:invalid|wrong|mismatch)|network.*version", re.IGNORECASE),
        "the runtime rejects the network",
        "compile the network with the release of the runtime: scons check names both (N6-CHECK-018)",
    ),
    _Known(
        re.compile(r"MemoryError|out of memory|malloc.*fail", re.IGNORECASE),
        "the program has no memory left",
        "use smaller pools or a smaller input; OpenMV cameras need the model in one piece (docs/relocatable.md)",
    ),
    _Known(
        re.compile(r"hard ?fault", re.IGNORECASE),
        "the CPU faulted",
        "run the same program on the virtual board, which names the source line (docs/troubleshooting.md, Hard fault)",
    ),
)


def explain_log(text: str) -> Explained:
    """Explain the log of a board's console.

    Args:
        text: The log, from any program.

    Returns:
        The stages that the programs reached, and each known cause that fits. The first doubt is the likeliest.
    """
    lines = [line.strip() for line in text.splitlines()]
    log = read_console(lines)
    facts = _stages(lines, log)
    return Explained("console log", tuple(facts), tuple(_doubts(text, lines, log)))


def _stages(lines: Sequence[str], log: ConsoleLog) -> list[tuple[str, str]]:
    facts = [("lines", f"{len(lines)}, {sum(line.startswith(console.PREFIX) for line in lines)} of n6build's firmware")]
    if nor := _first(lines, console.FSBL_NOR.read):
        facts.append(("NOR", f"id {nor['id']}, mode {nor['mode']}, {int(nor['clock']):,} Hz"))
    if appli := _first(lines, console.FSBL_APPLI.read):
        facts.append(("Appli", f"{int(appli['bytes']):,} bytes, entry {appli['entry']}"))
    if log.clock_hz is not None:
        facts.append(("clock", f"{log.clock_hz:,} Hz"))
    if log.inferences:
        facts.append(("inferences", f"{len(log.inferences)}"))
    return facts


def _doubts(text: str, lines: Sequence[str], log: ConsoleLog) -> list[Doubt]:
    if not text.strip():
        return [Doubt("it has no text", "see docs/troubleshooting.md, Nothing on the console")]
    if len(_UNREADABLE.findall(text)) > _GARBAGE * len(text):
        return [Doubt("most of the log is not text: the baud rate is wrong", "read the console with 115,200 baud, 8N1")]
    found = [*_own_doubts(lines, log)]
    for known in _KNOWN:
        line = next((each for each in lines if not each.startswith(console.PREFIX) and known.text.search(each)), None)
        if line is not None:
            found.append(Doubt(f"{known.what}: {line}", known.cure))
    if not found and log.done is None:
        return [Doubt("no line of it has a known cause", "look for your symptom in docs/troubleshooting.md")]
    return found


def _own_doubts(lines: Sequence[str], log: ConsoleLog) -> list[Doubt]:
    found = []
    if log.error is not None:
        name, what = log.error
        found.append(Doubt(f"{name}: {what}", _cure(name)))
    if log.fault is not None:
        found.append(Doubt(f"the CPU faulted: {log.fault}", "scons flash run names the source line (N6-RUN-001)"))
    for slot, (name, what) in sorted(log.refused_appli.items()):
        found.append(Doubt(f"the Appli in slot {'ab'[slot]} is refused, {name}: {what}", _cure(name)))
    for (model, slot), reason in sorted(log.refused.items()):
        what = f"model {model} in slot {'ab'[slot]} is refused: {reason}"
        found.append(Doubt(what, _cure(reason.partition(" ")[0])))
    nor = _first(lines, console.FSBL_NOR.read)
    if nor and nor.get("expected"):
        what = f"the NOR has id {nor['id']}, but the board's description expects {nor['expected']}"
        found.append(Doubt(what, "correct nor.part in board.yaml"))
    outputs = [each.output() for each in log.inferences.values() if each.outputs]
    if outputs and not any(any(data) for data in outputs):
        found.append(Doubt("all outputs are zero", "see docs/troubleshooting.md, All outputs are zero"))
    elif len(outputs) > 1 and len(set(outputs)) == 1:
        what = f"all {len(outputs)} outputs are equal"
        found.append(Doubt(what, "if the inputs differ, see docs/troubleshooting.md, All outputs are zero"))
    if not found:
        found += _silence(lines, log)
    return found


def _cure(name: str) -> str:
    return firmware_hint(name) or f"see docs/errors.md#{name}"


def _silence(lines: Sequence[str], log: ConsoleLog) -> list[Doubt]:
    """Return why a log without an error ends too early."""
    if log.done is not None:
        return []
    if log.clock_hz is not None:
        what = f"the Appli fell silent after {len(log.inferences)} inferences"
        return [
            Doubt(what, "if none began, an epoch never ends: look for the NPU's interrupt and clock (N6-CHECK-034)")
        ]
    if _first(lines, console.FSBL_APPLI.read):
        what = "the FSBL started the Appli, and the Appli printed nothing"
        return [Doubt(what, "see docs/troubleshooting.md, The FSBL starts, the Appli does not")]
    if _first(lines, console.FSBL_NOR.read):
        return [Doubt("the FSBL stopped while it loaded the Appli", "run scons flash to program it again")]
    if _first(lines, console.FSBL_START.read):
        what = "the FSBL stopped before the NOR answered"
        return [Doubt(what, "switch the power off and on: a reset of the chip does not reset the NOR")]
    return []


def _first(lines: Sequence[str], read: Callable[[str], Mapping[str, str] | None]) -> Mapping[str, str] | None:
    """Return the values of the first line that is of one kind."""
    return next((values for line in lines if (values := read(line))), None)


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
