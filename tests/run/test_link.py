"""The link to a running board: on a line that is noisy, cut off, or has something else at its other end."""

from __future__ import annotations

import itertools
import os
import random
import struct
import threading
import tty
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from cobs import cobs
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.formats.link import Type
from n6build.run import linked_session
from n6build.run.console_log import EpochCycles
from n6build.run.link import Hello, Link, NetworkInfo, Restarted
from n6build.run.linked_session import serial_link

INPUT_BYTES, OUTPUT_BYTES = 450, 260


@dataclass
class Board:
    """What firmware/appli/n6_link.c does, in a few lines; runs: inferences that were made. time_s: goes by while one listens."""

    spoil: Callable[[bytes], bytes] = lambda data: data
    version: int = 2
    inputs: bytearray = field(default_factory=lambda: bytearray(INPUT_BYTES))
    outputs: bytes = bytes(OUTPUT_BYTES)
    runs: int = 0
    to_host: bytearray = field(default_factory=bytearray)
    heard: bytearray = field(default_factory=bytearray)
    last_run: int | None = None
    time_s: float = 0.0

    @property
    def in_waiting(self) -> int:
        return len(self.to_host)

    def read(self, size: int = 1) -> bytes:
        self.time_s += 0.01
        data = bytes(self.to_host[:size])
        del self.to_host[:size]
        return data

    def write(self, data: bytes) -> int:
        self.heard += self.spoil(data)
        while (end := self.heard.find(0)) >= 0:
            frame = bytes(self.heard[:end])
            del self.heard[: end + 1]
            try:
                message = cobs.decode(frame)
            except cobs.DecodeError:
                continue
            if len(message) >= 6 and struct.pack("<I", zlib.crc32(message[:-4])) == message[-4:]:
                self.answer(message[:-4])
        return len(data)

    def answer(self, message: bytes) -> None:
        kind, sequence, payload = message[0], message[1], message[2:]
        status, answer = self.serve(kind, sequence, payload)
        reply = bytes([kind | 0x80, sequence, status]) + answer
        framed = b"\0" + cobs.encode(reply + struct.pack("<I", zlib.crc32(reply))) + b"\0"
        self.to_host += self.spoil(framed)

    def serve(self, kind: int, sequence: int, payload: bytes) -> tuple[int, bytes]:
        if kind == Type.HELLO:
            return 0, struct.pack("<HHI", self.version, 1, 64_000_000)
        if payload[0] != 0:
            return 1, b""
        if kind in (Type.INPUT, Type.RUN):
            return self.take_input(payload) if kind == Type.INPUT else self.run(sequence)
        answers = {
            Type.NETWORK: lambda: struct.pack("<III", INPUT_BYTES, OUTPUT_BYTES, 70) + b"keyword",
            Type.OUTPUT: lambda: self.part_of_outputs(*struct.unpack_from("<IB", payload, 1)),
            Type.EPOCHS: lambda: self.part_of_epochs(*struct.unpack_from("<H", payload, 1)),
        }
        return 0, answers[Type(kind)]()

    def take_input(self, payload: bytes) -> tuple[int, bytes]:
        (offset,) = struct.unpack_from("<I", payload, 1)
        data = payload[5:]
        if offset + len(data) > INPUT_BYTES:
            return 2, b""
        self.inputs[offset : offset + len(data)] = data
        self.last_run = None
        return 0, b""

    def run(self, sequence: int) -> tuple[int, bytes]:
        if self.last_run != sequence:
            self.runs += 1
            self.last_run = sequence
            self.outputs = bytes(byte ^ 0x5A for byte in self.inputs[:OUTPUT_BYTES])
        return 0, struct.pack("<I", 1000 + self.runs)

    def part_of_outputs(self, offset: int, size: int) -> bytes:
        return self.outputs[offset : offset + size]

    def part_of_epochs(self, first: int) -> bytes:
        return b"".join(struct.pack("<III", number, 1, 2) for number in range(first, min(first + 15, 70)))


def link_to(board: Board, texts: list[str] | None = None) -> Link:
    heard = texts if texts is not None else []
    return Link(board, heard.append, answer_s=0.02, run_s=0.05, now=lambda: board.time_s)


def infer(link: Link, data: bytes) -> bytes:
    link.write_input(0, data)
    link.run(0)
    return link.read_output(0, OUTPUT_BYTES)


def test_an_inference_over_a_good_line() -> None:
    board = Board()
    link = link_to(board)
    assert link.hello() == Hello(1, 64_000_000)
    assert link.network(0) == NetworkInfo("keyword", INPUT_BYTES, OUTPUT_BYTES, 70)
    data = bytes(index % 251 for index in range(INPUT_BYTES))
    assert infer(link, data) == bytes(byte ^ 0x5A for byte in data[:OUTPUT_BYTES])
    assert link.epoch_cycles(0, 70) == [EpochCycles(number, 1, 2) for number in range(70)]
    assert board.runs == 1


