"""The link to a running board: noisy, cut off, or with another program there."""

from __future__ import annotations

import itertools
import os
import random
import threading
import tty
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cobs import cobs
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.run import linked_session
from n6build.board.run.console_log import EpochCycles
from n6build.board.run.link import Hello, Link, NetworkInfo, Restarted
from n6build.board.run.linked_session import serial_link
from n6build.describe.formats.link import CRC_BYTES, DATA_MAX, MESSAGE_MAX, OUTPUT_REQUEST, Type

from run.firmware_link import CPU_HZ, Firmware, running_firmware

INPUT_BYTES, OUTPUT_BYTES = 450, 260


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firmware]:
    """Yield the firmware's n6_link.c, which each Board restarts."""
    with running_firmware(tmp_path_factory.mktemp("firmware")) as running:
        yield running


@dataclass
class Board:
    """A line to the firmware; one board is in use at a time.

    Attributes:
        spoil: Function that damages the bytes of the line, in both directions.
        time_s: Time in seconds, which passes while the host listens.
        runs: Number of inferences.
    """

    firmware: Firmware
    spoil: Callable[[bytes], bytes] = lambda data: data
    input_bytes: int = INPUT_BYTES
    output_bytes: int = OUTPUT_BYTES
    runs: int = 0
    to_host: bytearray = field(default_factory=bytearray)
    time_s: float = 0.0

    def __post_init__(self) -> None:
        self.firmware.restart(self.input_bytes, self.output_bytes)

    @property
    def in_waiting(self) -> int:
        return len(self.to_host)

    def read(self, size: int = 1) -> bytes:
        self.time_s += 0.01
        data = bytes(self.to_host[:size])
        del self.to_host[:size]
        return data

    def write(self, data: bytes) -> int:
        answer, self.runs = self.firmware.hear(self.spoil(data))
        if answer:
            self.to_host += self.spoil(answer)
        return len(data)


def link_to(board: Board, texts: list[str] | None = None) -> Link:
    heard = texts if texts is not None else []
    return Link(board, heard.append, answer_s=0.02, run_s=0.05, now=lambda: board.time_s)


def infer(link: Link, data: bytes) -> bytes:
    link.write_input(0, data)
    link.run(0)
    return link.read_output(0, OUTPUT_BYTES)


def inferred(data: bytes) -> bytes:
    """Return the outputs that link_board.c makes of these inputs."""
    return bytes(byte ^ 0x5A for byte in data)


def test_an_inference_over_a_good_line(firmware: Firmware) -> None:
    board = Board(firmware)
    link = link_to(board)
    assert link.hello() == Hello(1, CPU_HZ)
    assert link.network(0) == NetworkInfo("keyword", INPUT_BYTES, OUTPUT_BYTES, 70)
    data = bytes(index % 251 for index in range(INPUT_BYTES))
    assert infer(link, data) == inferred(data[:OUTPUT_BYTES])
    assert link.epoch_cycles(0, 70) == [EpochCycles(number, 1, 2) for number in range(70)]
    assert board.runs == 1


@settings(max_examples=60)
@given(st.binary(min_size=INPUT_BYTES, max_size=INPUT_BYTES))
def test_any_bytes_pass(firmware: Firmware, data: bytes) -> None:
    """The bytes include zeros, newlines, and parts that look like text or a frame."""
    assert infer(link_to(Board(firmware)), data) == inferred(data[:OUTPUT_BYTES])


@settings(max_examples=40)
@given(st.integers(0, 1 << 30))
def test_noise_costs_time_and_never_a_wrong_result(firmware: Firmware, seed: int) -> None:
    """Bits flip, bytes get lost and text comes in between.

    An answer is right, or there is none.
    """
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

    board = Board(firmware, spoil)
    data = chooser.randbytes(INPUT_BYTES)
    try:
        assert infer(link_to(board), data) == inferred(data[:OUTPUT_BYTES])
    except N6Error as error:
        assert error.id == "N6-LINK-001"


def test_an_answer_that_was_lost_makes_no_second_inference(firmware: Firmware) -> None:
    board = Board(firmware)
    link = link_to(board)
    lost = iter([True])

    def lose_the_next(data: bytes) -> bytes:
        is_answer = len(data) > 2 and data[2] == Type.RUN | 0x80
        return b"" if is_answer and next(lost, False) else data

    board.spoil = lose_the_next
    assert link.run(0) == 1001
    assert board.runs == 1


