"""Requests to a running Appli over its console: COBS frames with a CRC-32, repeated where no answer comes.

The other side is firmware/appli/n6_link.c; both have the messages from formats/link.py. Text of the firmware may come between
frames, and so may noise: anything but a frame with a correct CRC is text.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from cobs import cobs

from n6build.base.errors import N6Error
from n6build.formats.link import (
    ANSWER,
    CRC_BYTES,
    DATA_MAX,
    EPOCH,
    EPOCHS_REQUEST,
    HELLO_ANSWER,
    INPUT_REQUEST,
    NETWORK_ANSWER,
    NETWORK_REQUEST,
    OUTPUT_REQUEST,
    RUN_ANSWER,
    RUN_REQUEST,
    VERSION,
    Status,
    Type,
)
from n6build.run.compare import check_going
from n6build.run.console_log import EpochCycles, read_console

_ATTEMPTS = 4
_LONGEST_TEXT = 1 << 16
# Starts of FSBL or Appli while waiting for an answer.
_STARTS = 8
_REFUSALS: dict[int, str] = {
    Status.UNKNOWN: "it knows no such request or network",
    Status.RANGE: "outside its buffers",
}


class Stream(Protocol):
    """A serial port, as pyserial has it."""

    @property
    def in_waiting(self) -> int:
        """Bytes that have arrived already."""

    def read(self, size: int = 1, /) -> bytes:
        """`size` bytes, or fewer where the port's time-out ends first."""

    def write(self, data: bytes, /) -> int | None:
        """Number of bytes written, None where the port does not know."""


class Restarted(Exception):
    """The board restarted while an answer was awaited."""


@dataclass(frozen=True)
class Hello:
    """networks: how many the firmware has."""

    networks: int
    cpu_hz: int


@dataclass(frozen=True)
class NetworkInfo:
    """input_bytes, output_bytes: of all inputs, or of all outputs. epochs: how many it has."""

    name: str
    input_bytes: int
    output_bytes: int
    epochs: int


