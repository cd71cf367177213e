"""Inferences with test vectors over the link to a running board."""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import serial
from serial.tools import list_ports

from n6build.base.console import printable, say
from n6build.base.errors import N6Error
from n6build.board.flash.boot_selectors import running
from n6build.board.run.compare import check_appli
from n6build.board.run.console_log import Inference, read_console
from n6build.board.run.guards import pattern, require_untouched
from n6build.board.run.link import Link, NetworkInfo, Restarted
from n6build.board.run.registers import registers_of
from n6build.board.run.session import NetworkOutcome, Outcome, RunModel, longest_line, outcome_of
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.findings import show_findings
from n6build.board.virtual_board.findings_file import read_findings, unmodelled_of
from n6build.board.virtual_board.guest_time import HANGS_S, GuestTime
from n6build.board.virtual_board.run import GUEST_HZ, Limits, NorBoot, end, nor_command
from n6build.board.virtual_board.source_lines import Places
from n6build.compile.artifacts.description import IoBuffer, NetworkArtifacts
from n6build.describe.hardware.board import Board
from n6build.place.memory_plan.vectors import VectorSet, check_row_size, rows

T = TypeVar("T")

# Longest silence: a real board starts within a second; the virtual one may first run every model that it has, in guest time.
_REAL_PATIENCE_S = 10.0
_VIRTUAL_PATIENCE_S = 30.0
# Guest time goes on while a busy host cannot deliver a request. No request to the virtual board gets lost, so that a long wait
# costs nothing. All attempts of an inference may take as many instructions as a run without link (Limits).
_VIRTUAL_ANSWER_S = 5.0
_VIRTUAL_RUN_S = 160.0
# Instructions; more than all attempts of a request take, so that only a board without its host ends by itself.
_VIRTUAL_SILENCE = 45_000_000_000
# More requests may be under way than on a real board: the virtual UART loses nothing.
_VIRTUAL_WINDOW = 16
_RESTARTS = 3
_STREAM_S = 0.05
# Time-out of writing, for a port that accepts no more data.
_WRITE_S = 10.0
# Limit for a network whose files do not list its epochs.
_MOST_EPOCHS = 4096


@dataclass(frozen=True)
class LinkedNetwork:
    """A network with its inputs for a run over the link.

    Attributes:
        model: Model of the run.
        artifacts: Files of the compiled network, without guards.
        inputs: Test vectors, used in turn.
        expected: Expected outputs, used in turn, or None.
        labels: One for each vector, used in turn, or empty.
        runs: Number of inferences.
        guards: Guards that follow inputs and outputs, from `without_guards`.
    """

    model: RunModel
    artifacts: NetworkArtifacts
    inputs: VectorSet
    expected: VectorSet | None
    labels: Sequence[str]
    runs: int
    guards: tuple[IoBuffer, ...] = ()


After = Callable[[int, NetworkOutcome], None]  # Called after a network, with its place and its outcome.


def go_on(_index: int, _outcome: NetworkOutcome) -> None:
    """Go on with the next network."""


def run_on_real_board(
    board: Board,
    networks: Sequence[LinkedNetwork],
    port: str,
    begin: Callable[[], None],
    on_text: Callable[[str], None],
    after: After = go_on,
) -> Outcome:
    """Run the networks on a real board.

    Args:
        port: Port of the console.
        begin: Starts the programs in flash; the console is already open, so that no line is lost.
        after: Called after each network, see `run_over_link`.

    Raises:
        N6Error: N6-LINK-00x; N6-LINK-001 if the board is silent; errors of `check_appli`.
    """
    lines: list[str] = []
    with serial_link(port, board.console.baud, noted(lines, on_text)) as link:
        begin()
        try:
            clock_hz, outcomes = run_over_link(link, networks, _REAL_PATIENCE_S, after)
        except N6Error as error:
            if error.id != "N6-LINK-001" or lines:
                raise
            what = "the board prints nothing after its start"
            raise N6Error("N6-LINK-001", what, where=port, hint=f"{running(board)}; or set start=ram") from error
    log = read_console(lines)
    check_appli(log)
    return Outcome(board.name, clock_hz, "cycles", outcomes, (), log.models)


