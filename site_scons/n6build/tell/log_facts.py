"""Explanation of a console log: stages that were reached, and known causes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from n6build.board.run.compare import firmware_hint
from n6build.board.run.console_log import ConsoleLog, read_console
from n6build.describe.formats import console
from n6build.tell.image_facts import Doubt, Explained

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
