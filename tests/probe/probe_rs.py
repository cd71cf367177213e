"""Replay of probe-rs at a debug port.

It has the order of its accesses and its use of a chip description. The program itself was not at hand. Source: probe-rs
67993c4, probe-rs/src/vendor/st/sequences/stm32n6.rs, flashing/flasher.rs and flash_algorithm.rs.
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from n6build.board.flash.command_line import Said
from n6build.board.probe.debug_port import Refused
from n6build.board.probe.processor import AIRCR, DEMCR, DHCSR
from programmer_stand_ins.probe_rs import Call, Usage, is_in_ram, listing, parse, parts_of, table

from probe.debugger import DEBUGEN, KEY, PC, S_HALT, S_RESET, SP, XPSR, Debugger, Port

_DBGMCU_SR, _AP1_IS_OPEN = 0x8000_10FC, 1 << 17
_LR, _R9, _MASKS = 14, 9, 20
# Longest waits in seconds for AP1 behind a reset, and for a halt.
_OPENS_S, _HALTS_S = 0.5, 0.1
_RETURN = 0xBE00_BE00
_STACK = 512


class Tagged(yaml.SafeLoader):
    """A loader that takes the tags of a chip description for a key, as serde does."""


Tagged.add_multi_constructor(
    "!",
    lambda loader, tag, node: {
        tag: loader.construct_scalar(node)
        if isinstance(node, yaml.ScalarNode)
        else loader.construct_mapping(node, deep=True)
    },
)


class Failed(Exception):
    """Failure that probe-rs prints behind 'Error:'."""


@dataclass
class ProbeRs:
    """A command whose calls reach a debug port.

    Attributes:
        serial: Serial number of its probe.
        polls: Reads of DBGMCU SR behind each reset until AP1 was open.
    """

    port: Port
    serial: str = "0041"
    polls: list[int] = field(default_factory=list)

    def run(self, _: Path, words: Sequence[str], timeout_s: int) -> Said:
        """Carry out a call as `run_command` does."""
        assert timeout_s
        try:
            call = parse(words)
        except Usage as usage:
            return Said(f"error: {usage}\n", 2)
        if call.command == "list":
            return Said(listing([self.serial]), 0)
        try:
            return Said(self._attached(call), 0)
        except Failed as failed:
            return Said(f"Error: {failed}\n", 1)
        except Refused as refused:
            return Said(f"Error: An ARM specific error occurred.\n\nCaused by:\n    {refused}\n", 1)

    def _attached(self, call: Call) -> str:
        if call.options["--probe"] != f"0483:374e:{self.serial}":
            raise Failed("No connected probes were found.")
        chip = yaml.load(Path(call.options["--chip-description-path"]).read_text(), Tagged)
        (variant,) = (each for each in chip["variants"] if each["name"] == call.options["--chip"])
        (core,) = variant["cores"]
        assert core["core_access_options"] == {"Arm": {"ap": {"v1": "1"}}}
        try:
            core_port = Debugger(self.port)
            self._start_debugging(core_port)
        except Refused as refused:
            raise Failed(f"Connecting to the chip was unsuccessful.\n\nCaused by:\n    {refused}") from refused
        try:
            return self._carried_out(call, Target(core_port, variant, chip["flash_algorithms"][0]))
        finally:
            # The end of a session: the core runs on, without a debugger.
            core_port.clear()
            core_port.write(DHCSR, KEY)
            core_port.write(DEMCR, 0)

    def _carried_out(self, call: Call, target: Target) -> str:
        if call.command == "read":
            return _read(call, target.core)
        if call.command == "reset":
            self.reset(target.core)
            return ""
        if call.command == "verify":
            return "Verification successful\n" if self._same(target, parts_of(call)) else "Verification failed: ...\n"
        if is_in_ram(call):
            self._load_and_start(target, parts_of(call), "--start" in call.options)
        else:
            self._flash(target, parts_of(call))
        return "     Finished in 1.23s\n"

    def reset(self, core: Debugger) -> None:
        """Reset the chip, and wait until AP1 is open and the core answers."""
        with contextlib.suppress(Refused):
            core.write(AIRCR, 0x05FA_0004)
        core.clear()
        end, polls = time.monotonic() + _OPENS_S, 0
        while True:
            polls += 1
            if Debugger(self.port, 0).word(_DBGMCU_SR) & _AP1_IS_OPEN:
                break
            if time.monotonic() > end:
                raise Failed("Timeout")
        self.polls.append(polls)
        core = Debugger(self.port)
        while core.status() & S_RESET:
            assert time.monotonic() < end + 60
        end = time.monotonic() + _OPENS_S
        while True:
            try:
                self._start_debugging(core)
                return
            except Refused:
                core = Debugger(self.port)
                if time.monotonic() > end:
                    raise Failed("Timeout") from None

    def reset_and_halt(self, core: Debugger) -> None:
        core.write(DEMCR, core.word(DEMCR) | 1)
        core.status()
        self.reset(core)
        end = time.monotonic() + 60 * _HALTS_S
        while not core.status() & S_HALT:
            if time.monotonic() > end:
                raise Failed("Failed to reset, and then halt the CPU.")
        core.write(DEMCR, core.word(DEMCR) & ~1)
        for number in range(16):
            core.set_register(number, 0)
        core.set_register(XPSR, 0x0100_0000)
        core.set_register(_MASKS, 1)
        core.write(0xE000_EF34, 0xC000_0000)
        core.write(0xE000_ED14, 0x201)
        core.write(0xE000_EF50, 0)
        core.write(0x4602_824C, core.word(0x4602_824C) | 0xF)
        for bank in range(3, 7):
            core.write(0x4202_3000 + 0x80 * (bank - 1), 0)

    @staticmethod
    def _start_debugging(core: Debugger) -> None:
        if not core.status() & DEBUGEN:
            core.control(0)

    def _flash(self, target: Target, parts: Sequence[tuple[int, bytes]]) -> None:
        self.reset_and_halt(target.core)
        target.load()
        for purpose in (1, 2):
            target.call("pc_init", target.window[0], 0, purpose, first=True)
            for address, data in parts:
                assert target.window[0] <= address
                assert address + len(data) <= target.window[1]
                target.erase(address, data) if purpose == 1 else target.write(address, data)
            target.call("pc_uninit", purpose)

    def _same(self, target: Target, parts: Sequence[tuple[int, bytes]]) -> bool:
        """Compare with the algorithm, as probe-rs does if it has `pc_verify`."""
        self.reset_and_halt(target.core)
        target.load()
        target.call("pc_init", target.window[0], 0, 3, first=True)
        same = True
        for address, data in parts:
            target.core.load(target.buffer, data)
            same = same and target.returned("pc_verify", address, len(data), target.buffer) == address + len(data)
        target.call("pc_uninit", 3)
        return same

    def _load_and_start(self, target: Target, parts: Sequence[tuple[int, bytes]], starts: bool) -> None:
        self.reset_and_halt(target.core)
        for address, data in parts:
            assert any(start <= address and address + len(data) <= end for start, end in target.ram)
            target.core.load(address, data)
        if starts:
            table_at = parts[0][0]
            stack, entry = target.core.read(table_at, 2)
            target.core.set_register(SP, stack)
            target.core.set_register(PC, entry)
            target.core.write(0xE000_ED08, table_at)
            target.core.run()


def _read(call: Call, core: Debugger) -> str:
    address, words = int(call.values["ADDRESS"], 0), int(call.values["WORDS"])
    assert call.values["WIDTH"] == "b32"
    found: list[int] = []
    while len(found) < words:
        # TAR wraps at 1 KB.
        here = min(words - len(found), (1024 - (address + 4 * len(found)) % 1024) // 4)
        found += core.read(address + 4 * len(found), here)
    data = b"".join(word.to_bytes(4, "little") for word in found)
    core.run()
    if "--output" not in call.options:
        return table(address, data)
    assert call.options["--format"] == "binary"
    Path(call.options["--output"]).write_bytes(data)
    return ""


class Target:
    """A chip with the algorithm of its description, placed as probe-rs places it."""

    def __init__(self, core: Debugger, variant: dict[str, Any], algorithm: dict[str, Any]) -> None:
        self.core = core
        self._algorithm = algorithm
        regions = [(kind, region["range"]) for each in variant["memory_map"] for kind, region in each.items()]
        self.ram = [(each["start"], each["end"]) for kind, each in regions if kind == "Ram"]
        ((start, end),) = ((each["start"], each["end"]) for kind, each in regions if kind == "Nvm")
        self.window = (start, end)
        code = base64.b64decode(algorithm["instructions"])
        self._image = _RETURN.to_bytes(4, "little") + code + bytes(-len(code) % 4)
        self._load = algorithm["load_address"] - 4
        self.buffer = (algorithm["load_address"] + len(self._image) + 7) & ~7
        self._page = algorithm["flash_properties"]["page_size"]
        self._stack = self.buffer + 2 * self._page + algorithm.get("stack_size", _STACK)
        assert any(first <= self._load and self._stack <= last for first, last in self.ram)

    def load(self) -> None:
        self.core.load(self._load, self._image)

    def call(self, name: str, *arguments: int, first: bool = False) -> None:
        """Call a function; raise Failed for another result than 0."""
        result = self.returned(name, *arguments, first=first)
        if result:
            raise Failed(f"The execution of '{name.removeprefix('pc_')}' failed with code {result}.")

    def returned(self, name: str, *arguments: int, first: bool = False) -> int:
        """Call a function and return its result."""
        start = self._algorithm["load_address"]
        values = {PC: start + self._algorithm[name], _LR: self._load + 1, **dict(enumerate(arguments))}
        if first:
            values |= {_R9: start + self._algorithm["data_section_offset"], SP: self._stack}
        for number, value in values.items():
            self.core.set_register(number, value)
        self.core.run()
        self.core.wait()
        return self.core.register(0)

    def erase(self, address: int, data: bytes) -> None:
        (sector,) = self._algorithm["flash_properties"]["sectors"]
        size = sector["size"]
        for each in range(address // size * size, address + len(data), size):
            self.call("pc_erase_sector", each)

    def write(self, address: int, data: bytes) -> None:
        for start in range(0, len(data), self._page):
            page = data[start : start + self._page].ljust(self._page, b"\xff")
            self.core.load(self.buffer, page)
            self.call("pc_program_page", address + start, len(page), self.buffer)