@settings(max_examples=60)
@given(st.binary(min_size=INPUT_BYTES, max_size=INPUT_BYTES))
def test_any_bytes_pass(data: bytes) -> None:
    """Zeros, newlines, and what looks like text or like a frame."""
    assert infer(link_to(Board()), data) == bytes(byte ^ 0x5A for byte in data[:OUTPUT_BYTES])


@settings(max_examples=40)
@given(st.integers(0, 1 << 30))
def test_noise_costs_time_and_never_a_wrong_result(seed: int) -> None:
    """Bits flip, bytes get lost, text comes in between: an answer is right, or there is none."""
    chooser = random.Random(seed)

    def spoil(data: bytes) -> bytes:
        kind = chooser.randrange(10)
        spoiled = bytearray(data)
        if kind == 0:
            spoiled[chooser.randrange(len(spoiled))] ^= 1 << chooser.randrange(8)
        elif kind == 1:
            del spoiled[chooser.randrange(len(spoiled))]
        elif kind == 2:
            spoiled[:0] = chooser.randbytes(chooser.randrange(20))
        elif kind == 3:
            spoiled[:0] = b"\r\nn6 some words\r\n"
        return bytes(spoiled)

    board = Board(spoil)
    data = chooser.randbytes(INPUT_BYTES)
    try:
        assert infer(link_to(board), data) == bytes(byte ^ 0x5A for byte in data[:OUTPUT_BYTES])
    except N6Error as error:
        assert error.id == "N6-LINK-001"


def test_an_answer_that_was_lost_makes_no_second_inference() -> None:
    board = Board()
    link = link_to(board)
    lost = iter([True])

    def lose_the_next(data: bytes) -> bytes:
        is_answer = len(data) > 2 and data[2] == Type.RUN | 0x80
        return b"" if is_answer and next(lost, False) else data

    board.spoil = lose_the_next
    assert link.run(0) == 1001
    assert board.runs == 1


def test_an_answer_counts_however_late_it_is_looked_at() -> None:
    """A busy machine: hours go by between any two looks at the clock."""
    hours = itertools.count(step=3600)
    assert Link(Board(), now=lambda: next(hours)).hello().networks == 1


@dataclass
class Slow(Board):
    """Answers only while one listens, a request each time. holds: requests that it has room for while it is not asked, those
    behind them are lost. most: that waited at a time."""

    holds: int = 1000
    waiting: list[bytes] = field(default_factory=list)
    most: int = 0

    def write(self, data: bytes) -> int:
        if len(self.waiting) < self.holds:
            self.waiting.append(data)
        self.most = max(self.most, len(self.waiting))
        return len(data)

    def read(self, size: int = 1) -> bytes:
        if self.waiting and not self.to_host:
            super().write(self.waiting.pop(0))
        return super().read(size)


@pytest.mark.parametrize("window", [1, 2, 16])
def test_as_many_requests_are_under_way_as_the_window_allows(window: int) -> None:
    board = Slow(inputs=bytearray(9000), outputs=bytes(9000))
    link = link_to(board)
    link.window = window
    data = bytes(index % 255 for index in range(INPUT_BYTES)) * 20
    board.take_input = lambda payload: take_large_input(board, payload)  # type: ignore[method-assign]
    link.write_input(0, data)
    assert (bytes(board.inputs), board.most) == (data, window)
    board.outputs, board.most = data, 0
    assert link.read_output(0, len(data)) == data
    assert board.most == window


def take_large_input(board: Board, payload: bytes) -> tuple[int, bytes]:
    (offset,) = struct.unpack_from("<I", payload, 1)
    board.inputs[offset : offset + len(payload) - 5] = payload[5:]
    return 0, b""


def test_a_board_that_cannot_listen_while_it_answers_is_asked_one_thing_at_a_time() -> None:
    board = Slow(holds=1)
    link = link_to(board)
    link.window = 16
    data = bytes(index % 251 for index in range(INPUT_BYTES))
    assert infer(link, data) == bytes(byte ^ 0x5A for byte in data[:OUTPUT_BYTES])
    assert (link.window, board.runs) == (1, 1)


def test_a_refusal_among_requests_that_are_under_way() -> None:
    link = link_to(Slow())
    link.window = 16
    with pytest.raises(N6Error, match="refuses INPUT: outside its buffers"):
        link.write_input(0, bytes(INPUT_BYTES + 200))
    assert link.network(0).name == "keyword"


@dataclass
class Trickling(Board):
    """Its text arrives a little at a time."""

    @property
    def in_waiting(self) -> int:
        return min(1000, len(self.to_host))


@pytest.mark.parametrize(("longest", "is_whole"), [(200_000, True), (1 << 16, False)])
def test_only_a_line_beyond_the_longest_is_cut(longest: int, is_whole: bool) -> None:
    board = Trickling()
    texts: list[str] = []
    link = link_to(board, texts)
    link.answer_s, link.longest_line = 10.0, longest
    line = "n6 run 0 output 0 " + "5a" * 50_000
    board.to_host += line.encode() + b"\r\n"
    assert link.network(0).name == "keyword"
    assert "".join(texts) == line
    assert (len(texts) == 1) is is_whole


