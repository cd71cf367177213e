"""Requests to a running Appli over its console: COBS frames with a CRC-32, repeated where no answer comes.

The other side is firmware/appli/n6_link.c; both have the messages from formats/link.py. Text of the firmware may come between
frames, and so may noise: anything but a frame with a correct CRC is text.
"""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cobs import cobs

from n6build.base.c_format import Struct
from n6build.base.console import printable
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
from n6build.virtual_board.run import LONGEST_LINE

_ATTEMPTS = 4
# Requests under way at a time. If the firmware's UART holds 16 bytes each way (INFERRED: as in ST's other chips with this FIFO),
# these are the answer to the data of an input, or one more request while an answer is being sent. Where it holds fewer, a
# request gets lost, and the window is 1 from then on.
SERIAL_WINDOW = 2
# Starts of FSBL or Appli while waiting for an answer.
_STARTS = 8
_REFUSALS: dict[int, str] = {
    Status.UNKNOWN: "it knows no such request or network",
    Status.RANGE: "outside its buffers",
}


# Silence and text of a firmware that starts, as a multiple of the patience with silence alone.
_LONGEST_START = 60
# The number of an epoch is a half-word in a request.
_MOST_EPOCHS = 1 << 16

# Characters of a line of another firmware in a message.
_SHOWN = 80
_UNANSWERED = "is this firmware on the board (scons flash), does it run (boot selectors), and is the port its console?"


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


@dataclass(frozen=True)
class _Sent:
    """A request under way. place: among those of the same call."""

    place: int
    frame: bytes