def test_new_inputs_make_a_new_inference_whatever_its_number(firmware: Firmware) -> None:
    """Numbers of requests begin again after 256, and with each program on the host."""
    board = Board(firmware)
    first, second = b"1" * INPUT_BYTES, b"2" * INPUT_BYTES
    assert infer(link_to(board), first) == inferred(first[:OUTPUT_BYTES])
    assert infer(link_to(board), second) == inferred(second[:OUTPUT_BYTES])
    assert board.runs == 2


def test_a_restart_begins_a_sequence_anew(firmware: Firmware) -> None:
    board = Board(firmware)
    link = link_to(board)
    data = b"1" * INPUT_BYTES
    assert infer(link, data) == inferred(data[:OUTPUT_BYTES])
    link.restart(0)
    assert link.read_output(0, OUTPUT_BYTES) == bytes(OUTPUT_BYTES)
    with pytest.raises(N6Error, match="N6-LINK-003: the firmware rejects RESTART"):
        link.restart(1)


@pytest.mark.parametrize(
    ("message", "is_answered"),
    [
        (bytes([Type.HELLO]), False),
        (bytes([Type.HELLO, 9]), True),
        (bytes([Type.HELLO, 9]) + bytes(MESSAGE_MAX - 7), True),
        (bytes([Type.HELLO, 9]) + bytes(MESSAGE_MAX - 6), False),
    ],
    ids=["too short", "shortest", "longest", "too long"],
)
def test_the_firmware_answers_a_message_that_fits_and_no_other(
    firmware: Firmware, message: bytes, is_answered: bool
) -> None:
    """The frame has one more byte than the message and its CRC."""
    firmware.restart(INPUT_BYTES, OUTPUT_BYTES)
    frame = cobs.encode(message + zlib.crc32(message).to_bytes(CRC_BYTES, "little")) + b"\0"
    answer, _ = firmware.hear(frame)
    assert bool(answer) is is_answered
    assert not firmware.hear(frame[:-2] + bytes([frame[-2] ^ 1]) + b"\0")[0], "its CRC is wrong"
    assert link_to(Board(firmware)).hello().networks == 1


def test_an_answer_counts_however_late_it_is_looked_at(firmware: Firmware) -> None:
    """Hours may pass between two looks at the clock of a busy machine."""
    hours = itertools.count(step=3600)
    assert Link(Board(firmware), now=lambda: next(hours)).hello().networks == 1


@dataclass
class Slow(Board):
    """A board that answers one request at a time, and only while the host listens.

    Attributes:
        holds: Number of requests that it can store; further ones are lost.
        most: Highest number of requests that waited at a time.
    """

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
def test_as_many_requests_are_under_way_as_the_window_allows(window: int, firmware: Firmware) -> None:
    board = Slow(firmware, input_bytes=9000, output_bytes=9000)
    link = link_to(board)
    link.window = window
    data = bytes(index % 255 for index in range(9000))
    link.write_input(0, data)
    assert board.most == window
    link.run(0)
    board.most = 0
    assert link.read_output(0, len(data)) == inferred(data)
    assert board.most == window


def test_a_board_that_cannot_listen_while_it_answers_is_asked_one_thing_at_a_time(firmware: Firmware) -> None:
    board = Slow(firmware, holds=1)
    link = link_to(board)
    link.window = 16
    data = bytes(index % 251 for index in range(INPUT_BYTES))
    assert infer(link, data) == inferred(data[:OUTPUT_BYTES])
    assert (link.window, board.runs) == (1, 1)


def test_a_refusal_among_requests_that_are_under_way(firmware: Firmware) -> None:
    link = link_to(Slow(firmware))
    link.window = 16
    with pytest.raises(N6Error, match="rejects INPUT: outside its buffers"):
        link.write_input(0, bytes(INPUT_BYTES + 200))
    assert link.network(0).name == "keyword"


@dataclass
class Trickling(Board):
    """A board whose text arrives in small pieces."""

    @property
    def in_waiting(self) -> int:
        return min(1000, len(self.to_host))


@pytest.mark.parametrize(("longest", "is_whole"), [(200_000, True), (1 << 16, False)])
def test_only_a_line_beyond_the_longest_is_cut(longest: int, is_whole: bool, firmware: Firmware) -> None:
    board = Trickling(firmware)
    texts: list[str] = []
    link = link_to(board, texts)
    link.answer_s, link.longest_line = 10.0, longest
    line = "n6 run 0 output 0 " + "5a" * 50_000
    board.to_host += line.encode() + b"\r\n"
    assert link.network(0).name == "keyword"
    assert "".join(texts) == line
    assert (len(texts) == 1) is is_whole


