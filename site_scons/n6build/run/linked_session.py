"""Inferences on given inputs over the link to a running board, and what came of them."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import serial
from serial.tools import list_ports

from n6build.boards import Board
from n6build.console import say
from n6build.errors import N6Error
from n6build.memory_plan.vectors import VectorSet, rows
from n6build.models import Model
from n6build.network.artifacts import NetworkArtifacts
from n6build.run.compare import judge
from n6build.run.console_log import Inference
from n6build.run.link import Link, NetworkInfo, Restarted
from n6build.run.session import NetworkOutcome, Outcome
from n6build.virtual_board.run import NorBoot, nor_command

# Text that the board is printing anyway, before it listens.
_START_S = 60.0
_RESTARTS = 3
_STREAM_S = 0.05


def run_over_link(
    link: Link, board: Board, networks: Sequence[tuple[Model, NetworkArtifacts, VectorSet, VectorSet | None]]
) -> Outcome:
    """networks: with their inputs and, where they are known, expected outputs. Raises N6-LINK-00x."""
    for attempt in range(1, _RESTARTS + 1):
        try:
            hello = link.hello(_START_S)
            if hello.networks != len(networks):
                what = f"the board has {hello.networks} networks, this application {len(networks)}"
                raise N6Error("N6-LINK-004", what, hint="scons flash programs the firmware of this build")
            outcomes = [_run_network(link, index, *each) for index, each in enumerate(networks)]
            return Outcome(board.name, tuple(outcomes), (), {})
        except Restarted:
            say("Restarted", board.title, f"in the middle of a run, attempt {attempt} of {_RESTARTS}")
    raise N6Error("N6-LINK-005", f"the board has restarted {_RESTARTS} times in the middle of a run", hint="its power?")


def say_speed(outcome_of_all: Outcome, cpu_hz: int) -> None:
    """Of a real clock; the virtual board counts a cycle an instruction."""
    for outcome in outcome_of_all.networks:
        cycles = [verdict.cycles for verdict in outcome.verdicts if verdict.cycles]
        if cycles and cpu_hz:
            ms = 1000 * sum(cycles) / len(cycles) / cpu_hz
            say("Speed", f"{outcome.model} {ms:.3f} ms, {1000 / ms:.2f} inf/s at {cpu_hz / 1e6:.0f} MHz")


def _run_network(
    link: Link, index: int, model: Model, artifacts: NetworkArtifacts, inputs: VectorSet, expected: VectorSet | None
) -> NetworkOutcome:
    info = link.network(index)
    _check_network(info, model, artifacts, inputs)
    inferences = []
    for number, row in enumerate(rows(inputs)):
        link.write_input(index, row)
        cycles = link.run(index)
        inference = Inference({0: link.read_output(index, info.output_bytes)}, cycles)
        if number == 0:
            inference.epoch_cycles = dict(enumerate(link.epoch_cycles(index, info.epochs), 1))
        inferences.append(inference)
    output = artifacts.outputs[0]
    verdicts = judge(
        inferences,
        rows(expected) if expected else [],
        labels=model.labels if expected else (),
        classes=model.classes,
        output_type=output.type,
        scale=output.scale,
        zero_point=output.zero_point,
    )
    return NetworkOutcome(model.name, tuple(verdicts), inferences[0].epoch_cycles if inferences else {})


def _check_network(info: NetworkInfo, model: Model, artifacts: NetworkArtifacts, inputs: VectorSet) -> None:
    wanted = sum(port.bytes for port in artifacts.inputs), sum(port.bytes for port in artifacts.outputs)
    if info.name != model.name or (info.input_bytes, info.output_bytes) != wanted:
        what = f"the board runs {info.name} ({info.input_bytes} bytes in, {info.output_bytes} out), not {model.name}"
        raise N6Error(
            "N6-LINK-004", f"{what} ({wanted[0]} in, {wanted[1]} out)", hint="scons flash programs this build"
        )
    if inputs.bytes_each != info.input_bytes:
        what = f"a row has {inputs.bytes_each} bytes, the network's inputs {info.input_bytes}"
        raise N6Error("N6-VEC-002", what, where=inputs.name)


@contextlib.contextmanager
def virtual_link(emulator: Path, boot: NorBoot, on_text: Callable[[str], None]) -> Iterator[Link]:
    """The virtual board with its console on a local socket, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="n6virt-") as folder:
        port = _free_port()
        console = f"tcp:127.0.0.1:{port},server=on,wait=on"
        command = nor_command(emulator, boot, Path(folder) / "findings.jsonl", console)
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                with _opened(f"socket://127.0.0.1:{port}", process) as stream:
                    yield Link(stream, on_text)
            finally:
                process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _opened(url: str, process: subprocess.Popen[bytes]) -> Any:
    """A port of pyserial; waits until the emulator listens."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return serial.serial_for_url(url, timeout=_STREAM_S)
        except serial.SerialException as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise N6Error("N6-LINK-006", f"the virtual board's console cannot be opened: {error}") from error
            time.sleep(0.05)


def console_of(probe: str) -> str:
    """The serial port of a probe, by its serial number. Raises N6-LINK-007 where there is none."""
    found = [port.device for port in list_ports.comports() if port.serial_number == probe]
    if not found:
        what = f"probe {probe} has no serial port"
        raise N6Error("N6-LINK-007", what, hint="console=/dev/ttyACM0 names it; may this user open it?")
    return str(sorted(found)[0])


@contextlib.contextmanager
def serial_link(port: str, baud: int, on_text: Callable[[str], None]) -> Iterator[Link]:
    """port: such as /dev/ttyACM0. Raises N6-LINK-006 where it cannot be opened."""
    try:
        stream: Any = serial.serial_for_url(port, baud, timeout=_STREAM_S)
    except serial.SerialException as error:
        raise N6Error(
            "N6-LINK-006", f"cannot be opened: {error}", where=port, hint="plugged in, and not in use?"
        ) from error
    with stream:
        yield Link(stream, on_text)
