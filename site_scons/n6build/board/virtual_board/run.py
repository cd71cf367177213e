"""Run of the emulator on a NOR or a program, with its console and findings.

All waiting is in guest time: an instruction is one unit. The load of the host does not matter. While
the processor sleeps, guest time jumps to the event that wakes it, by as many units as SysTick ticks
until then; if no event can wake it, the run ends at once, as silent. The host's time only serves to
detect an emulator that hangs: its guest time stands still.
"""

from __future__ import annotations

import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypedDict, Unpack

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.board.virtual_board.board_values import board_values, held_values
from n6build.board.virtual_board.camera import Camera, camera_values
from n6build.board.virtual_board.findings import Finding, Unmodelled
from n6build.board.virtual_board.findings_file import NO_STOPS, Stops, read_findings, unmodelled_of
from n6build.board.virtual_board.gdb_command import gdb_command
from n6build.board.virtual_board.guest_time import HANGS_S, LOOK_S, GuestTime, Heartbeat, hang
from n6build.board.virtual_board.memory_symbols import memory_properties
from n6build.board.virtual_board.npu_files import NO_FILES, NpuFiles
from n6build.board.virtual_board.recording import Recording
from n6build.board.virtual_board.source_lines import Places
from n6build.board.virtual_board.stop_functions import stop_addresses
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.soc import Soc

GDB_PORT = 1234
# An instruction is a unit of guest time, and sleep takes no time of the host.
GUEST_TIME_OPTIONS = ("-icount", "shift=0,sleep=off")
# Instructions per second of guest time: the CPU's clock after reset.
GUEST_HZ = 64_000_000
# Exit status of an emulator that has reached a limit of guest time.
LIMIT_STATUS = 124
# Characters of a line: an unknown program that prints garbage may never end one.
LONGEST_LINE = 1 << 16


@dataclass(frozen=True)
class RunResult:
    """Result of a run of the emulator.

    Attributes:
        ended: 'stopped' by the caller, 'timeout' at a limit of guest time, 'silent' at that of silence,
            'until' at the address or text of `Limits`, 'cut' at its write, or 'exited' by itself.
        exit_code: Only for 'exited'.
        instructions: Executed instructions in total, without sleep.
        banks_on: RAM that is off after reset and was on at the end.
        cleaned: Address ranges of RAM whose cache lines were cleaned by address.
        unmodelled: Registers without a model, by address.
        at: Last place of the program: a source line, a symbol or an address.
        stops: Places where the program has stopped.
    """

    lines: tuple[str, ...]
    findings: tuple[Finding, ...]
    ended: Ended
    exit_code: int | None
    instructions: int
    banks_on: tuple[str, ...]
    cleaned: tuple[tuple[int, int], ...]
    unmodelled: tuple[Unmodelled, ...] = ()
    at: str = ""
    stops: Stops = NO_STOPS


@dataclass(frozen=True)
class Limits:
    """Limits of guest time, in instructions; None for no limit.

    An idle host executes 200 million per second, but only 15 million of code that polls a peripheral:
    firmware that computes forever ends after half a minute, firmware that polls after some minutes.

    Attributes:
        silence: Limit of the time in which the console neither sends nor receives a byte.
        until: Address before whose instruction the run ends.
        text: Text on the console that ends the run; empty for none.
        cut: Number of the write to the NOR's array, from 1, in whose middle the power goes.
        shown: Number of the picture on the panel, from 1, that ends the run.
        glitch: Numbers of property `glitch` (tools/virtual_board/n6virt_glitch.c); empty for none.
    """

    instructions: int | None = 40_000_000_000
    silence: int | None = 4_000_000_000
    until: int | None = None
    text: str = ""
    cut: int | None = None
    shown: int | None = None
    glitch: tuple[int, ...] = ()

    @property
    def options(self) -> str:
        """Return the limits as properties of QEMU's machine."""
        values = {
            "max-instructions": self.instructions,
            "max-silence": self.silence,
            "until": self.until,
            "until-text": self.text.encode().hex() or None,
            "nor-cut": self.cut,
            "shown": self.shown,
            "glitch": "/".join(map(str, self.glitch)) or None,
        }
        return ",".join(f"{name}={value}" for name, value in values.items() if value is not None)


UNLIMITED = Limits(None, None)
_CRASH_HINT = "report it: no program may end the emulator; lack of memory on this computer also ends it"
Ended = Literal["stopped", "timeout", "silent", "until", "cut", "exited"]
# Ends by the words of the emulator's summary.
_ENDS: dict[str, Ended] = {"limit": "timeout", "silence": "silent", "until": "until", "cut": "cut"}


