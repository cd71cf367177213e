"""Adapter for probe-rs as a command, with n6build's own flash algorithm.

It was never run: the command line, the output and the order of accesses are those of probe-rs' source at
67993c4 (2026-08-17, behind release 0.32.0). Facts used: `list` prints '[0]: STLink V3 -- 0483:374e:<serial>
(ST-LINK)' for each probe; a call takes one file, and an ELF file may have several segments; `download` and
`verify` reset and halt the board and run the algorithm, whose end leaves the NOR's window mapped; `read` neither resets nor
maps; `verify` ends with 0 if the bytes differ; a failure is 'Error: ...' and status 1. A chip description
that is given comes before a built-in chip of the same name, and names that begin with STM32N6 get probe-rs'
own sequence for the reset of this family. `download --start` came behind 0.32.0; it starts an ELF file whose
section .vector_table is in RAM.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Sequence
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of
from n6build.base.span import Span
from n6build.base.templates import render
from n6build.board.flash.algorithm import (
    ERASE_MS,
    PAGE,
    PROGRAM_MS,
    SECTOR,
    STACK,
    FlashAlgorithm,
    build_algorithm,
)
from n6build.board.flash.command_line import (
    LIST_TIMEOUT_S,
    UNPLUG,
    Attached,
    CommandLine,
    Meaning,
    Order,
    device_id,
    run_command,
)
from n6build.board.flash.programmer import Identity, RamProgram
from n6build.describe.hardware.board import Board

TEMPLATE = Path(__file__).with_name("probe_rs.yaml.j2")
_NONE, _SOME = "No debug probes were found.", "The following debug probes were found:"
_PROBE = re.compile(r"\[\d+\]: (.*) -- ([0-9a-f]{4}:[0-9a-f]{4}(?:-\d+)?):(.*?) \([^()]+\)( \(inaccessible\))?")
# USB ids of the ST-LINK V3 on ST's boards, for a probe that is no longer listed: probe-rs then names it as missing.
_ST_LINK_V3 = "0483:374e"
# It is behind the green word 'Finished'; downloads print it, with the seconds.
_DONE = "Finished in"
_DEVELOPMENT_BOOT = (
    "probe-rs connects in development boot only: set the boot selectors for programming, then switch the power off and on "
    "again. It cannot restart a board that starts from its flash: press the reset button, or use start=ram or probe=openocd"
)
_PERMISSIONS = (
    "give your user access to the probe's USB device (udev rules of probe-rs), or close the program that uses it"
)


def _listed(command: Path) -> dict[str, tuple[str, str]]:
    """Return kind and USB ids of all probes by their serial number.

    Raises:
        N6Error: N6-FLASH-007 if the list is not as this release of probe-rs writes it.
    """
    said = run_command(command, ["list"], LIST_TIMEOUT_S)
    lines = [line.strip() for line in said.output.splitlines()]
    entries = [line for line in lines if line.startswith("[")]
    found = [_PROBE.fullmatch(line) for line in entries]
    whole = _NONE in lines or (_SOME in lines and bool(entries))
    if said.failed or not whole or not all(found):
        what = f"the list of probes is not as probe-rs 0.32 writes it: {said.complaint('a line is cut or unknown')}"
        raise N6Error("N6-FLASH-007", what, where=command.name)
    return {each[3]: (each[1] + (each[4] or ""), each[2]) for each in found if each}


def _probes(command: Path) -> dict[str, str]:
    return {serial: kind for serial, (kind, _) in _listed(command).items()}


def description(board: Board, algorithm: FlashAlgorithm) -> str:
    """Return the description of a board's chip for probe-rs.

    It has the RAM that is on after reset, and the NOR.
    """
    memories = [
        {"name": name, "base": memory.base, "end": memory.end}
        for name, memory in board.soc.memories.items()
        if memory.clock is not None and memory.clock.on_after_reset
    ]
    values = {
        "board": board,
        "memories": memories,
        "algorithm": algorithm,
        "instructions": base64.b64encode(algorithm.code).decode(),
        "page": PAGE,
        "sector": SECTOR,
        "stack": STACK,
        "program_ms": PROGRAM_MS,
        "erase_ms": ERASE_MS,
    }
    return render(TEMPLATE, values)


def elf_file(parts: Sequence[tuple[int, bytes]], section: str) -> bytes:
    """Return an ELF file that loads bytes to addresses.

    Args:
        parts: Address and bytes of each segment.
        section: Name of the section in each segment; probe-rs ignores segments without one.
    """
    names = f"\0{section}\0.shstrtab\0".encode()
    headers = 52 + 32 * len(parts)
    offset, segments, sections = headers, b"", bytes(40)
    for address, data in parts:
        segments += struct.pack("<8I", 1, offset, address, address, len(data), len(data), 7, 1)
        sections += struct.pack("<10I", 1, 1, 7, address, offset, len(data), 0, 0, 1, 0)
        offset += len(data)
    sections += struct.pack("<10I", len(section) + 2, 3, 0, 0, offset, len(names), 0, 0, 1, 0)
    ident = b"\x7fELF\1\1\1".ljust(16, b"\0")
    # An executable for Arm, EABI 5; the last section has the names.
    counts = (52, 32, len(parts), 40, len(parts) + 2, len(parts) + 1)
    header = ident + struct.pack("<HHIIIII6H", 2, 40, 1, 0, 52, offset + len(names), 0x0500_0000, *counts)
    return b"".join((header, segments, *(data for _, data in parts), names, sections))


def _connection(attached: Attached, algorithm: FlashAlgorithm | None = None) -> list[str]:
    """Return the options of a connection, with the chip description of the board."""
    algorithm = algorithm or build_algorithm(attached.board, attached.folder / "algorithm")
    path = attached.folder / "chip.yaml"
    path.write_text(description(attached.board, algorithm))
    _, usb = _listed(attached.command).get(attached.serial, ("", _ST_LINK_V3))
    chip = ["--chip", attached.board.soc.name.upper(), "--chip-description-path", str(path)]
    return ["--non-interactive", *chip, "--protocol", "swd", "--probe", f"{usb}:{attached.serial}"]


def _mapping(attached: Attached, connection: Sequence[str]) -> list[str]:
    """Return a call that maps the NOR's window by a run of the algorithm.

    It changes nothing in the NOR, and ends with 0 whether or not the bytes are those of the NOR.
    """
    path = attached.folder / "any.bin"
    path.write_bytes(b"\xff" * 4)
    place = ["--binary-format", "bin", "--base-address", f"0x{attached.board.nor.base:08X}"]
    return ["verify", *connection, "--disable-progressbars", *place, str(path)]


def _download(attached: Attached, connection: Sequence[str], elf: bytes, *more: str) -> Order:
    path = attached.folder / "n6.elf"
    path.write_bytes(elf)
    words = ["download", *connection, "--disable-progressbars", *more, "--binary-format", "elf", str(path)]
    return Order(words, _DONE)


def _identify(attached: Attached) -> Order:
    return Order(["read", *_connection(attached), "b32", f"0x{attached.board.soc.peripherals['DBGMCU'].base:08X}", "1"])


def _identity(output: str, board: Board) -> Identity | None:
    found = device_id(output, rf"^{board.soc.peripherals['DBGMCU'].base:08x}: ([0-9a-f]{{8}})$")
    return None if found is None else Identity(device_id=found)


def _read(attached: Attached, files: Sequence[tuple[Span, Path]]) -> Order:
    connection = _connection(attached)
    reads = []
    for span, path in files:
        width = 4 if span.address % 4 == span.size % 4 == 0 else 1
        words = [f"b{8 * width}", f"0x{span.address:08X}", str(span.size // width)]
        reads.append(["read", *connection, "--format", "binary", "--output", str(path), *words])
    return Order(_mapping(attached, connection), more=reads)


def _nor_id(attached: Attached) -> Order:
    algorithm = build_algorithm(attached.board, attached.folder / "algorithm")
    connection = _connection(attached, algorithm)
    # Init writes the id into RAM, also if it fails.
    read = ["read", *connection, "b32", f"0x{algorithm.jedec_id:08X}", "1"]
    return Order(_mapping(attached, connection), more=[read], goes_on=True)


def _program(attached: Attached, files: Sequence[tuple[int, Path]]) -> Order:
    parts = [(address, content_of(path)) for address, path in files]
    return _download(attached, _connection(attached), elf_file(parts, ".n6"))


def _reset(attached: Attached) -> Order:
    return Order(["reset", *_connection(attached)])


def _start(attached: Attached, program: RamProgram, _: Path) -> Order:
    elf = elf_file([(program.address, program.data)], ".vector_table")
    return _download(attached, _connection(attached), elf, "--start")


PROGRAMMER = CommandLine(
    name="probe-rs",
    command="probe-rs",
    rank=4,
    install="install probe-rs 0.32 or newer",
    # A guess, since neither board nor program was at hand.
    seconds_a_sector=1.5,
    probes=_probes,
    identify=_identify,
    identity=_identity,
    read=_read,
    nor_id=_nor_id,
    program=_program,
    reset=_reset,
    start=_start,
    meanings=(
        Meaning(
            ("unexpected argument '--start'",),
            "install a probe-rs that is newer than 0.32.0, which cannot start a program in RAM, or use probe=openocd",
        ),
        Meaning(("unexpected argument",), "install probe-rs 0.32 or newer: this one does not know an option"),
        Meaning(("failed to open probe",), _PERMISSIONS),
        Meaning(("probe is already in use",), _PERMISSIONS),
        Meaning(("connecting to the chip was unsuccessful",), _DEVELOPMENT_BOOT),
        Meaning(("no connected probes",), UNPLUG),
        Meaning(("an error with the usage of the probe",), UNPLUG),
    ),
    untried="n6build was never tried with the real probe-rs, on no board: it follows probe-rs' source",
)
