"""probe-rs 0.32 and newer: the words and the output of its source.

The program was not at hand. The words are read as clap reads them: an unknown, repeated or incomplete option ends with
status 2, options and values may mix, and each value has its place. Source: probe-rs 67993c4,
probe-rs-tools/src/bin/probe-rs/cmd and util/common_options.rs.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from programmer_stand_ins.board import Board, Fault

# Option -> whether a value follows; of ProbeOptions, FormatOptions, BinaryDownloadOptions and CoreOptions.
_PROBE = {
    **dict.fromkeys(
        ("--chip", "--chip-description-path", "--protocol", "--probe", "--speed", "--attach-timeout"), True
    ),
    **dict.fromkeys(("--cycle-power", "--non-interactive", "--connect-under-reset", "--dry-run"), False),
    "--allow-erase-all": False,
}
_FORMAT = {
    **dict.fromkeys(("--binary-format", "--base-address", "--skip", "--idf-bootloader", "--idf-partition-table"), True),
    **dict.fromkeys(("--idf-target-app-partition", "--idf-flash-mode", "--idf-flash-freq", "--skip-section"), True),
}
_LOADER = {"--disable-progressbars": False, "--read-flasher-rtt": False}
_DOWNLOAD = {
    **dict.fromkeys(("--disable-double-buffering", "--restore-unwritten", "--preverify", "--verify"), False),
    **dict.fromkeys(("--flash-layout", "--prefer-flash-algorithm", "--ram-chunk-size"), True),
    "--chip-erase": False,
    "--start": False,
}
_CORE = {"--core": True}
_COMMANDS: dict[str, tuple[dict[str, bool], tuple[str, ...]]] = {
    "list": ({}, ()),
    "download": ({**_PROBE, **_FORMAT, **_LOADER, **_DOWNLOAD}, ("PATH",)),
    "verify": ({**_PROBE, **_FORMAT, **_LOADER}, ("PATH",)),
    "read": ({**_PROBE, **_CORE, "--output": True, "--format": True}, ("WIDTH", "ADDRESS", "WORDS")),
    "reset": ({**_PROBE, **_CORE}, ()),
    "erase": ({**_PROBE, **_LOADER}, ()),
}
_VALUES = {
    "--protocol": r"(?i:swd|jtag)",
    "--probe": r"[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}(-\d+)?(:.*)?",
    "--binary-format": r"(?i:target|bin|binary|hex|ihex|intelhex|elf|idf|esp-idf|espidf|uf2)",
    "--format": "ihex|simple-hex|hex-table|binary",
    "--base-address": r"0x[0-9a-fA-F_]+|0o[0-7_]+|\d+",
    "--speed": r"\d+",
    "WIDTH": "(?i:b8|b16|b32|b64)",
    "ADDRESS": r"0x[0-9a-fA-F_]+|0o[0-7_]+|\d+",
    "WORDS": r"\d+",
}
_USB = "0483:374e"


class Usage(Exception):
    """Words that clap does not take."""


@dataclass(frozen=True)
class Call:
    """A call by its words; options without a value have an empty one."""

    command: str
    options: dict[str, str]
    values: dict[str, str]


def parse(words: Sequence[str]) -> Call:
    """Return a call; raise Usage as clap does."""
    if not words or words[0] not in _COMMANDS:
        raise Usage(f"unrecognized subcommand '{words[0] if words else ''}'")
    known, places = _COMMANDS[words[0]]
    options: dict[str, str] = {}
    values: list[str] = []
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            if len(values) == len(places):
                raise Usage(f"unexpected argument '{word}' found")
            values.append(_valid(places[len(values)], word))
            continue
        if name not in known:
            raise Usage(f"unexpected argument '{name}' found")
        if name in options and name not in ("--skip-section", "--prefer-flash-algorithm"):
            raise Usage(f"the argument '{name}' cannot be used multiple times")
        if known[name] and not equals:
            if not rest or rest[0].startswith("-"):
                raise Usage(f"a value is required for '{name}' but none was supplied")
            value = rest.pop(0)
        options[name] = _valid(name, value) if known[name] else ""
    if len(values) < len(places):
        raise Usage(f"the following required arguments were not provided: <{places[len(values)]}>")
    return Call(words[0], options, dict(zip(places, values, strict=True)))


def _valid(name: str, value: str) -> str:
    if name in _VALUES and not re.fullmatch(_VALUES[name], value):
        raise Usage(f"invalid value '{value}' for '{name}'")
    return value


def parts_of(call: Call) -> list[tuple[int, bytes]]:
    """Return address and bytes of what a call loads."""
    data = Path(call.values["PATH"]).read_bytes()
    kind = call.options.get("--binary-format", "elf").lower()
    if kind in ("bin", "binary"):
        return [(int(call.options.get("--base-address", "0"), 0), data)]
    assert kind == "elf"
    return [(address, data[first : first + size]) for address, first, size in _segments(data)]


def is_in_ram(call: Call) -> bool:
    """Return whether an ELF file has a section for the vector table."""
    return b"\0.vector_table\0" in Path(call.values["PATH"]).read_bytes()


def _segments(elf: bytes) -> list[tuple[int, int, int]]:
    """Return physical address, offset and size of each PT_LOAD with a section."""
    start, sections = struct.unpack_from("<II", elf, 28)
    entry, number, section_entry, sections_count = struct.unpack_from("<HHHH", elf, 42)
    covered = [struct.unpack_from("<II", elf, sections + i * section_entry + 16) for i in range(1, sections_count)]
    found = []
    for i in range(number):
        kind, offset, _, address, size = struct.unpack_from("<5I", elf, start + i * entry)
        if kind == 1 and any(offset <= first and first + length <= offset + size for first, length in covered):
            found.append((address, offset, size))
    return found


def main(folder: Path, arguments: list[str]) -> int:
    try:
        call = parse(arguments)
    except Usage as usage:
        print(f"error: {usage}\n\nUsage: probe-rs <COMMAND>", file=sys.stderr)
        return 2
    board = Board(folder)
    if call.command == "list":
        return _list(board)
    try:
        return _attached(board, call)
    except Fault:
        return _error("An error with the usage of the probe occurred")


def listing(serials: Sequence[str]) -> str:
    """Return the output of `list`."""
    if not serials:
        return "No debug probes were found.\n"
    lines = [f"[{i}]: STLink V3 -- {_USB}:{serial} (ST-LINK)\n" for i, serial in enumerate(serials)]
    return "The following debug probes were found:\n" + "".join(lines)


def table(address: int, data: bytes) -> str:
    """Return the words of data as `read b32` prints them."""
    words = [data[i : i + 4][::-1].hex() for i in range(0, len(data), 4)]
    lines = [f"{address + 4 * i:08x}: {' '.join(words[i : i + 8])}\n" for i in range(0, len(words), 8)]
    return "".join(lines)


def _list(board: Board) -> int:
    print(listing([*board.settings.probes]), end="")
    return 0


def _error(text: str) -> int:
    print(f"Error: {text}", file=sys.stderr)
    return 1


def _attached(board: Board, call: Call) -> int:
    described = Path(call.options["--chip-description-path"]).read_text()
    usb, _, serial = call.options["--probe"].rpartition(":")
    if f'- name: "{call.options["--chip"]}"' not in described:
        return _error(f"The chip '{call.options['--chip']}' was not found in the database.")
    if usb != _USB or not board.connect(serial):
        return _error("No connected probes were found.")
    if call.command == "read":
        _read(board, call, described)
    elif call.command == "reset":
        board.begin(board.settings.on_reset)
    elif call.command == "verify":
        return _verify(board, call)
    else:
        _download(board, call)
    return 0


def _verify(board: Board, call: Call) -> int:
    if board.settings.jedec_id != 0xC2803A:
        return _error("The execution of 'init' failed with code 2.")
    same = all(board.holds(address, data) for address, data in parts_of(call))
    print("Verification successful" if same else "Verification failed: contents do not match")
    return 0


def _download(board: Board, call: Call) -> None:
    for address, data in parts_of(call):
        board.load(address, data) if is_in_ram(call) else board.program(address, data)
    if "--start" in call.options:
        board.begin(board.settings.on_start)
    print("     Finished in 1.23s", file=sys.stderr)


def _read(board: Board, call: Call, described: str) -> None:
    address = int(call.values["ADDRESS"], 0)
    size = int(call.values["WORDS"]) * int(call.values["WIDTH"][1:]) // 8
    start = int(re.findall(r"load_address: (0x[0-9a-fA-F]+)", described)[-1], 16)
    if address in (0x4400_1000, 0x5400_1000):
        board.operation()
        data = (0x2003_6000 | board.settings.device_id).to_bytes(4, "little")
    elif start <= address < start + 0x10000:
        data = board.settings.jedec_id.to_bytes(4, "little")
    else:
        data = board.read(address, size)
    if "--output" in call.options:
        assert call.options["--format"] == "binary"
        Path(call.options["--output"]).write_bytes(data)
    else:
        print(table(address, data), end="")