def run_on_linked_virtual_board(
    boot: NorBoot,
    networks: Sequence[LinkedNetwork],
    programs: Sequence[Path],
    on_text: Callable[[str], None],
    after: After = go_on,
) -> Outcome:
    """Run the networks on the virtual board, over the link.

    Args:
        programs: ELF files, for source lines.
        after: Called after each network, see `run_over_link`.

    Raises:
        N6Error: N6-RUN-004 if findings of the virtual board break the link; errors of `check_appli`.
    """
    board = boot.board
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="n6virt-") as folder:
        path = Path(folder) / "findings.jsonl"
        broken: N6Error | None = None
        clock_hz = board.clock.cpu_hz
        outcomes: tuple[NetworkOutcome, ...] = ()
        try:
            with virtual_link(find_emulator(board.soc), boot, path, noted(lines, on_text)) as link:
                clock_hz, outcomes = run_over_link(link, networks, _VIRTUAL_PATIENCE_S, after)
        except N6Error as error:
            broken = error
        places = Places(programs)
        found, summary = read_findings(path, places)
        registers = registers_of(board, unmodelled_of(summary, places))
    findings = show_findings(found)
    if broken and not findings:
        raise broken
    log = read_console(lines)
    outcome = Outcome(board.name, clock_hz, "instructions", outcomes, findings, log.models, registers=registers)
    if broken:
        outcome.raise_if_wrong()
    check_appli(log)
    return outcome


def noted(lines: list[str], on_text: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that keeps each line of a console and passes it on."""

    def note(line: str) -> None:
        lines.append(line)
        on_text(line)

    return note


def run_over_link(
    link: Link, networks: Sequence[LinkedNetwork], patience_s: float, after: After = go_on
) -> tuple[int, tuple[NetworkOutcome, ...]]:
    """Run the networks, and again if the board restarts.

    Args:
        patience_s: Longest silence before the first answer, in seconds.
        after: Called after each network, again after a restart; an error that it raises ends the run.

    Returns:
        The CPU's clock in Hz, as the board reports it, and the outcome of each network.

    Raises:
        N6Error: N6-LINK-004 if the board runs other networks; N6-LINK-005 if it keeps restarting;
            N6-VEC-002 for rows of another size; N6-LADDER-004 for changed guards; errors of `Link`.
    """
    # The firmware may print the outputs of its own test vectors before it answers.
    link.longest_line = longest_line([network.artifacts for network in networks])
    for attempt in range(1, _RESTARTS + 1):
        try:
            hello = link.hello(patience_s)
            if hello.networks != len(networks):
                what = f"the board has {hello.networks} networks, but this application has {len(networks)}"
                raise N6Error("N6-LINK-004", what, hint="run scons flash to program the firmware of this build")
            outcomes = []
            for index, each in enumerate(networks):
                outcomes.append(_run_network(link, index, each))
                after(index, outcomes[-1])
            return hello.cpu_hz, tuple(outcomes)
        except Restarted:
            say("Restarted", "the board", f"in the middle of a run, attempt {attempt} of {_RESTARTS}")
    raise N6Error(
        "N6-LINK-005",
        f"the board has restarted {_RESTARTS} times in the middle of a run",
        hint="check its power supply",
    )


def _run_network(link: Link, index: int, network: LinkedNetwork) -> NetworkOutcome:
    info = link.network(index)
    _check_network(info, network)
    inputs = rows(network.inputs)
    inferences = []
    for number in range(network.runs):
        if network.artifacts.states and number % len(inputs) == 0:
            # The expected outputs are those of the inputs in their order, from the first values of the states.
            link.restart(index)
        link.write_input(index, inputs[number % len(inputs)] + pattern(network.guards, number))
        cycles = link.run(index)
        made = link.read_output(index, info.output_bytes)
        own = len(made) - sum(guard.bytes for guard in network.guards)
        require_untouched(network.guards, number, made[own:], network.model.name)
        inference = Inference({0: made[:own]}, cycles)
        if number == 0:
            inference.epoch_cycles = dict(
                enumerate(link.epoch_cycles(index, min(info.epochs, _most_epochs(network))), 1)
            )
        inferences.append(inference)
    expected = _in_turn(rows(network.expected), network.runs) if network.expected else []
    return outcome_of(network.model, network.artifacts, inferences, expected, _in_turn(network.labels, network.runs))


def _most_epochs(network: LinkedNetwork) -> int:
    """Return the number of epochs in the network's files, which limits the answer."""
    return len(network.artifacts.blocks) or _MOST_EPOCHS


def _in_turn(values: Sequence[T], count: int) -> list[T]:
    return list(itertools.islice(itertools.cycle(values), count)) if values else []


def _check_network(info: NetworkInfo, network: LinkedNetwork) -> None:
    model, artifacts = network.model, network.artifacts
    wanted = tuple(
        sum(port.bytes for port in (*ports, *network.guards)) for ports in (artifacts.inputs, artifacts.outputs)
    )
    if info.name != model.name or (info.input_bytes, info.output_bytes) != wanted:
        what = f"the board runs {printable(info.name)} ({info.input_bytes} bytes in, {info.output_bytes} out), not {model.name}"
        raise N6Error(
            "N6-LINK-004", f"{what} ({wanted[0]} in, {wanted[1]} out)", hint="run scons flash to program this build"
        )
    check_row_size(network.inputs, artifacts.inputs, "inputs")
    if network.expected:
        check_row_size(network.expected, artifacts.outputs, "outputs")


@contextlib.contextmanager
def virtual_link(
    emulator: Path, boot: NorBoot, findings: Path, on_text: Callable[[str], None], more: Sequence[str] = ()
) -> Iterator[Link]:
    """Run the virtual board until the block ends, with its console as a `Link`.

    The console is a socket of this process; the link's time is guest time.

    Args:
        findings: File for the findings.
        more: More options of the emulator.

    Raises:
        N6Error: N6-LINK-006 if the emulator does not start; N6-LINK-009 if it ends early.
    """
    with tempfile.TemporaryDirectory(prefix="n6virt-") as folder:
        guest_time = GuestTime(Path(folder) / "guest_time")
        ours, theirs = socket.socketpair()
        limits = Limits(None, _VIRTUAL_SILENCE)
        command = nor_command(emulator, boot, findings, "chardev:console", limits, guest_time.file)
        command += ["-chardev", f"socket,id=console,fd={theirs.fileno()}", *more]
        with (
            ours,
            theirs,
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            ) as process,
        ):
            theirs.close()
            try:
                with _unbroken("the virtual board"):
                    yield Link(
                        _Console(ours),
                        on_text,
                        _VIRTUAL_ANSWER_S,
                        _VIRTUAL_RUN_S,
                        _VIRTUAL_WINDOW,
                        now=lambda: guest_time.read() / GUEST_HZ,
                    )
            except N6Error as error:
                if error.id == "N6-LINK-009" and not guest_time.has_begun:
                    what = "the virtual board's console cannot be opened: the emulator ended at once"
                    raise N6Error("N6-LINK-006", what) from error
                raise
            finally:
                process.terminate()
                end(process)


