"""Requests to a running Appli over its console.

Requests are COBS frames with a CRC-32. A request without an answer is repeated. The other side is
firmware/appli/n6_link.c; both have the messages from describe/formats/link.py. Text of the firmware, or noise,
may come between frames: everything but a frame with a correct CRC is text.
"""

from __future__ import annotations

import contextlib
import time
import zlib
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

from cobs import cobs

from n6build.base.c_format import Struct
from n6build.base.console import printable
from n6build.base.errors import N6Error
from n6build.board.run.compare import check_going
from n6build.board.run.console_log import ConsoleLog, EpochCycles, read_console
from n6build.board.virtual_board.run import LONGEST_LINE
from n6build.describe.formats.console import APPLI_START, FSBL_START, PREFIX
from n6build.describe.formats.link import (
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
    RESTART_REQUEST,
    RUN_ANSWER,
    RUN_REQUEST,
    VERSION,
    Status,
    Type,
)

_ATTEMPTS = 4
# Requests under way at a time. If the firmware's UART holds 16 bytes each way (INFERRED: as in ST's other chips with this FIFO),
# these are the answer to the data of an input, or one more request while an answer is being sent. Where it holds fewer, a
# request gets lost, and the window is 1 from then on.
SERIAL_WINDOW = 2
# Most starts of FSBL or Appli while waiting for an answer.
_STARTS = 8
_REFUSALS: dict[int, str] = {Status.UNKNOWN: "it knows no such request or network", Status.RANGE: "outside its buffers"}


# Longest start of a firmware that keeps printing, as a multiple of the patience with silence.
_LONGEST_START = 60
# The number of an epoch is a half-word in a request.
_MOST_EPOCHS = 1 << 16

# Characters that a message shows of another firmware's line.
_SHOWN = 80
_UNANSWERED = (
    "check that this firmware is on the board (scons flash), that it runs (boot selectors), and that the "
    "port is its console"
)


class Stream(Protocol):
    """A serial port with the methods of pyserial."""

    @property
    def in_waiting(self) -> int:
        """Return the number of bytes that have already arrived."""

    def read(self, size: int = 1, /) -> bytes:
        """Return `size` bytes, or fewer if the port's time-out ends first."""

    def write(self, data: bytes, /) -> int | None:
        """Write bytes and return their number, None if the port does not know it."""


class Restarted(Exception):
    """The board restarted while an answer was awaited."""


@dataclass(frozen=True)
class Hello:
    """Answer of a firmware to the first request.

    Attributes:
        networks: Number of its networks.
        cpu_hz: Clock of the CPU.
    """

    networks: int
    cpu_hz: int


@dataclass(frozen=True)
class NetworkInfo:
    """Description of a network by the firmware.

    Attributes:
        name: Name of its model.
        input_bytes: Size of all inputs together.
        output_bytes: Size of all outputs together.
        epochs: Number of its epochs.
    """

    name: str
    input_bytes: int
    output_bytes: int
    epochs: int


@dataclass(frozen=True)
class _Sent:
    """A request under way; `place` is its place among those of the same call."""

    place: int
    frame: bytes