@dataclass(frozen=True)
class NorBoot:
    """A boot from the file of a NOR.

    Attributes:
        board: Board with this NOR and these flash slots.
        jedec_id: Replaces the board's id; None for the board's own.
        strict_clocks: True for programs built here: a peripheral has no clock until the program enables
            it. Third-party programs rely on clocks that the boot ROM leaves on.
        keeps_writes: True if the file keeps the program's erases and writes.
        heard: Recording for its microphones; None for silence.
        played: WAV file for what it plays; None for none.
        camera: Pictures for its image sensor, which does not answer without them.
        pictures: File for what pipes and panel show (`pictures.py`); None for none.
        npu: Files that record the NPU and exchange tensors.
        fuses: File that keeps fuses, which a program can blow; None for those of the factory, which none can.
        development: True for development boot: the boot ROM waits for a probe, and does not read the NOR.
        profile: File for the emulator's profile (`profile.py`); None for no profile.
        harsh: Seed of the RAM's content after power-on, with the times of silicon; 0 for none of this.
        held: True to hold the pin that asks for recovery, until the first reset.
    """

    nor: Path
    board: Board
    jedec_id: int | None = None
    strict_clocks: bool = True
    keeps_writes: bool = False
    heard: Recording | None = None
    played: Path | None = None
    camera: Camera | None = None
    pictures: Path | None = None
    npu: NpuFiles = NO_FILES
    fuses: Path | None = None
    development: bool = False
    profile: Path | None = None
    harsh: int = 0
    held: bool = False


class RunOptions(TypedDict, total=False):
    """Options of a run.

    Attributes:
        limits: By default `Limits()`.
        on_line: Called with each line of the console.
        longest_line: Characters; a longer line comes as several lines.
        gdb: True to wait for a debugger, without limits.
        stops: Addresses whose first execution is one of the result's stops.
    """

    limits: Limits
    on_line: Callable[[str], None]
    longest_line: int
    gdb: bool
    stops: Collection[int]


def run_nor(
    emulator: Path,
    boot: NorBoot,
    *,
    programs: Sequence[Path],
    stop: Callable[[str], bool],
    **options: Unpack[RunOptions],
) -> RunResult:
    """Run the emulator on a NOR.

    Args:
        boot: The NOR and its board.
        programs: ELF files, for source lines in findings.
        stop: Called with each line of the console; a result of true ends the run.

    Raises:
        N6Error: N6-VB-006 if the emulator ends before the first instruction; N6-VB-007 if it hangs.
    """
    return run_emulator(emulator, _nor_options(boot), [], programs, stop, soc=boot.board.soc, **options)


def nor_command(
    emulator: Path, boot: NorBoot, findings: Path, console: str, limits: Limits, guest_time: Path | None = None
) -> list[str]:
    """Return the command line that boots from a NOR.

    Args:
        findings: File for findings, which the emulator writes.
        console: Target of the serial port, in QEMU's syntax.
        guest_time: File for guest time, which the emulator writes.
    """
    return _command(emulator, _nor_options(boot), findings, console, limits, guest_time)


def _nor_options(boot: NorBoot) -> str:
    values = board_values(boot.board, with_sensor=boot.camera is not None)
    values |= {"strict-clocks": "on" if boot.strict_clocks else "off"}
    if not boot.strict_clocks:
        # A third-party program has its own baud rate, so that any rate is accepted.
        values["console-baud"] = 0
    values |= {"nor-jedec-id": boot.jedec_id} if boot.jedec_id is not None else {}
    values |= {"nor-write": "on"} if boot.keeps_writes else {}
    values |= {"development-boot": "on"} if boot.development else {}
    values |= {"harsh": boot.harsh} if boot.harsh else {}
    if boot.held and boot.board.recovery:
        values |= held_values(boot.board.recovery, boot.board.soc)
    if boot.heard is not None:
        values |= {"audio": _quoted(boot.heard.file), "audio-hz": boot.heard.hz}
    values |= camera_values(boot.camera) if boot.camera is not None else {}
    files = {"audio-out": boot.played, "pictures": boot.pictures, "fuse-file": boot.fuses, "profile": boot.profile}
    files |= boot.npu.properties
    values |= {name: _quoted(path) for name, path in files.items() if path is not None}
    return ",".join([f"nor={_quoted(boot.nor)}", *(f"{name}={value}" for name, value in values.items())])


def _command(
    emulator: Path, machine: str, findings: Path, console: str, limits: Limits, guest_time: Path | None
) -> list[str]:
    files = {"findings": findings, "guest-time": guest_time}
    named = (f"{name}={_quoted(path)}" for name, path in files.items() if path)
    options = ["stm32n6virt", machine, *named, limits.options]
    quiet = ["-display", "none", "-monitor", "none"]
    return [str(emulator), "-M", ",".join(filter(None, options)), *quiet, "-serial", console, *GUEST_TIME_OPTIONS]


def _quoted(path: Path) -> str:
    """Return a path with doubled commas, for a list of machine options."""
    return str(path).replace(",", ",,")


