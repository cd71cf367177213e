"""Runs the emulator on a NOR or a program, and reads what the firmware prints and what the board objects to."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from n6build.console import say
from n6build.errors import N6Error
from n6build.virtual_board.source_lines import find_line

GDB_PORT = 1234
_LONGEST_LINE = 1 << 16


@dataclass(frozen=True)
class Finding:
    """kind: a fixed word, such as ram-off. text: a sentence. where: source line of the instruction, or its address."""

    kind: str
    text: str
    where: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


@dataclass(frozen=True)
class RunResult:
    """ended: 'stopped' by the caller's choice, by 'timeout', or 'exited' by itself, then with an exit_code, else None.
    instructions: executed in all, without sleep.

    banks_on: RAM banks that were on at the end. cleaned: address ranges of AXISRAM3..6 whose cache lines were cleaned.
    """

    lines: tuple[str, ...]
    findings: tuple[Finding, ...]
    ended: Literal["stopped", "timeout", "exited"]
    exit_code: int | None
    instructions: int
    banks_on: tuple[str, ...]
    cleaned: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class NorBoot:
    """Boots from a NOR's file. jedec_id: what the part answers. appli_slot: where the FSBL finds the Appli."""

    nor: Path
    jedec_id: int
    appli_slot: int


def run_nor(
    emulator: Path, boot: NorBoot, *, programs: Sequence[Path], stop: Callable[[str], bool], **options: Any
) -> RunResult:
    """programs: ELF files, for source lines. options: timeout_s, on_line, gdb as in `run_program`."""
    return _run(emulator, _nor_options(boot), [], programs, stop, **options)


def run_program(emulator: Path, program: Path, *, stop: Callable[[str], bool], **options: Any) -> RunResult:
    """Starts an ELF file at its vector table in AXISRAM2, without boot ROM and NOR; semihosting is there."""
    arguments = ["-kernel", str(program), "-semihosting-config", "enable=on,target=native"]
    return _run(emulator, "", arguments, [program], stop, **options)


def nor_command(emulator: Path, boot: NorBoot, findings: Path, console: str) -> list[str]:
    """The command line that boots from a NOR. findings: file for them. console: where the serial port goes, as QEMU has it."""
    return _command(emulator, _nor_options(boot), findings, console)


def _nor_options(boot: NorBoot) -> str:
    return f"nor={_quoted(boot.nor)},jedec={boot.jedec_id},appli-slot={boot.appli_slot}"


def _command(emulator: Path, machine: str, findings: Path, console: str) -> list[str]:
    options = ",".join(option for option in ("stm32n6virt", machine, f"findings={_quoted(findings)}") if option)
    quiet = ["-display", "none", "-monitor", "none"]
    return [str(emulator), "-M", options, *quiet, "-serial", console, "-icount", "shift=0"]


def _quoted(path: Path) -> str:
    """In a list of machine options a comma is doubled."""
    return str(path).replace(",", ",,")


def _run(
    emulator: Path,
    machine: str,
    arguments: Sequence[str],
    programs: Sequence[Path],
    stop: Callable[[str], bool],
    *,
    timeout_s: float | None = 60,
    on_line: Callable[[str], None] = lambda _: None,
    gdb: bool = False,
) -> RunResult:
    """timeout_s: of the whole run, None: none. on_line: called with each line of the console as it comes."""
    with tempfile.TemporaryDirectory(prefix="n6virt-") as folder:
        findings = Path(folder) / "findings.jsonl"
        command = _command(emulator, machine, findings, "stdio")
        command += arguments
        if gdb:
            command += ["-S", "-gdb", f"tcp:127.0.0.1:{GDB_PORT}"]
            elves = " ".join(f"-ex 'add-symbol-file {program}'" for program in programs)
            say("Debugger", f"gdb-multiarch -ex 'target remote :{GDB_PORT}' {elves}")
        watched = _watch(command, stop, timeout_s, on_line)
        return _result(findings, watched, programs)


@dataclass(frozen=True)
class _Watched:
    lines: tuple[str, ...]
    ended: Literal["stopped", "timeout", "exited"]
    exit_code: int | None
    errors: str


def _watch(
    command: list[str], stop: Callable[[str], bool], timeout_s: float | None, on_line: Callable[[str], None]
) -> _Watched:
    arrived: queue.Queue[str | None] = queue.Queue()
    lines: list[str] = []
    closed = False
    ended: Literal["stopped", "timeout", "exited"] = "exited"
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace"
        ) as process,
    ):
        assert process.stdout is not None
        reader = threading.Thread(target=_forward, args=(process.stdout, arrived), daemon=True)
        reader.start()
        try:
            while True:
                try:
                    line = arrived.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
                except queue.Empty:
                    ended = "timeout"
                    break
                if line is None:
                    closed = True
                    break
                lines.append(line)
                on_line(line)
                if stop(line):
                    ended = "stopped"
                    break
        finally:
            # A clean end lets the machine write its summary; what ended by itself keeps its exit code.
            if not closed:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        # What was printed last, perhaps a line without its end.
        reader.join(10)
        while ended == "timeout" and not arrived.empty():
            line = arrived.get()
            if line is not None:
                lines.append(line)
                on_line(line)
        errors.seek(0)
        exit_code = process.returncode if ended == "exited" else None
        return _Watched(tuple(lines), ended, exit_code, errors.read())


def _forward(stream: Any, arrived: queue.Queue[str | None]) -> None:
    while text := stream.readline(_LONGEST_LINE):
        arrived.put(text.rstrip("\r\n"))
    arrived.put(None)


def read_findings(path: Path, programs: Sequence[Path]) -> tuple[list[Finding], dict[str, Any]]:
    """What the emulator has written, and its summary, which is empty where it did not end in order."""
    findings: list[Finding] = []
    summary: dict[str, Any] = {}
    for text in path.read_text().splitlines() if path.is_file() else []:
        entry = json.loads(text)
        if entry["kind"] == "summary":
            summary = entry
        else:
            findings.append(Finding(entry["kind"], entry["text"], _where(int(entry["pc"], 16), programs)))
    return findings, summary


def _result(path: Path, watched: _Watched, programs: Sequence[Path]) -> RunResult:
    findings, summary = read_findings(path, programs)
    # The summary is written on every orderly end, also where the emulator gave up before the first instruction.
    started = bool(findings) or int(summary.get("instructions", 0)) > 0
    if watched.ended == "exited" and watched.exit_code and not started:
        reason = next((line for line in watched.errors.splitlines() if line.strip()), "without a word")
        raise N6Error("N6-VB-006", f"the emulator ended: {reason}")
    return RunResult(
        lines=watched.lines,
        findings=tuple(findings),
        ended=watched.ended,
        exit_code=watched.exit_code,
        instructions=int(summary.get("instructions", 0)),
        banks_on=tuple(summary.get("banks_on", ())),
        cleaned=tuple((int(start, 16), int(end, 16)) for start, end in summary.get("cleaned", ())),
    )


def _where(pc: int, programs: Sequence[Path]) -> str:
    line = find_line(pc, programs) if pc else None
    return str(line) if line else f"0x{pc:08x}"
