"""The front for pyOCD: its protocol for remote probes, one JSON object a line.

Facts used, tried with pyOCD 0.46: the client sends `{"id", "request", "arguments"}` and expects `{"id",
"status", "result"}`, or a text `error` with a status that is not 0. A probe without capabilities leaves
SELECT to the client.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from n6build.base.bounded import WRONG_FIELDS
from n6build.board.probe.debug_port import Refused, VirtualDebugPort

PORT = 5555
_OK, _ERROR, _PROBE_ERROR, _FAULT = 0, 1, 3, 12
_VERSION = 1
_LONGEST_LINE = 1 << 21
_MOST_WORDS = 1 << 16
_WORD = 1 << 32
_PROPERTIES: dict[str, Any] = {
    "vendor_name": "n6build",
    "product_name": "virtual board",
    "supported_wire_protocols": ["DEFAULT", "SWD"],
    "wire_protocol": "SWD",
    "capabilities": [],
}
# Requests without an effect here: there is no line, and one debugger at a time.
_WITHOUT_EFFECT = frozenset(
    [
        "close",
        "lock",
        "unlock",
        "connect",
        "disconnect",
        "swj_sequence",
        "set_clock",
        "flush",
        "invalidate_cached_registers",
    ]
)


class _WrongRequest(Exception):
    """A request that the protocol does not have."""


class PyocdFront:
    """A connection of pyOCD."""

    def __init__(self, port: VirtualDebugPort) -> None:
        self.uses_board = self.is_done = False
        self._port = port
        self._received = b""
        self._is_in_reset = False
        self._requests: dict[str, Callable[..., Any]] = {
            "hello": self._hello,
            "readprop": self._property,
            "read_dp": self._read_dp,
            "write_dp": self._write_dp,
            "read_ap": lambda register: self._read_ap(register, 1)[0],
            "read_ap_multiple": self._read_ap,
            "write_ap": lambda register, value: self._write_ap(register, [value]),
            "write_ap_multiple": self._write_ap,
            "reset": port.reset_by_pin,
            "assert_reset": self._assert_reset,
            "is_reset_asserted": lambda: self._is_in_reset,
            "has_swo": lambda: False,
            "get_memory_interface_for_ap": lambda *_: None,
        }

    def answer(self, received: bytes, is_free: bool) -> bytes:
        """Return the answers to all complete lines."""
        self._received += received
        *lines, self._received = self._received.split(b"\n")
        self.is_done = len(self._received) > _LONGEST_LINE
        return b"".join(self._line(line, is_free) for line in lines)

    def _line(self, line: bytes, is_free: bool) -> bytes:
        number: Any = None
        result: Any = None
        try:
            asked = json.loads(line)
            number, request = asked["id"], asked["request"]
            arguments = asked.get("arguments", [])
            if request == "open":
                if not is_free:
                    return _reply(number, _PROBE_ERROR, error="another debugger uses the virtual board")
                self.uses_board = True
            elif request not in _WITHOUT_EFFECT:
                result = self._carry_out(request, arguments)
        except Refused as refused:
            return _reply(number, _FAULT, error=str(refused))
        except (_WrongRequest, RecursionError, *WRONG_FIELDS) as error:
            return _reply(number, _ERROR, error=f"{type(error).__name__}: {error}")
        return _reply(number, _OK, result=result)

    def _carry_out(self, request: Any, arguments: Any) -> Any:
        if not isinstance(request, str) or request not in self._requests:
            raise _WrongRequest(f"unknown request {request!r:.40}")
        if not isinstance(arguments, list):
            raise _WrongRequest("the arguments are no list")
        if not self.uses_board and request not in ("hello", "readprop"):
            raise _WrongRequest("the probe is not open")
        return self._requests[request](*arguments)

    def _hello(self, version: int) -> None:
        if version != _VERSION:
            raise _WrongRequest(f"version {version!r:.40} of the protocol, {_VERSION} is known")

    def _property(self, name: str) -> Any:
        return _PROPERTIES.get(name) if isinstance(name, str) else None

    def _read_dp(self, register: int) -> int:
        return self._port.read_dp(_number(register))

    def _write_dp(self, register: int, value: int) -> None:
        self._port.write_dp(_number(register), _number(value))

    def _read_ap(self, register: int, count: int = 1) -> list[int]:
        if not 1 <= _number(count) <= _MOST_WORDS:
            raise _WrongRequest(f"{count} words at once")
        return self._port.read_ap(_number(register), count)

    def _write_ap(self, register: int, values: Sequence[int]) -> None:
        if not isinstance(values, list) or not 1 <= len(values) <= _MOST_WORDS:
            raise _WrongRequest("no list of words")
        self._port.write_ap(_number(register), [_number(value) for value in values])

    def _assert_reset(self, asserted: bool) -> None:
        if self._is_in_reset and not asserted:
            self._port.reset_by_pin()
        self._is_in_reset = bool(asserted)


def _number(value: Any) -> int:
    """Return a word; raise _WrongRequest for anything else."""
    if not isinstance(value, int) or not 0 <= value < _WORD:
        raise _WrongRequest(f"{value!r:.40} is not a word")
    return value


def _reply(number: Any, status: int, **more: Any) -> bytes:
    known = {name: value for name, value in more.items() if value is not None}
    return json.dumps({"id": number, "status": status, **known}).encode() + b"\n"
