"""Runs the emulator on a NOR or a program, and reads what the firmware prints and what the board objects to.

Whoever waits for the virtual board waits in guest time: an instruction is one unit of it, and how busy the host is plays no part.
A processor that sleeps executes nothing; guest time then jumps to what wakes it, by as many units as SysTick ticks until there,
and where nothing can wake it the run ends at once, as silent. The host's own time is only good for noticing an emulator that
hangs: one whose guest time stands still.
"""

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

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.hardware.board import Board
from n6build.virtual_board.source_lines import find_line

GDB_PORT = 1234
# An instruction is a unit of guest time, and sleep takes none of the host's.
GUEST_TIME_OPTIONS = ("-icount", "shift=0,sleep=off")
# Instructions for a second of guest time: the CPU's clock after reset.
GUEST_HZ = 64_000_000
# Status of an emulator that has reached a limit of guest time.
LIMIT_STATUS = 124
# Of the host: that an emulator may take for 2^20 instructions, and for its end.
HANGS_S = 300.0
_END_S = 60.0
_LOOK_S = 1.0
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
    """ended: 'stopped' by the caller's choice, by 'timeout' of guest time, or 'exited' by itself, then with an exit_code, else
    None. instructions: executed in all, without sleep.

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
class Limits:
    """Of guest time, in instructions; None: no limit. silence: in which the console neither says nor hears a byte.

    An idle host executes 200 million a second, but only 15 million of code that polls a peripheral: a firmware that computes
    without end is ended in half a minute, one that polls in some minutes, one that starts again and again in three minutes.
    """

    instructions: int | None = 40_000_000_000
    silence: int | None = 4_000_000_000

    @property
    def options(self) -> str:
        """Of the machine."""
        values = {"max-instructions": self.instructions, "max-silence": self.silence}
        return ",".join(f"{name}={value}" for name, value in values.items() if value is not None)


UNLIMITED = Limits(None, None)


@dataclass
class GuestTime:
    """Of a running emulator, which writes it to a file every 2^20 instructions."""

    file: Path
    _seen: int = -1
    _looked: float = 0.0
    _still_s: float = 0.0

    def read(self) -> int:
        """Raises N6-VB-007 where it stands still while one looks again and again; a long time between two looks is none in which
        it stood still, for who stops this process (Ctrl-Z) stops the emulator, too."""
        seen, now = self._read(), time.monotonic()
        if seen != self._seen:
            self._seen, self._still_s = seen, 0.0
        else:
            self._still_s += min(now - self._looked, _LOOK_S)
        self._looked = now
        if self._still_s > HANGS_S:
            what = f"the emulator hangs: it has executed nothing for {HANGS_S:g} s"
            raise N6Error("N6-VB-007", what, hint="is it stopped, or the host out of memory?")
        return seen

    @property
    def has_begun(self) -> bool:
        return self.file.is_file()

    def _read(self) -> int:
        try:
            return int.from_bytes(self.file.read_bytes(), "little")
        except FileNotFoundError:
            return 0


@dataclass(frozen=True)
class NorBoot:
    """Boots from a NOR's file. board: whose NOR and flash slots these are. jedec_id: another one for the part to answer."""

    nor: Path
    board: Board
    jedec_id: int | None = None


def run_nor(
    emulator: Path, boot: NorBoot, *, programs: Sequence[Path], stop: Callable[[str], bool], **options: Any
) -> RunResult:
    """programs: ELF files, for source lines. options: limits, on_line, gdb as in `_run`."""
    return _run(emulator, _nor_options(boot), [], programs, stop, **options)


def run_program(emulator: Path, program: Path, *, stop: Callable[[str], bool], **options: Any) -> RunResult:
    """Starts an ELF file at its vector table in AXISRAM2, without boot ROM and NOR; semihosting is there."""
    arguments = ["-kernel", str(program), "-semihosting-config", "enable=on,target=native"]
    return _run(emulator, "", arguments, [program], stop, **options)


def nor_command(
    emulator: Path, boot: NorBoot, findings: Path, console: str, limits: Limits, guest_time: Path | None = None
) -> list[str]:
    """The command line that boots from a NOR. findings, guest_time: files for them. console: where the serial port goes, as QEMU
    has it."""
    return _command(emulator, _nor_options(boot), findings, console, limits, guest_time)