@dataclass(frozen=True)
class _Console:
    """The socket to the emulator, as a `Stream`."""

    socket: socket.socket

    def __post_init__(self) -> None:
        self.socket.settimeout(HANGS_S)

    @property
    def in_waiting(self) -> int:
        import fcntl  # noqa: PLC0415 - only for the virtual board.
        import termios  # noqa: PLC0415

        (count,) = struct.unpack("i", fcntl.ioctl(self.socket, termios.FIONREAD, bytes(4)))
        return int(count)

    def read(self, size: int = 1, /) -> bytes:
        if not select.select([self.socket], [], [], _STREAM_S)[0]:
            return b""
        data = self.socket.recv(size)
        if not data:
            raise ConnectionError("the emulator has ended")
        return data

    def write(self, data: bytes, /) -> int:
        self.socket.sendall(data)
        return len(data)


@contextlib.contextmanager
def _unbroken(where: str) -> Iterator[None]:
    """Raise N6-LINK-009 if the connection breaks in the block."""
    try:
        yield
    except OSError as error:
        what = f"the connection broke: {error}"
        raise N6Error(
            "N6-LINK-009",
            what,
            where=where,
            hint="check the cable and the board's power, and close other programs that use the port",
        ) from error


def console_of(probe: str) -> str:
    """Return the serial port of a probe with this serial number.

    Raises:
        N6Error: N6-LINK-007 if it has none.
    """
    found = [port.device for port in list_ports.comports() if port.serial_number == probe]
    if not found:
        what = f"probe {probe} has no serial port"
        raise N6Error(
            "N6-LINK-007", what, hint="name the port, for example console=/dev/ttyACM0, and check that you may open it"
        )
    return str(sorted(found)[0])


@contextlib.contextmanager
def serial_link(port: str, baud: int, on_text: Callable[[str], None]) -> Iterator[Link]:
    """Open a serial port as a `Link`.

    Args:
        port: Such as /dev/ttyACM0.
        baud: Bits per second.

    Raises:
        N6Error: N6-LINK-006 if it cannot be opened; N6-LINK-009 if it breaks.
    """
    try:
        stream: Any = serial.serial_for_url(port, baud, timeout=_STREAM_S, write_timeout=_WRITE_S)
    except serial.SerialException as error:
        raise N6Error(
            "N6-LINK-006",
            f"cannot be opened: {error}",
            where=port,
            hint="connect the board, and close other programs that use the port",
        ) from error
    with stream, _unbroken(port):
        # The buffer may hold output of an earlier program.
        stream.reset_input_buffer()
        yield Link(stream, on_text)