def test_text_of_the_firmware_is_passed_on() -> None:
    board = Board()
    texts: list[str] = []
    board.to_host += b"n6 image xSPI2 ok\r\nn6 done runs=10\r\n"
    assert link_to(board, texts).hello() == Hello(1, 64_000_000)
    assert texts == ["n6 image xSPI2 ok", "n6 done runs=10"]


def test_a_board_that_starts_anew_in_the_middle_is_noticed() -> None:
    board = Board()
    link = link_to(board)
    board.to_host += b"n6 fsbl start board=nucleo-n657\r\n"
    with pytest.raises(Restarted):
        link.run(0)
    assert link.hello().networks == 1


@dataclass
class Deaf(Board):
    """Another program: it prints, and answers nothing."""

    says: bytes = b""

    def write(self, data: bytes) -> int:
        self.to_host += self.says
        return len(data)


def test_another_firmware_is_said_to_be_one() -> None:
    texts: list[str] = []
    with pytest.raises(N6Error, match="N6-LINK-008: another firmware is on the board; it says 'Hello World!'"):
        link_to(Deaf(says=b"Hello World!\r\n"), texts).hello(patience_s=0.1)
    assert "Hello World!" in texts


def test_a_board_that_says_nothing_gets_hints() -> None:
    with pytest.raises(N6Error, match="N6-LINK-001: no answer to HELLO") as caught:
        link_to(Deaf()).hello(patience_s=0.1)
    assert "is this firmware on the board" in str(caught.value)


def test_a_board_that_does_nothing_but_start_is_not_waited_for() -> None:
    with pytest.raises(N6Error, match="N6-LINK-005: the board keeps restarting"):
        link_to(Deaf(says=b"n6 fsbl start board=x\r\n")).hello(patience_s=60.0)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "n6 fsbl error N6-FW-010 the Appli slot is erased",
            "N6-FW-010: the firmware stopped: the Appli slot is erased",
        ),
        ("n6 fault usage pc=0x34000500", "N6-RUN-001: the firmware faulted: usage"),
    ],
)
def test_a_firmware_that_has_stopped_is_not_waited_for(line: str, error: str) -> None:
    with pytest.raises(N6Error, match=error):
        link_to(Deaf(says=f"{line}\r\n".encode())).hello(patience_s=60.0)


def test_a_firmware_that_still_prints_is_waited_for() -> None:
    """It runs its test vectors first; the patience is for silence."""
    board = Board()
    answer, requests = board.write, 0

    def busy(data: bytes) -> int:
        nonlocal requests
        requests += 1
        if requests > 12:
            return answer(data)
        board.to_host += b"n6 run 3 begin\r\n"
        return len(data)

    board.write = busy  # type: ignore[method-assign]
    assert link_to(board).hello(patience_s=0.15).networks == 1


def test_another_version_of_the_protocol() -> None:
    with pytest.raises(N6Error, match="N6-LINK-002: the firmware speaks version 7"):
        link_to(Board(version=7)).hello()


def test_what_the_firmware_refuses() -> None:
    link = link_to(Board())
    with pytest.raises(N6Error, match="N6-LINK-003: the firmware refuses NETWORK: it knows no such"):
        link.network(1)
    with pytest.raises(N6Error, match="refuses INPUT: outside its buffers"):
        link.write_input(0, bytes(INPUT_BYTES + 1))


def test_a_cable_that_is_pulled_in_the_middle() -> None:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    port = os.ttyname(theirs)
    os.close(theirs)
    with (
        pytest.raises(N6Error, match="N6-LINK-009: the connection broke"),
        serial_link(port, 115_200, lambda _: None) as link,
    ):
        os.close(ours)
        link.hello(patience_s=1.0)


def test_a_serial_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal stands in for it, with the board at its other end."""
    ours, theirs = os.openpty()
    tty.setraw(ours)
    tty.setraw(theirs)
    board = Board()

    def live() -> None:
        while True:
            try:
                board.write(os.read(ours, 4096))
            except OSError:
                return
            while board.to_host:
                os.write(ours, board.read(64))

    other_end = threading.Thread(target=live, daemon=True)
    other_end.start()
    with serial_link(os.ttyname(theirs), 115_200, lambda _: None) as link:
        assert link.hello().networks == 1
        data = bytes(index % 256 for index in range(INPUT_BYTES))
        assert infer(link, data) == bytes(byte ^ 0x5A for byte in data[:OUTPUT_BYTES])
    # Not before it has ended: it would read from whatever has the number next.
    os.close(theirs)
    other_end.join()
    os.close(ours)
    with pytest.raises(N6Error, match="N6-LINK-006"), serial_link("/dev/no-such-port", 115_200, lambda _: None):
        pass
    monkeypatch.setattr("serial.tools.list_ports.comports", list)
    with pytest.raises(N6Error, match="N6-LINK-007: probe 123 has no serial port"):
        linked_session.console_of("123")
