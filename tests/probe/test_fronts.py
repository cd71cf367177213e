"""The fronts take whatever bytes come, in pieces of any size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.board.probe.openocd_front import OpenocdFront
from n6build.board.probe.pyocd_front import PyocdFront
from n6build.board.probe.swj_port import JtagTap

from probe.fake_machine import RAM, fake_port

_TCK, _TMS = 4, 2
_CHARACTERS = "01234567RBbrstuOocdefg"


def ask(front: PyocdFront, request: str, *arguments: Any) -> dict[str, Any]:
    line = json.dumps({"id": 7, "request": request, "arguments": arguments}).encode() + b"\n"
    answer: dict[str, Any] = json.loads(front.answer(line, is_free=True))
    assert answer["id"] == 7
    return answer


def opened() -> PyocdFront:
    front = PyocdFront(fake_port()[0])
    assert ask(front, "hello", 1)["status"] == 0
    assert ask(front, "open")["status"] == 0
    return front


# pyOCD


def test_a_session_of_pyocd() -> None:
    front = opened()
    assert ask(front, "readprop", "wire_protocol")["result"] == "SWD"
    assert ask(front, "connect", "DEFAULT")["status"] == 0
    assert ask(front, "read_dp", 0)["result"] == 0x6BA0_2477
    ask(front, "write_dp", 8, 1 << 24)
    ask(front, "write_ap", 0, 0x0300_0012)
    ask(front, "write_ap", 4, RAM)
    ask(front, "write_ap_multiple", 0xC, [1, 2, 3])
    ask(front, "write_ap", 4, RAM)
    assert ask(front, "read_ap_multiple", 0xC, 3)["result"] == [1, 2, 3]
    assert ask(front, "close")["status"] == 0


def test_a_refused_transfer_is_a_fault_of_pyocd() -> None:
    front = opened()
    ask(front, "write_dp", 8, 1 << 24)
    ask(front, "write_ap", 4, 0x2000_0000)
    answer = ask(front, "read_ap", 0xC)
    assert (answer["status"], answer["error"]) == (12, "hole: nothing answers")


def test_a_second_debugger_is_refused() -> None:
    front = PyocdFront(fake_port()[0])
    answer = json.loads(front.answer(b'{"id": 1, "request": "open"}\n', is_free=False))
    assert (answer["status"], answer["error"]) == (3, "another debugger uses the virtual board")
    assert not front.uses_board


@pytest.mark.parametrize(
    ("request_", "arguments"),
    [
        ("no_such_thing", []),
        ("hello", [2]),
        ("read_dp", []),
        ("read_dp", [-1]),
        ("read_dp", ["0"]),
        ("read_dp", [None]),
        ("write_dp", [8, 1 << 32]),
        ("read_ap_multiple", [0xC, 0]),
        ("read_ap_multiple", [0xC, 1 << 40]),
        ("write_ap_multiple", [0xC, []]),
        ("write_ap_multiple", [0xC, {"a": 1}]),
        ("write_ap_multiple", [0xC, 5]),
    ],
)
def test_a_wrong_request_is_answered_with_an_error(request_: str, arguments: list[Any]) -> None:
    assert ask(opened(), request_, *arguments)["status"] == 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b'"read_dp"',
        b"{}",
        b'{"id": 1}',
        b"\xff\xfe",
        b'{"id": [1], "request": {}}',
        b"[" * 5000,
    ],
)
def test_a_line_that_is_no_request_is_answered_with_an_error(line: bytes) -> None:
    answer = json.loads(opened().answer(line + b"\n", is_free=True))
    assert answer["status"] == 1


def test_an_endless_line_ends_the_connection() -> None:
    front = opened()
    for _ in range(40):
        assert front.answer(b"x" * (1 << 16), is_free=True) == b""
    assert front.is_done


def test_nothing_works_before_open() -> None:
    front = PyocdFront(fake_port()[0])
    assert ask(front, "read_dp", 0)["status"] == 1


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 40), 1 << 40) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)
_NAMES = (
    "hello open close readprop read_dp write_dp read_ap write_ap read_ap_multiple write_ap_multiple reset assert_reset lock "
    "swj_sequence get_memory_interface_for_ap"
)
_REQUESTS = st.sampled_from(["", *_NAMES.split()])
_LINES = st.one_of(
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"")),
    st.builds(
        lambda name, arguments: json.dumps({"id": 1, "request": name, "arguments": arguments}).encode(),
        _REQUESTS,
        st.lists(_VALUES, max_size=3),
    ),
)


@settings(max_examples=200, deadline=None)
@given(lines=st.lists(_LINES, max_size=12), piece=st.integers(1, 40))
def test_each_line_has_one_answer_however_it_arrives(lines: list[bytes], piece: int) -> None:
    front = opened()
    data = b"".join(line + b"\n" for line in lines)
    answer = b"".join(front.answer(data[i : i + piece], is_free=True) for i in range(0, len(data), piece))
    answers = [json.loads(each) for each in answer.splitlines()]
    assert len(answers) == len(lines)
    assert {each["status"] for each in answers} <= {0, 1, 12}


# OpenOCD


class Scans:
    """JTAG scans as characters of remote_bitbang."""

    def __init__(self, front: OpenocdFront) -> None:
        self.front = front
        self.clocks("111110")

    def clocks(self, tms: str, tdi: int = 0) -> None:
        for each in tms:
            self.send(int(each) * _TMS | tdi)

    def send(self, level: int) -> None:
        self.front.answer(bytes([0x30 + level, 0x30 + (level | _TCK)]), is_free=True)

    def instruction(self, value: int) -> None:
        self.clocks("1100")
        self.shift(value, 4)

    def data(self, value: int, bits: int) -> int:
        self.clocks("100")
        return self.shift(value, bits)

    def shift(self, value: int, bits: int) -> int:
        found = 0
        for i in range(bits):
            found |= int(self.front.answer(b"R", is_free=True)) << i
            self.send((i == bits - 1) * _TMS | value >> i & 1)
        self.clocks("10")
        return found

    def transfer(self, instruction: int, register: int, value: int | None) -> None:
        self.instruction(instruction)
        self.data((value or 0) << 3 | register >> 1 | (value is None), 35)

    def result(self) -> int:
        self.instruction(0xA)
        found = self.data(0xC >> 1 | 1, 35)
        assert found & 7 == 0b010
        return found >> 3


def test_a_reset_tap_shows_the_idcode() -> None:
    scans = Scans(OpenocdFront(fake_port()[0]))
    assert scans.data(0, 32) == 0x6BA0_0477
    scans.instruction(0xF)
    assert scans.data(0b1011, 4) == 0b0110


def test_memory_over_jtag() -> None:
    port, _ = fake_port()
    scans = Scans(OpenocdFront(port))
    scans.transfer(0xA, 8, 1 << 24)
    scans.transfer(0xB, 0, 0x0300_0012)
    scans.transfer(0xB, 4, RAM)
    scans.transfer(0xB, 0xC, 0x1234_5678)
    scans.transfer(0xB, 4, RAM)
    scans.transfer(0xB, 0xC, None)
    assert scans.result() == 0x1234_5678


def test_an_error_over_jtag_is_cleared_in_ctrl_stat() -> None:
    port, _ = fake_port()
    scans = Scans(OpenocdFront(port))
    scans.transfer(0xA, 8, 1 << 24)
    scans.transfer(0xB, 4, 0x2000_0000)
    scans.transfer(0xB, 0xC, None)
    scans.transfer(0xA, 4, None)
    assert scans.result() & 1 << 5
    scans.transfer(0xA, 4, 1 << 5)
    scans.transfer(0xA, 4, None)
    assert not scans.result() & 1 << 5


def test_the_reset_pin_resets_when_it_is_released() -> None:
    port, machine = fake_port()
    front = OpenocdFront(port)
    front.answer(b"s", is_free=True)
    assert machine.asked == []
    front.answer(b"r", is_free=True)
    assert machine.asked == ["reset 0x0"]


def test_openocd_waits_for_no_other_debugger() -> None:
    front = OpenocdFront(fake_port()[0])
    assert front.answer(b"R", is_free=False) == b""
    assert front.is_done


@settings(max_examples=200, deadline=None)
@given(data=st.one_of(st.binary(max_size=400), st.text(_CHARACTERS, max_size=2000).map(str.encode)))
def test_each_question_has_one_answer(data: bytes) -> None:
    front = OpenocdFront(fake_port()[0])
    answer = front.answer(data, is_free=True)
    known = data
    for i, byte in enumerate(data):
        if byte not in _CHARACTERS.encode():
            known = data[:i]
            assert front.is_done
            break
    assert len(answer) == known.count(b"R") + known.count(b"c")
    assert set(answer) <= set(b"01")


@settings(max_examples=100, deadline=None)
@given(edges=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=3000))
def test_any_edges_leave_a_tap_that_five_ones_reset(edges: list[tuple[int, int]]) -> None:
    tap = JtagTap(fake_port()[0])
    for tms, tdi in edges:
        tap.clock(tms, tdi)
    for tms in (1, 1, 1, 1, 1, 0, 1, 0, 0):
        tap.clock(tms, 0)
    found = 0
    for i in range(32):
        found |= tap.tdo << i
        tap.clock(0, 0)
    assert found == 0x6BA0_0477