@dataclass
class Link:
    """A connection to a running Appli.

    Attributes:
        stream: The serial port.
        on_text: Called with each line that the firmware prints.
        answer_s: Longest time of an answer, in seconds.
        run_s: Longest time of an inference, in seconds.
        window: Requests under way at a time, 1 to 127.
        now: Function that returns the board's time in seconds.
        longest_line: Characters of a line; a longer line is cut.
        check: Function that checks the lines of a text, and raises errors.
        refusals: Meaning of each status but 0.
    """

    stream: Stream
    on_text: Callable[[str], None] = lambda _: None
    answer_s: float = 0.5
    run_s: float = 30.0
    window: int = SERIAL_WINDOW
    now: Callable[[], float] = time.monotonic
    longest_line: int = LONGEST_LINE
    check: Callable[[ConsoleLog], None] = check_going
    refusals: Mapping[int, str] = field(default_factory=lambda: _REFUSALS)
    _sequence: int = 0
    _received: bytearray = field(default_factory=bytearray)
    _own_lines: int = 0
    _foreign_line: str = ""

    def hello(self, patience_s: float = 5.0) -> Hello:
        """Wait until the firmware answers.

        Args:
            patience_s: Seconds without a line of this firmware; the wait may last 60 times as long while
                the firmware prints lines.

        Raises:
            N6Error: N6-LINK-001 if no firmware answers; N6-LINK-008 if another firmware prints text;
                N6-LINK-002 for another version of the protocol; N6-LINK-005 if the board keeps restarting.
        """
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
                        "N6-LINK-005", what, hint="check its power supply, and the configured clock"
                    ) from restarted
            except N6Error as error:
                if error.id != "N6-LINK-001":
                    raise
                if self._own_lines > lines:
                    deadline = min(self.now(), begin + _LONGEST_START * patience_s) + patience_s
                    lines = self._own_lines
                if self.now() > deadline:
                    if self._foreign_line:
                        what = f"another firmware runs on the board; it prints '{printable(self._foreign_line)}'"
                        raise N6Error("N6-LINK-008", what, hint="run scons flash to program this one") from error
                    raise
        answer = unpacked(HELLO_ANSWER, payload, Type.HELLO)
        if answer["version"] != VERSION:
            what = f"the firmware uses version {answer['version']} of the protocol, but n6build uses {VERSION}"
            raise N6Error("N6-LINK-002", what, hint="run scons flash to program the firmware of this checkout")
        if not answer["cpu_hz"]:
            raise _wrong_answer(Type.HELLO, "has a clock of 0 Hz")
        return Hello(answer["networks"], answer["cpu_hz"])

    def network(self, index: int) -> NetworkInfo:
        """Return the description of a network; raises errors as `request`.

        Args:
            index: Index of the network in the application.
        """
        payload = self.request(Type.NETWORK, NETWORK_REQUEST.pack(index=index))
        values = unpacked(NETWORK_ANSWER, payload, Type.NETWORK)
        return NetworkInfo(payload[NETWORK_ANSWER.size :].decode("utf-8", "replace"), **values)

    def write_input(self, index: int, data: bytes) -> None:
        """Write all inputs of a network; raises errors as `request`.

        Args:
            index: Index of the network in the application.
            data: All inputs of the network, one after another.
        """
        starts = range(0, len(data), DATA_MAX)
        chunks = (INPUT_REQUEST.pack(index=index, offset=start) + data[start : start + DATA_MAX] for start in starts)
        self.requests(Type.INPUT, list(chunks))

    def run(self, index: int) -> int:
        """Run one inference and return its cycles; raises errors as `request`."""
        payload = self.request(Type.RUN, RUN_REQUEST.pack(index=index), self.run_s)
        return unpacked(RUN_ANSWER, payload, Type.RUN)["cycles"]

    def restart(self, index: int) -> None:
        """Give the states of a network their first values; raises errors as `request`."""
        self.request(Type.RESTART, RESTART_REQUEST.pack(index=index))

    def read_output(self, index: int, size: int) -> bytes:
        """Read all outputs of a network; raises errors as `request`.

        Args:
            index: Index of the network in the application.
            size: Bytes of all outputs, which follow one another.
        """
        sizes = {start: min(DATA_MAX, size - start) for start in range(0, size, DATA_MAX)}
        wanted = [OUTPUT_REQUEST.pack(index=index, offset=start, size=part) for start, part in sizes.items()]
        answers = self.requests(Type.OUTPUT, wanted)
        for part, answer in zip(sizes.values(), answers, strict=True):
            if len(answer) != part:
                raise _wrong_answer(Type.OUTPUT, f"has {len(answer)} bytes, but n6build requested {part}")
        return b"".join(answers)

    def epoch_cycles(self, index: int, count: int) -> list[EpochCycles]:
        """Return the cycles of the last inference's epochs; raises errors as `request`.

        Args:
            index: Index of the network in the application.
            count: Most epochs to return; the firmware may have fewer.
        """
        cycles: list[EpochCycles] = []
        while len(cycles) < min(count, _MOST_EPOCHS):
            payload = self.request(Type.EPOCHS, EPOCHS_REQUEST.pack(index=index, first=len(cycles)))
            if not payload:
                break
            if len(payload) % EPOCH.size:
                raise _wrong_answer(Type.EPOCHS, f"has {len(payload)} bytes, not a whole number of epochs")
            cycles += [EpochCycles(**EPOCH.unpack(payload, at)) for at in range(0, len(payload), EPOCH.size)]
        return cycles[:count]

    def request(self, kind: IntEnum, payload: bytes, answer_s: float | None = None) -> bytes:
        """Return the payload of an answer; raises errors as `requests`."""
        return self.requests(kind, [payload], answer_s)[0]

    def requests(self, kind: IntEnum, payloads: Sequence[bytes], answer_s: float | None = None) -> list[bytes]:
        """Send requests and return the payloads of the answers, in order.

        As many requests as the window allows are under way at a time. A lost request is repeated, and the
        window is 1 from then on.

        Raises:
            N6Error: N6-LINK-001 if no answer comes; N6-LINK-003 if the firmware refuses.
            Restarted: The board has restarted.
        """
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
                    why = self.refusals.get(message[0], "no reason given")
                    raise N6Error("N6-LINK-003", f"the firmware rejects {kind.name}: {why}")
                answers[sent.pop(number).place] = message[1:]
                attempts = 0
                continue
            attempts += 1
            if attempts == _ATTEMPTS:
                what = f"no answer to {kind.name} in {_ATTEMPTS} attempts"
                raise N6Error("N6-LINK-001", what, hint=_UNANSWERED)
            # The other side may not receive while it answers. A request keeps its number, so that no inference is made twice.
            self.window = 1
            (number, oldest), *others = sent.items()
            waiting.extendleft(each.place for _, each in reversed(others))
            sent = {number: oldest}
            self.stream.write(oldest.frame)
        return [answers[place] for place in range(len(payloads))]

    def listen(self, until: Callable[[], bool], patience_s: float) -> None:
        """Read text until a condition holds, or the time ends. The board may restart."""
        deadline = self.now() + patience_s
        late_reads = _STARTS  # The virtual board's time jumps while its program sleeps.
        while not until() and late_reads:
            late_reads -= self.now() >= deadline
            with contextlib.suppress(Restarted):
                self._answer(Type.HELLO, (), self.now())

    def _send(self, kind: IntEnum, payload: bytes, place: int, sent: dict[int, _Sent]) -> None:
        self._sequence = (self._sequence + 1) % 256
        message = bytes([kind, self._sequence]) + payload
        frame = b"\0" + cobs.encode(message + _crc(message)) + b"\0"
        sent[self._sequence] = _Sent(place, frame)
        self.stream.write(frame)

    def _answer(self, kind: IntEnum, numbers: Collection[int], deadline: float) -> tuple[int, bytes] | None:
        """Return sequence number and content of an answer, None if none came in time.

        The content is status and payload. The number is one of `numbers`.
        """
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
            # Bytes that arrived in time count, even if this process reads them late.
            late = self.now() >= deadline
            self._received += self.stream.read(max(1, self.stream.in_waiting))

    def _text_so_far(self) -> None:
        """Pass on whole lines that no zero byte follows yet.

        A firmware that does not know this protocol sends no zero bytes. The beginning of a frame is not text:
        bit 7 of its second byte is set.
        """
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
            self._own_lines += line.startswith(PREFIX)
            self.on_text(line)
            restarted = restarted or APPLI_START.head in line or FSBL_START.head in line
        if any(line.startswith(PREFIX) for line in lines):
            self._foreign_line = ""
        elif lines and not self._foreign_line and data.isascii():
            self._foreign_line = lines[0][:_SHOWN]
        self.check(read_console(lines))
        if restarted:
            raise Restarted


def unpacked(struct: Struct, payload: bytes, kind: IntEnum) -> dict[str, int]:
    """Return the numbers of an answer; raises N6-LINK-010 if it is too short."""
    if len(payload) < struct.size:
        raise _wrong_answer(kind, f"has {len(payload)} bytes, fewer than {struct.size}")
    return struct.unpack(payload)


def _wrong_answer(kind: IntEnum, what: str) -> N6Error:
    hint = "run scons flash to program the firmware of this build: the board may have another one"
    return N6Error("N6-LINK-010", f"the answer to {kind.name} {what}", hint=hint)


def _message(frame: bytes) -> bytes | None:
    """Return a message without its CRC, None if the frame is invalid."""
    try:
        data: bytes = cobs.decode(frame)
    except cobs.DecodeError:
        return None
    if len(data) < 2 + CRC_BYTES or _crc(data[:-CRC_BYTES]) != data[-CRC_BYTES:]:
        return None
    return data[:-CRC_BYTES]


def _crc(message: bytes) -> bytes:
    return zlib.crc32(message).to_bytes(CRC_BYTES, "little")