@dataclass
class Link:
    """on_text: called with each line that the firmware prints. answer_s: longest time that an answer may take, in seconds.
    run_s: the same for an inference. window: requests under way at a time, 1 to 127. now: the time in seconds, as it passes for
    the board. longest_line: characters; a longer one is cut."""

    stream: Stream
    on_text: Callable[[str], None] = lambda _: None
    answer_s: float = 0.5
    run_s: float = 30.0
    window: int = SERIAL_WINDOW
    now: Callable[[], float] = time.monotonic
    longest_line: int = LONGEST_LINE
    _sequence: int = 0
    _received: bytearray = field(default_factory=bytearray)
    _own_lines: int = 0
    _foreign_line: str = ""

    def hello(self, patience_s: float = 5.0) -> Hello:
        """patience_s: seconds without a line of this firmware, which may print for a minute for each of them. Raises N6-LINK-001
        where nobody answers, N6-LINK-008 where another firmware does, N6-LINK-002 for another version of the
        protocol, N6-LINK-005 for a board that keeps restarting."""
        begin = self.now()
        deadline, lines = begin + patience_s, self._own_lines
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
                if self._own_lines > lines:
                    deadline = min(self.now(), begin + _LONGEST_START * patience_s) + patience_s
                    lines = self._own_lines
                if self.now() > deadline:
                    if self._foreign_line:
                        what = f"another firmware is on the board; it says '{printable(self._foreign_line)}'"
                        raise N6Error("N6-LINK-008", what, hint="scons flash programs this one") from error
                    raise
        answer = _unpacked(HELLO_ANSWER, payload, Type.HELLO)
        if answer["version"] != VERSION:
            what = f"the firmware speaks version {answer['version']} of the protocol, n6build speaks {VERSION}"
            raise N6Error("N6-LINK-002", what, hint="scons flash programs the firmware of this checkout")
        if not answer["cpu_hz"]:
            raise _wrong_answer(Type.HELLO, "has a clock of 0 Hz")
        return Hello(answer["networks"], answer["cpu_hz"])

    def network(self, index: int) -> NetworkInfo:
        """index: of the network in the application. Raises as `request`."""
        payload = self.request(Type.NETWORK, NETWORK_REQUEST.pack(index=index))
        values = _unpacked(NETWORK_ANSWER, payload, Type.NETWORK)
        return NetworkInfo(payload[NETWORK_ANSWER.size :].decode("utf-8", "replace"), **values)

    def write_input(self, index: int, data: bytes) -> None:
        """data: all inputs of the network, one after another. Raises as `request`."""
        starts = range(0, len(data), DATA_MAX)
        chunks = (INPUT_REQUEST.pack(index=index, offset=start) + data[start : start + DATA_MAX] for start in starts)
        self.requests(Type.INPUT, list(chunks))

    def run(self, index: int) -> int:
        """Cycles of one inference. Raises as `request`."""
        payload = self.request(Type.RUN, RUN_REQUEST.pack(index=index), self.run_s)
        return _unpacked(RUN_ANSWER, payload, Type.RUN)["cycles"]

    def read_output(self, index: int, size: int) -> bytes:
        """size: bytes of all outputs, which come one after another. Raises as `request`."""
        sizes = {start: min(DATA_MAX, size - start) for start in range(0, size, DATA_MAX)}
        wanted = [OUTPUT_REQUEST.pack(index=index, offset=start, size=part) for start, part in sizes.items()]
        answers = self.requests(Type.OUTPUT, wanted)
        for part, answer in zip(sizes.values(), answers, strict=True):
            if len(answer) != part:
                raise _wrong_answer(Type.OUTPUT, f"has {len(answer)} bytes, {part} were asked for")
        return b"".join(answers)

    def epoch_cycles(self, index: int, count: int) -> list[EpochCycles]:
        """Of the last inference, at most `count` epochs; fewer where the firmware has fewer. Raises as `request`."""
        cycles: list[EpochCycles] = []
        while len(cycles) < min(count, _MOST_EPOCHS):
            payload = self.request(Type.EPOCHS, EPOCHS_REQUEST.pack(index=index, first=len(cycles)))
            if not payload:
                break
            if len(payload) % EPOCH.size:
                raise _wrong_answer(Type.EPOCHS, f"has {len(payload)} bytes, no whole number of epochs")
            cycles += [EpochCycles(**EPOCH.unpack(payload, at)) for at in range(0, len(payload), EPOCH.size)]
        return cycles[:count]

    def request(self, kind: Type, payload: bytes, answer_s: float | None = None) -> bytes:
        """The answer's payload. Raises as `requests`."""
        return self.requests(kind, [payload], answer_s)[0]

    def requests(self, kind: Type, payloads: Sequence[bytes], answer_s: float | None = None) -> list[bytes]:
        """The payloads of the answers, in order; as many requests as the window allows are under way at a time. What is lost is
        repeated, one request at a time from then on. Raises N6-LINK-001 where no answer comes, N6-LINK-003 where the firmware
        refuses, Restarted."""
        answers: dict[int, bytes] = {}
        waiting = deque(range(len(payloads)))
        sent: dict[int, _Sent] = {}
        attempts = 0
        while len(answers) < len(payloads):
            while waiting and len(sent) < self.window:
                self._send(kind, payloads[waiting[0]], waiting.popleft(), sent)
            answer = self._answer(kind, sent.keys(), self.now() + (answer_s or self.answer_s))
            if answer is not None:
                number, message = answer
                if message[0]:
                    why = _REFUSALS.get(message[0], "no reason given")
                    raise N6Error("N6-LINK-003", f"the firmware refuses {kind.name}: {why}")
                answers[sent.pop(number).place] = message[1:]
                attempts = 0
                continue
            attempts += 1
            if attempts == _ATTEMPTS:
                what = f"no answer to {kind.name} in {_ATTEMPTS} attempts"
                raise N6Error("N6-LINK-001", what, hint=_UNANSWERED)
            # Perhaps the other side does not receive while it answers. A number is kept, so that no inference is made twice.
            self.window = 1
            (number, oldest), *others = sent.items()
            waiting.extendleft(each.place for _, each in reversed(others))
            sent = {number: oldest}
            self.stream.write(oldest.frame)
        return [answers[place] for place in range(len(payloads))]

    def _send(self, kind: Type, payload: bytes, place: int, sent: dict[int, _Sent]) -> None:
        self._sequence = (self._sequence + 1) % 256
        message = bytes([kind, self._sequence]) + payload
        frame = b"\0" + cobs.encode(message + _crc(message)) + b"\0"
        sent[self._sequence] = _Sent(place, frame)
        self.stream.write(frame)

    def _answer(self, kind: Type, numbers: Collection[int], deadline: float) -> tuple[int, bytes] | None:
        """Of one of these requests: its sequence number, then status and payload; None where none came in time."""
        late = False
        while True:
            while (end := self._received.find(0)) >= 0:
                part = bytes(self._received[:end])
                del self._received[: end + 1]
                message = _message(part)
                if message is None:
                    self._text(part)
                elif message[0] == kind | ANSWER and message[1] in numbers and len(message) > 2:
                    return message[1], message[2:]
            self._text_so_far()
            if late:
                return None
            # What arrived in time counts, however late this process looks at it.
            late = self.now() >= deadline
            self._received += self.stream.read(max(1, self.stream.in_waiting))

    def _text_so_far(self) -> None:
        """Whole lines need no zero byte after them: a firmware that does not know this protocol sends none. The beginning of a
        frame is not text: its second byte has bit 7 set."""
        end = self._received.rfind(b"\n") + 1
        if len(self._received) > self.longest_line:
            end = len(self._received)
        text = bytes(self._received[:end])
        if text and (text.isascii() or end > self.longest_line):
            del self._received[:end]
            self._text(text)

    def _text(self, data: bytes) -> None:
        restarted = False
        lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
        for line in lines:
            self._own_lines += line.startswith("n6 ")
            self.on_text(line)
            restarted = restarted or "n6 appli start" in line or "n6 fsbl start" in line
        if any(line.startswith("n6 ") for line in lines):
            self._foreign_line = ""
        elif lines and not self._foreign_line and data.isascii():
            self._foreign_line = lines[0][:_SHOWN]
        check_going(read_console(lines))
        if restarted:
            raise Restarted


def _unpacked(struct: Struct, payload: bytes, kind: Type) -> dict[str, int]:
    if len(payload) < struct.size:
        raise _wrong_answer(kind, f"has {len(payload)} bytes of at least {struct.size}")
    return struct.unpack(payload)


def _wrong_answer(kind: Type, what: str) -> N6Error:
    hint = "another firmware may be on the board: scons flash programs that of this build"
    return N6Error("N6-LINK-010", f"the answer to {kind.name} {what}", hint=hint)


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