def test_text_of_the_firmware_is_passed_on(firmware: Firmware) -> None:
    board = Board(firmware)
    texts: list[str] = []
    board.to_host += b"n6 image xSPI2 ok\r\nn6 done runs=10\r\n"
    assert link_to(board, texts).hello() == Hello(1, CPU_HZ)
    assert texts == ["n6 image xSPI2 ok", "n6 done runs=10"]


def test_a_board_that_starts_anew_in_the_middle_is_noticed(firmware: Firmware) -> None:
    board = Board(firmware)
    link = link_to(board)
    board.to_host += b"n6 fsbl start board=nucleo-n657\r\n"
    with pytest.raises(Restarted):
        link.run(0)
    assert link.hello().networks == 1


@dataclass
class Deaf(Board):
    """A board with another program, which prints and answers nothing."""

    says: bytes = b""

    def write(self, data: bytes) -> int:
        self.to_host += self.says
        return len(data)


def test_another_firmware_is_said_to_be_one(firmware: Firmware) -> None:
    texts: list[str] = []
    with pytest.raises(N6Error, match="N6-LINK-008: another firmware runs on the board; it prints 'Hello World!'"):
        link_to(Deaf(firmware, says=b"Hello World!\r\n"), texts).hello(patience_s=0.1)
    assert "Hello World!" in texts


def test_a_board_that_says_nothing_gets_hints(firmware: Firmware) -> None:
    with pytest.raises(N6Error, match="(?s)N6-LINK-001: no answer to HELLO.*check that this firmware is on the board"):
        link_to(Deaf(firmware)).hello(patience_s=0.1)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "n6 fsbl error N6-FW-010 the Appli slot is erased",
            "N6-FW-010: the firmware stopped: the Appli slot is erased",
        ),
        ("n6 fault usage pc=0x34000500", "N6-RUN-001: the firmware faulted: usage"),
        ("n6 fsbl start board=x", "N6-LINK-005: the board keeps restarting"),
    ],
)
def test_a_firmware_that_has_stopped_or_only_starts_is_not_waited_for(
    line: str, error: str, firmware: Firmware
) -> None:
    with pytest.raises(N6Error, match=error):
        link_to(Deaf(firmware, says=f"{line}\r\n".encode())).hello(patience_s=60.0)


def test_a_firmware_that_still_prints_is_waited_for(firmware: Firmware) -> None:
    """The firmware runs its test vectors first; the patience is for silence."""
    board = Board(firmware)
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


def test_another_version_of_the_protocol(tmp_path: Path) -> None:
    with (
        running_firmware(tmp_path, version=7) as another,
        pytest.raises(N6Error, match="N6-LINK-002: the firmware uses version 7"),
    ):
        link_to(Board(another)).hello()


def test_what_the_firmware_refuses(firmware: Firmware) -> None:
    link = link_to(Board(firmware))
    with pytest.raises(N6Error, match="N6-LINK-003: the firmware rejects NETWORK: it knows no such"):
        link.network(1)
    with pytest.raises(N6Error, match="rejects INPUT: outside its buffers"):
        link.write_input(0, bytes(INPUT_BYTES + 1))
    with pytest.raises(N6Error, match="rejects OUTPUT: outside its buffers"):
        link.read_output(0, OUTPUT_BYTES + 1)
    for kind, payload in (
        (Type.EPOCHS, b"\0"),
        (Type.OUTPUT, b"\0"),
        (Type.OUTPUT, OUTPUT_REQUEST.pack(index=0, offset=0, size=DATA_MAX + 1)),
    ):
        with pytest.raises(N6Error, match=f"rejects {kind.name}: outside its buffers"):
            link.request(kind, payload)


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


def test_a_serial_port(monkeypatch: pytest.MonkeyPatch, firmware: Firmware) -> None:
    """A terminal replaces the port, with the board at its other end."""
    ours, theirs = os.openpty()
    tty.setraw(ours)
    tty.setraw(theirs)
    board = Board(firmware)

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
        assert infer(link, data) == inferred(data[:OUTPUT_BYTES])
    # The other end must have ended first: it would read from the next file with this number.
    os.close(theirs)
    other_end.join()
    os.close(ours)
    with pytest.raises(N6Error, match="N6-LINK-006"), serial_link("/dev/no-such-port", 115_200, lambda _: None):
        pass
    monkeypatch.setattr("serial.tools.list_ports.comports", list)
    with pytest.raises(N6Error, match="N6-LINK-007: probe 123 has no serial port"):
        linked_session.console_of("123")