def _nor_options(boot: NorBoot) -> str:
    """What of the board is outside of the chip: properties of the machine."""
    board, commands = boot.board, boot.board.nor_commands
    values = {
        "appli-slot": board.slots.appli.address,
        "nor-jedec-id": board.nor.jedec_id if boot.jedec_id is None else boot.jedec_id,
        "nor-memory-type": commands.memory_type,
        "nor-second-byte": commands.second_byte_mask,
        "nor-read": commands.read,
        "nor-read-str": commands.read_str,
        "nor-read-dtr": commands.read_dtr,
        "nor-write-register": commands.write_register,
        "nor-read-register": commands.read_register,
        "nor-mode-address": commands.mode.address,
        "nor-mode-spi": commands.mode.spi,
        "nor-mode-str": commands.mode.opi_str,
        "nor-mode-dtr": commands.mode.opi_dtr,
        "nor-dummy-address": commands.dummy.address,
        "nor-dummy-cycles": "/".join(map(str, commands.dummy.cycles)),
        "nor-port": board.soc.peripherals["GPIO"].instances[board.nor.pins.port],
        "nor-pins": board.nor.pins.mask,
        "nor-alternate": board.nor.pins.alternate,
    }
    return ",".join([f"nor={_quoted(boot.nor)}", *(f"{name}={value}" for name, value in values.items())])


def _command(
    emulator: Path, machine: str, findings: Path, console: str, limits: Limits, guest_time: Path | None
) -> list[str]:
    options = ["stm32n6virt", machine, f"findings={_quoted(findings)}", limits.options]
    if guest_time:
        options.append(f"guest-time={_quoted(guest_time)}")
    quiet = ["-display", "none", "-monitor", "none"]
    return [str(emulator), "-M", ",".join(filter(None, options)), *quiet, "-serial", console, *GUEST_TIME_OPTIONS]


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
    limits: Limits = Limits(),
    on_line: Callable[[str], None] = lambda _: None,
    gdb: bool = False,
) -> RunResult:
    """on_line: called with each line of the console as it comes. gdb: waits for a debugger, as long as that takes."""
    with tempfile.TemporaryDirectory(prefix="n6virt-") as folder:
        findings = Path(folder) / "findings.jsonl"
        guest_time = None if gdb else GuestTime(Path(folder) / "guest_time")
        file = guest_time.file if guest_time else None
        command = _command(emulator, machine, findings, "stdio", UNLIMITED if gdb else limits, file)
        command += arguments
        if gdb:
            command += ["-S", "-gdb", f"tcp:127.0.0.1:{GDB_PORT}"]
            elves = " ".join(f"-ex 'add-symbol-file {program}'" for program in programs)
            say("Debugger", f"gdb-multiarch -ex 'target remote :{GDB_PORT}' {elves}")
        watched = _watch(command, stop, guest_time, on_line)
        return _result(findings, watched, programs)


@dataclass(frozen=True)
class _Watched:
    """exit_code: None where it was stopped."""

    lines: tuple[str, ...]
    exit_code: int | None
    errors: str


def _watch(
    command: list[str], stop: Callable[[str], bool], guest_time: GuestTime | None, on_line: Callable[[str], None]
) -> _Watched:
    """guest_time: of the emulator, None where it may stand still."""
    arrived: queue.Queue[str | None] = queue.Queue()
    lines: list[str] = []
    stopped = closed = False
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
            while not stopped:
                try:
                    line = arrived.get(timeout=_LOOK_S)
                except queue.Empty:
                    if guest_time:
                        guest_time.read()
                    continue
                if line is None:
                    closed = True
                    break
                lines.append(line)
                on_line(line)
                stopped = stop(line)
        finally:
            # A clean end lets the machine write its summary; what ended by itself keeps its exit code.
            if not closed:
                process.send_signal(signal.SIGTERM)
            end(process)
            reader.join(_END_S)
        errors.seek(0)
        return _Watched(tuple(lines), None if stopped else process.returncode, errors.read())


def end(process: subprocess.Popen[Any]) -> None:
    """Waits for an emulator that was asked to end, or ends by itself."""
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()


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
    if watched.exit_code and not started:
        reason = next((line for line in watched.errors.splitlines() if line.strip()), "without a word")
        raise N6Error("N6-VB-006", f"the emulator ended: {reason}")
    ended: Literal["stopped", "timeout", "exited"] = "stopped" if watched.exit_code is None else "exited"
    if watched.exit_code == LIMIT_STATUS and summary.get("ended"):
        ended = "timeout"
    return RunResult(
        lines=watched.lines,
        findings=tuple(findings),
        ended=ended,
        exit_code=watched.exit_code if ended == "exited" else None,
        instructions=int(summary.get("instructions", 0)),
        banks_on=tuple(summary.get("banks_on", ())),
        cleaned=tuple((int(start, 16), int(end, 16)) for start, end in summary.get("cleaned", ())),
    )


def _where(pc: int, programs: Sequence[Path]) -> str:
    line = find_line(pc, programs) if pc else None
    return str(line) if line else f"0x{pc:08x}"
