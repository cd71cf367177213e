"""The log of ST's compiler, cleaned, and the error that explains a failure.

Progress bars, log prefixes and wrapped lines are removed. Each message recognised here was seen in
a real log of Core 2.x to 4.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import kib
from n6build.base.errors import N6Error
from n6build.base.findings import Finding

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[\w+\] \w+:\d+ - ")
_PROGRESS = re.compile(r"^PASS:\s{1,4}(\d{1,3})%\|")
_MESSAGE = re.compile(
    r"\b(E\d{3}\(\w{1,40}\)|(?:CLI|LOAD|INTERNAL|TOOLS?) ERROR|NOT IMPLEMENTED|INTERRUPT): (.{0,2000})"
)
_BYTES_LEFT = re.compile(r"total bytes left unallocated=(\d{1,20})")
_NOT_QUANTISED = re.compile(r"WARNING: (\S{1,200}) is not quantized")
_IR_VERSION = re.compile(r"ir_version (\d{1,6}) is higher than the checker's \((\d{1,6})\)")
_MINIMAL_SIZES = re.compile(r"Minimal sizes needed are: \{[^}]{0,400}?(\d{1,20})[^}\d]{0,40}\}")
_UNSUPPORTED_KEYS = re.compile(r"WARNING: Unsupported keys in the current profile .{0,200}")
# No memory of a board has so many bytes: a larger number means nothing, as for float models.
_MEANINGLESS_BYTES = 1 << 30
_BLOCK_LINES = 20
_LAST_LINES = 8
_UNKNOWN = "N6-STAI-034"


@dataclass(frozen=True)
class CompilerLog:
    """The log of a run.

    Attributes:
        lines: Cleaned lines.
        messages: Category and text of each message.
        failure: Output of the NPU compiler before it failed.
        bytes_left: Bytes without a place, by configuration that the compiler tried.
        not_quantised: Names of tensors.
        notes: Notes for the user about a network that was made.
    """

    lines: tuple[str, ...]
    messages: tuple[tuple[str, str], ...]
    failure: tuple[str, ...]
    bytes_left: tuple[int, ...]
    not_quantised: tuple[str, ...]
    notes: tuple[str, ...]

    def has(self, text: str) -> bool:
        """Return whether any line contains a text."""
        return any(text in line for line in self.lines)


def progress_of(line: str) -> int | None:
    """Return the percentage if the line is a progress bar, else None."""
    match = _PROGRESS.match(line)
    return min(int(match[1]), 100) if match else None


def clean(text: str) -> list[str]:
    """Return the lines without ANSI codes and log prefixes.

    A carriage return also ends a line.
    """
    lines = []
    for raw in re.split(r"[\r\n]+", _ANSI.sub("", text)):
        line = _PREFIX.sub("", raw).rstrip()
        if line.strip() and progress_of(line.strip()) is None:
            lines.append(line.strip())
    return lines


def read_log(text: str) -> CompilerLog:
    """Read everything that the tool printed."""
    lines = clean(text)
    found = [match for line in lines if (match := _MESSAGE.search(line))]
    return CompilerLog(
        lines=tuple(lines),
        messages=tuple((match[1], match[2].strip()) for match in found),
        failure=tuple(_failure(lines)),
        bytes_left=tuple(int(match[1]) for line in lines if (match := _BYTES_LEFT.fullmatch(line))),
        not_quantised=tuple(match[1] for line in lines if (match := _NOT_QUANTISED.search(line))),
        notes=tuple(_notes(lines)),
    )


def _failure(lines: Sequence[str]) -> list[str]:
    """Return the lines between '>>> Shell execution has FAILED' and '<<<'.

    Lines that name files of this run are left out.
    """
    start = next((number for number, line in enumerate(lines) if ">>> Shell execution has FAILED" in line), None)
    if start is None:
        return []
    end = next((number for number in range(start, len(lines)) if lines[number] == "<<<"), len(lines))
    return [line for line in lines[start + 1 : end] if not line.startswith(("$ ", "saving memory pool description"))]


def _notes(lines: Sequence[str]) -> list[str]:
    notes = [match[0] for line in lines if (match := _UNSUPPORTED_KEYS.search(line))]
    if any("undefined reference to" in line and "_mem_pool_" in line for line in lines):
        # To measure the runtime, the tool links a program without the symbols of relative pools. The network is complete.
        notes.append("the size of the runtime was not computed: relative memory pools have no address yet")
    return notes


def dropped_quantisation(log: CompilerLog) -> Finding | None:
    """Return a finding if the tool has dropped the quantisation.

    This is worse than a failure: the tool continues, and compiles a float network.
    """
    if not log.has("Ignore Quantization JSON file") and not log.has('invalid value "BOOL"'):
        return None
    what = "the compiler dropped the quantisation of the whole model"
    return Finding("stedgeai", what, "remove or replace operators with boolean tensors, the usual cause")


def diagnose(log: CompilerLog, status: int, *, pool_bytes: int) -> N6Error | None:
    """Return the error that explains the end of a run, None for status 0.

    Its id is one of N6-STAI-021 to N6-STAI-034.

    Args:
        log: Log of the run.
        status: Exit status of the tool.
        pool_bytes: Bytes of all pools together.
    """
    if status == 0:
        return None
    hint = "read its last lines here, and the whole log beside network.c"
    return _failure_of(log, pool_bytes) or _error(_UNKNOWN, f"stedgeai failed with status {status}", log, hint)


def _failure_of(log: CompilerLog, pool_bytes: int) -> N6Error | None:
    """Return the error of a log: causes come first, then consequences."""
    causes = (_bad_pools(log), _text_failure(log), _float_model(log), _pool_overflow(log, pool_bytes))
    return next(filter(None, (*causes, _cortex_m_overflow(log), _own_message(log))), None)


def _bad_pools(log: CompilerLog) -> N6Error | None:
    if not log.has("memory pool JSON ERROR"):
        return None
    line = next(line for line in log.lines if "memory pool JSON ERROR" in line)
    return _error(
        "N6-STAI-021",
        f"the compiler cannot read its memory pools: {line}",
        log,
        "report this error to n6build, which wrote them",
    )


def _text_failure(log: CompilerLog) -> N6Error | None:
    """Return the error for messages whose text alone identifies the failure."""
    if match := next((match for line in log.lines if (match := _IR_VERSION.search(line))), None):
        what = f"the model has ONNX IR version {match[1]}, but this release of the tool reads up to {match[2]}"
        return _error(
            "N6-STAI-022", what, log, f"save the model with ir_version {match[2]}, or use a newer ST Edge AI Core"
        )
    for texts, id, what, hint in _TEXTS:
        if any(log.has(text) for text in texts):
            return _error(id, what, log, hint)
    return None


_TEXTS = (
    (
        ("wstring_convert", "std::range_error", "Internal compiler error (signo=22)"),
        "N6-STAI-023",
        "the compiler failed on a non-ASCII character in a path",
        "use only ASCII characters in the paths of the model and of the build",
    ),
    (
        ("Internal compiler error (signo=11)",),
        "N6-STAI-024",
        "the compiler crashed (signal 11)",
        "try other options (network.st_edge_ai.options), for example without --Oauto-sched, and report the model to ST",
    ),
    (
        ("E801(", "Invalid firmware", "Unable to bind the ST.AI runtime"),
        "N6-STAI-025",
        "the tool tried to reach a board, which only validation needs",
        "omit --mode target: n6build runs the network itself",
    ),
)


def _float_model(log: CompilerLog) -> N6Error | None:
    if len(log.not_quantised) < 2 or not (log.bytes_left or log.failure):
        return None
    what = (
        f"the model is not quantised: {len(log.not_quantised)} tensors compute in float, {log.not_quantised[0]} first"
    )
    hint = "quantise the model to int8; before that, ignore the number of missing bytes"
    return _error("N6-STAI-026", what, log, hint)


def _pool_overflow(log: CompilerLog, pool_bytes: int) -> N6Error | None:
    if not log.bytes_left:
        return None
    missing = min(log.bytes_left)
    if missing >= _MEANINGLESS_BYTES:
        return _error(
            "N6-STAI-027",
            "the memory pools are too small, by an unknown number of bytes",
            log,
            "check that the model is quantised to int8",
        )
    tried = ", ".join(f"configuration {number}: {left}" for number, left in enumerate(log.bytes_left))
    what = f"the memory pools ({kib(pool_bytes)} together) are too small: {missing} bytes missing ({tried})"
    hint = "choose a profile with more memory (scons boards), larger pools (network.pools), or a smaller input"
    return _error("N6-STAI-028", what, log, hint)


def _cortex_m_overflow(log: CompilerLog) -> N6Error | None:
    if not log.has("E700("):
        return None
    sizes = next((match for line in log.lines if (match := _MINIMAL_SIZES.search(line))), None)
    need = f": {sizes[1]} bytes are needed at least" if sizes else ""
    return _error(
        "N6-STAI-029", f"the flow without NPU ran out of RAM{need}", log, "add --st-neural-art to the arguments"
    )


def _own_message(log: CompilerLog) -> N6Error | None:
    """Return the tool's own message as an error.

    E103 comes last, since it only reports that the NPU compiler failed.
    """
    ordered = sorted(log.messages, key=lambda message: message[0].startswith("E103"))
    if not ordered:
        return None
    category, text = ordered[0]
    id = next((id for prefix, id in _MESSAGE_IDS if category.startswith(prefix)), _UNKNOWN)
    return _error(
        id,
        f"{category}: {text[:300]}",
        log,
        _MESSAGE_HINTS.get(id, "read the whole log: this is the tool's own message"),
    )


_MESSAGE_IDS = (("E102", "N6-STAI-030"), ("E010", "N6-STAI-031"), ("TOOL", "N6-STAI-031"), ("E103", "N6-STAI-033"))
_MESSAGE_HINTS = {
    "N6-STAI-030": "correct network.st_edge_ai.arguments in model.yaml",
    "N6-STAI-031": "simplify the model, export it again, or try another release: the importer does not accept it",
}


def _error(id: str, what: str, log: CompilerLog, hint: str) -> N6Error:
    block = log.failure[-_BLOCK_LINES:] or (log.lines[-_LAST_LINES:] if id == _UNKNOWN else ())
    shown = "".join(f"\n    {line[:200]}" for line in block)
    return N6Error(id, what + shown, where="stedgeai", hint=hint)