def run_emulator(
    emulator: Path,
    machine: str,
    arguments: Sequence[str],
    programs: Sequence[Path],
    stop: Callable[[str], bool],
    *,
    limits: Limits = Limits(),
    on_line: Callable[[str], None] = lambda _: None,
    longest_line: int = LONGEST_LINE,
    gdb: bool = False,
    stops: Collection[int] = (),
    soc: Soc | None = None,
) -> RunResult:
    """Run the emulator; with `gdb` it waits for a debugger without a limit.

    Args:
        machine: Options of QEMU's machine.
        arguments: Further arguments.
        programs: ELF files, for source lines in findings.
        stop: Called with each line of the console; a result of true ends the run.
        stops: See `RunOptions`.
        soc: Chip, for the names of registers in signs of life.

    Raises:
        N6Error: As `run_nor`.
    """
    with tempfile.TemporaryDirectory(prefix="n6virt-") as folder:
        findings = Path(folder) / "findings.jsonl"
        guest_time = None if gdb else GuestTime(Path(folder) / "guest_time")
        file = guest_time.file if guest_time else None
        addresses = "/".join(f"{address:x}" for address in sorted({*stop_addresses(programs), *stops}))
        found = {"stops": addresses, **memory_properties(programs)}
        machine = ",".join(filter(None, (machine, *(f"{name}={text}" for name, text in found.items() if text))))
        command = _command(emulator, machine, findings, "stdio", UNLIMITED if gdb else limits, file)
        command += arguments
        if gdb:
            command += ["-S", "-gdb", f"tcp:127.0.0.1:{GDB_PORT}"]
            say("Debugger", gdb_command(GDB_PORT, programs, soc, Path(folder)))
        heartbeat = Heartbeat(guest_time, Places(programs), soc) if guest_time else None
        watched = _watch(command, stop, heartbeat, on_line, longest_line)
        return _result(findings, watched, programs)


@dataclass(frozen=True)
class _Watched:
    """Output of an emulator; the exit code is None if it was stopped."""

    lines: tuple[str, ...]
    exit_code: int | None
    errors: str


def _watch(
    command: list[str],
    stop: Callable[[str], bool],
    heartbeat: Heartbeat | None,
    on_line: Callable[[str], None],
    longest_line: int,
) -> _Watched:
    """Read a command's lines until `stop`; without `heartbeat` it may stand still."""
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
        reader = threading.Thread(target=_forward, args=(process.stdout, arrived, longest_line), daemon=True)
        reader.start()
        try:
            while not stopped:
                try:
                    line = arrived.get(timeout=LOOK_S)
                except queue.Empty:
                    if heartbeat:
                        heartbeat.look()
                    continue
                if line is None:
                    closed = True
                    break
                lines.append(line)
                if heartbeat:
                    heartbeat.note_line()
                on_line(line)
                stopped = stop(line)
        finally:
            # A clean end lets the machine write its summary; an emulator that ended by itself keeps its exit code.
            if not closed:
                process.send_signal(signal.SIGTERM)
            end(process)
            reader.join(HANGS_S)
        errors.seek(0)
        return _Watched(tuple(lines), None if stopped else process.returncode, errors.read())


def end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Wait for an emulator that is about to end.

    Raises:
        N6Error: N6-VB-007 if it does not end; it is killed, so that its summary is missing.
    """
    try:
        process.wait(HANGS_S)
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise hang("it has not ended") from error


def _forward(stream: IO[str], arrived: queue.Queue[str | None], longest_line: int) -> None:
    while text := stream.readline(longest_line):
        arrived.put(text.rstrip("\r\n"))
    arrived.put(None)


def _result(path: Path, watched: _Watched, programs: Sequence[Path]) -> RunResult:
    places = Places(programs)
    findings, summary = read_findings(path, places)
    # The summary is written at every proper end, even if the emulator gave up before the first instruction.
    started = bool(findings or summary.ended) or summary.instructions > 0
    if watched.exit_code is not None and watched.exit_code < 0:
        raise N6Error("N6-VB-006", _crash_text(watched.exit_code, summary.pc, places, findings), hint=_CRASH_HINT)
    if watched.exit_code and not started:
        reason = next((line for line in watched.errors.splitlines() if line.strip()), "no message")
        raise N6Error("N6-VB-006", f"the emulator ended: {reason}")
    ended: Ended = "stopped" if watched.exit_code is None else "exited"
    if watched.exit_code == LIMIT_STATUS and summary.ended:
        ended = _ENDS.get(summary.ended, "exited")
    return RunResult(
        lines=watched.lines,
        findings=tuple(findings),
        ended=ended,
        exit_code=watched.exit_code if ended == "exited" else None,
        instructions=summary.instructions,
        banks_on=summary.banks_on,
        cleaned=summary.cleaned,
        unmodelled=unmodelled_of(summary, places),
        at=places.of(summary.pc),
        stops=summary.stops,
    )


def _crash_text(status: int, pc: int, places: Places, findings: Sequence[Finding]) -> str:
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
    where = f", with the program at {places.of(pc)}" if pc else ""
    return f"the emulator was ended by {name}{where}{f'; last finding: {findings[-1]}' if findings else ''}"
