"""A debugger's client for the emulator: registers, memory, and calls of functions."""

from __future__ import annotations

import socket
import time
from pathlib import Path

_CHUNK = 1024
_PATIENCE_S = 600.0
SP, LR, PC = 13, 14, 15


class GdbClient:
    """A connection to the emulator's debug server, in GDB's remote protocol."""

    def __init__(self, path: Path) -> None:
        self._socket = _connected(path)
        self._buffer = b""
        # The emulator accepts single registers only from clients that know its description.
        self._ask("qXfer:features:read:target.xml:0,fff")

    def close(self) -> None:
        self._socket.close()

    def register(self, number: int) -> int:
        return int.from_bytes(bytes.fromhex(self._ask(f"p{number:x}")), "little")

    def set_register(self, number: int, value: int) -> None:
        assert self._ask(f"P{number:x}={value.to_bytes(4, 'little').hex()}") == "OK"

    def read(self, address: int, count: int) -> bytes:
        return bytes.fromhex(self._ask(f"m{address:x},{count:x}"))

    def write(self, address: int, data: bytes) -> None:
        for start in range(0, len(data), _CHUNK):
            part = data[start : start + _CHUNK]
            assert self._ask(f"M{address + start:x},{len(part):x}:{part.hex()}") == "OK"

    def call(self, function: int, *arguments: int, stack: int, returns_to: int) -> int:
        """Run a function with up to four arguments, and return its result."""
        for number, value in enumerate(arguments):
            self.set_register(number, value)
        self.set_register(SP, stack)
        self.set_register(LR, returns_to | 1)
        self.set_register(PC, function & ~1)
        assert self._ask(f"Z1,{returns_to:x},2") == "OK"
        assert self._ask("c").startswith("T05")
        assert self._ask(f"z1,{returns_to:x},2") == "OK"
        assert self.register(PC) == returns_to
        return self.register(0)

    def _ask(self, text: str) -> str:
        data = text.encode()
        self._socket.sendall(b"$%s#%02x" % (data, sum(data) & 0xFF))
        reply = self._packet()
        self._socket.sendall(b"+")
        return reply

    def _packet(self) -> str:
        while True:
            start, end = self._buffer.find(b"$"), self._buffer.find(b"#")
            if 0 <= start < end and len(self._buffer) >= end + 3:
                packet = self._buffer[start + 1 : end]
                self._buffer = self._buffer[end + 3 :]
                return packet.decode("latin-1")
            received = self._socket.recv(4096)
            assert received, "the emulator has ended"
            self._buffer += received


def _connected(path: Path) -> socket.socket:
    until = time.monotonic() + _PATIENCE_S
    while True:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(_PATIENCE_S)
        try:
            client.connect(str(path))
            return client
        except (FileNotFoundError, ConnectionRefusedError):
            client.close()
            assert time.monotonic() < until, "the emulator opens no debug server"
            time.sleep(0.1)
