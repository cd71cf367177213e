"""Example of a new programmer; only its tests need another file.

Its folder is site_scons/n6build/board/flash/programmers/. Facts used: `flashcat list` prints a line
'probe <serial> <board>' for each probe; `id` prints 'chip <device id>'; `read`, `write`, `reset` and
`ram` print 'done' for each part that they have completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.span import Span
from n6build.board.flash.command_line import (
    LIST_TIMEOUT_S,
    Attached,
    CommandLine,
    Meaning,
    Order,
    device_id,
    run_command,
)
from n6build.board.flash.programmer import Identity, RamProgram
from n6build.describe.hardware.board import Board


def _probes(command: Path) -> dict[str, str]:
    lines = [line.split() for line in run_command(command, ["list"], LIST_TIMEOUT_S).output.splitlines()]
    return {words[1]: words[2] for words in lines if words[:1] == ["probe"]}


def _identify(attached: Attached) -> Order:
    return Order([attached.serial, "id"])


def _identity(output: str, _: Board) -> Identity | None:
    found = device_id(output, r"^chip ([0-9a-f]+)")
    return None if found is None else Identity(device_id=found)


def _read(attached: Attached, files: Sequence[tuple[Span, Path]]) -> Order:
    parts = [(hex(span.address), str(span.size), str(path)) for span, path in files]
    return Order([attached.serial, "read", *(word for part in parts for word in part)], "done", len(files))


def _program(attached: Attached, files: Sequence[tuple[int, Path]]) -> Order:
    parts = [(hex(address), str(path)) for address, path in files]
    return Order([attached.serial, "write", *(word for part in parts for word in part)], "done", len(files))


def _reset(attached: Attached) -> Order:
    return Order([attached.serial, "reset"], "done")


def _start(attached: Attached, program: RamProgram, path: Path) -> Order:
    return Order([attached.serial, "ram", hex(program.address), str(path)], "done")


PROGRAMMER = CommandLine(
    name="flashcat",
    command="flashcat",
    rank=9,
    install="from the shelf with the other cats",
    seconds_a_sector=1.0,
    probes=_probes,
    identify=_identify,
    identity=_identity,
    read=_read,
    program=_program,
    reset=_reset,
    start=_start,
    meanings=(Meaning(("asleep",), "wake it up"),),
)