@dataclass
class Link:
    """on_text: called with each line that the firmware prints. answer_s: longest time that an answer may take, in seconds.
    run_s: the same for an inference. now: the time in seconds, as it passes for the board."""

    stream: Stream
    on_text: Callable[[str], None] = lambda _: None
    answer_s: float = 0.5
    run_s: float = 30.0
    now: Callable[[], float] = time.monotonic
    _sequence: int = 0
    _received: bytearray = field(default_factory=bytearray)
    _lines: int = 0
    _foreign_line: str = ""

    def hello(self, patience_s: float = 5.0) -> Hello:
        """patience_s: seconds of silence. Raises N6-LINK-001 where nobody answers, N6-LINK-008 where another firmware does,
        N6-LINK-002 for another version of the protocol, N6-LINK-005 for a board that keeps restarting."""
        deadline, lines = self.now() + patience_s, self._lines
        starts = 0
        while True:
            try:
                payload = self.request(Type.HELLO, b"")
                break
            except Restarted as restarted:
                # FSBL and Appli each report a start; a board that starts more often does not get far.
                starts += 1
                if starts > _STARTS:
                    what = "the board keeps restarting"
                    raise N6Error(
                        "N6-LINK-005", what, hint="check its power supply, and that it can run at the configured clock"
                    ) from restarted
            except N6Error as error:
                if error.id != "N6-LINK-001":
                    raise
                if self._lines > lines and not self._foreign_line:
                    deadline, lines = self.now() + patience_s, self._lines
                if self.now() > deadline:
                    if self._foreign_line:
                        what = f"another firmware is on the board; it says '{self._foreign_line}'"
                        raise N6Error("N6-LINK-008", what, hint="scons flash programs this one") from error
                    raise
        answer = HELLO_ANSWER.unpack(payload)
        if answer["version"] != VERSION:
            what = f"the firmware speaks version {answer['version']} of the protocol, n6build speaks {VERSION}"
            raise N6Error("N6-LINK-002", what, hint="scons flash programs the firmware of this checkout")
        return Hello(answer["networks"], answer["cpu_hz"])

    def network(self, index: int) -> NetworkInfo:
        """index: of the network in the application. Raises as `request`."""
        payload = self.request(Type.NETWORK, NETWORK_REQUEST.pack(index=index))
        name = payload[NETWORK_ANSWER.size :].decode("utf-8", "replace")
        return NetworkInfo(name, **NETWORK_ANSWER.unpack(payload))

    def write_input(self, index: int, data: bytes) -> None:
        """data: all inputs of the network, one after another. Raises as `request`."""
        for start in range(0, len(data), DATA_MAX):
            chunk = data[start : start + DATA_MAX]
            self.request(Type.INPUT, INPUT_REQUEST.pack(index=index, offset=start) + chunk)

    def run(self, index: int) -> int:
        """Cycles of one inference. Raises as `request`."""
        return RUN_ANSWER.unpack(self.request(Type.RUN, RUN_REQUEST.pack(index=index), self.run_s))["cycles"]

    def read_output(self, index: int, size: int) -> bytes:
        """size: bytes of all outputs, which come one after another. Raises as `request`."""
        data = b""
        while len(data) < size:
            wanted = min(DATA_MAX, size - len(data))
            data += self.request(Type.OUTPUT, OUTPUT_REQUEST.pack(index=index, offset=len(data), size=wanted))
        return data

    def epoch_cycles(self, index: int, count: int) -> list[EpochCycles]:
        """Of the last inference, at most `count` epochs; fewer where the firmware has fewer. Raises as `request`."""
        cycles: list[EpochCycles] = []
        while len(cycles) < count:
            payload = self.request(Type.EPOCHS, EPOCHS_REQUEST.pack(index=index, first=len(cycles)))
            if not payload:
                break
            cycles += [EpochCycles(**EPOCH.unpack(payload, at)) for at in range(0, len(payload), EPOCH.size)]
        return cycles[:count]

    def request(self, kind: Type, payload: bytes, answer_s: float | None = None) -> bytes:
        """The answer's payload. Raises N6-LINK-001 where no answer comes, N6-LINK-003 where the firmware refuses, Restarted."""
        self._sequence = (self._sequence + 1) % 256
        message = bytes([kind, self._sequence]) + payload
        frame = b"\0" + cobs.encode(message + _crc(message)) + b"\0"
        for _ in range(_ATTEMPTS):
            self.stream.write(frame)
            answer = self._answer(kind, self.now() + (answer_s or self.answer_s))
            if answer is None:
                continue
            if answer[0]:
                why = _REFUSALS.get(answer[0], "no reason given")
                raise N6Error("N6-LINK-003", f"the firmware refuses {kind.name}: {why}")
            return answer[1:]
        raise N6Error(
            "N6-LINK-001",
            f"no answer to {kind.name} in {_ATTEMPTS} attempts",
            hint="is this firmware on the board (scons flash), does it run (boot selectors), and is the port its console?",
        )

    def _answer(self, kind: Type, deadline: float) -> bytes | None:
        """Status and payload; None where none came in time."""
        late = False
        while not late:
            # What arrived in time counts, however late this process looks at it.
            late = self.now() >= deadline
            self._received += self.stream.read(max(1, self.stream.in_waiting))
            while (end := self._received.find(0)) >= 0:
                part = bytes(self._received[:end])
                del self._received[: end + 1]
                message = _message(part)
                if message is None:
                    self._text(part)
                elif message[0] == kind | ANSWER and message[1] == self._sequence and len(message) > 2:
                    return message[2:]
            self._text_so_far()
        return None

    def _text_so_far(self) -> None:
        """Whole lines need no zero byte after them: a firmware that does not know this protocol sends none. The beginning of a
        frame is not text: its second byte has bit 7 set."""
        end = self._received.rfind(b"\n") + 1
        if len(self._received) > _LONGEST_TEXT:
            end = len(self._received)
        text = bytes(self._received[:end])
        if text and (text.isascii() or end > _LONGEST_TEXT):
            del self._received[:end]
            self._text(text)

    def _text(self, data: bytes) -> None:
        restarted = False
        lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
        for line in lines:
            self._lines += 1
            self.on_text(line)
            restarted = restarted or "n6 appli start" in line or "n6 fsbl start" in line
        if any(line.startswith("n6 ") for line in lines):
            self._foreign_line = ""
        elif lines and not self._foreign_line and data.isascii():
            self._foreign_line = lines[0]
        check_going(read_console(lines))
        if restarted:
            raise Restarted


def _message(frame: bytes) -> bytes | None:
    """Without its CRC; None where it is not a whole message."""
    try:
        data: bytes = cobs.decode(frame)
    except cobs.DecodeError:
        return None
    if len(data) < 2 + CRC_BYTES or _crc(data[:-CRC_BYTES]) != data[-CRC_BYTES:]:
        return None
    return data[:-CRC_BYTES]


def _crc(message: bytes) -> bytes:
    return zlib.crc32(message).to_bytes(CRC_BYTES, "little")
