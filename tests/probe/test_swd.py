"""The SWD port behind the front for OpenOCD."""

from __future__ import annotations

import contextlib
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.board.probe.debug_port import ABORT, CTRL_STAT, RDBUFF, SELECT, Refused
from n6build.board.probe.openocd_front import OpenocdFront

from probe.fake_machine import RAM, FakeMachine, fake_port
from probe.swd_host import DPIDR, FAULT, NOTHING, OK, SWD_TO_JTAG, Answer, SwdHost, request

CSW, TAR, DRW = 0x0, 0x4, 0xC
AP1, WORDS = 1 << 24, 0x0300_0012
IDENTIFIED = Answer(OK, 0x6BA0_2477)
CLEARS_ALL, OVERRUN, ERROR, PARITY = 0x1E, 1 << 1, 1 << 5, 1 << 7


def connected() -> tuple[SwdHost, FakeMachine]:
    """Return a debugger that has read DPIDR."""
    port, machine = fake_port()
    host = SwdHost(OpenocdFront(port))
    assert host.read(False, DPIDR) == IDENTIFIED
    return host, machine


def at_ram() -> SwdHost:
    host, _ = connected()
    host.write(False, SELECT, AP1)
    host.write(True, CSW, WORDS)
    host.write(True, TAR, RAM)
    return host


def after_a_fault() -> SwdHost:
    """Return a debugger whose last access the chip refused."""
    host = at_ram()
    host.write(True, TAR, 0x2000_0000)
    assert host.write(True, DRW, 1) == Answer(OK)
    return host


def test_the_value_of_an_access_port_comes_with_the_next_read() -> None:
    host = at_ram()
    for value in (0x1234_5678, 0xFFFF_FFFF, 0x8000_0001):
        assert host.write(True, DRW, value) == Answer(OK)
    host.write(True, TAR, RAM)
    host.read(True, DRW)
    assert host.read(True, DRW) == Answer(OK, 0x1234_5678)
    assert host.read(True, DRW) == Answer(OK, 0xFFFF_FFFF)
    assert host.read(False, RDBUFF) == Answer(OK, 0x8000_0001)
    # RESEND repeats it.
    assert host.read(False, SELECT) == Answer(OK, 0x8000_0001)


def test_a_refused_access_is_a_fault_of_the_next_transfer_until_it_is_cleared() -> None:
    host = after_a_fault()
    assert host.write(True, TAR, RAM, data=False) == Answer(FAULT)
    assert host.write(False, SELECT, 0, data=False) == Answer(FAULT)
    assert host.read(False, DPIDR) == IDENTIFIED
    status = host.read(False, CTRL_STAT)
    assert (status.ack, status.value & ERROR) == (OK, ERROR)
    host.write(False, ABORT, CLEARS_ALL)
    assert host.write(True, TAR, RAM) == Answer(OK)


def test_ctrl_stat_clears_no_error_over_swd() -> None:
    host = after_a_fault()
    host.write(False, ABORT, CLEARS_ALL)
    host.write(False, CTRL_STAT, 0x5000_0000)
    host.write(True, DRW, 1)
    assert host.write(False, CTRL_STAT, 0x5000_0000 | ERROR, data=False) == Answer(FAULT)
    assert host.read(False, CTRL_STAT).value & ERROR


def test_a_fault_of_a_read_has_no_data_and_the_wire_needs_a_line_reset() -> None:
    """A debugger that clocks on over a wire that nobody drives sends ones."""
    host = after_a_fault()
    assert host.read(False, RDBUFF) == Answer(FAULT)
    assert host.read(False, DPIDR) == Answer(NOTHING)
    host.reset_line()
    assert host.read(False, DPIDR) == IDENTIFIED


def test_with_orundetect_a_fault_has_its_data() -> None:
    host = at_ram()
    host.write(False, CTRL_STAT, 0x5000_0001)
    host.write(True, TAR, 0x2000_0000)
    host.write(True, DRW, 1)
    assert host.write(True, TAR, RAM) == Answer(FAULT)
    assert host.read(True, DRW) == Answer(FAULT)
    assert host.read(False, CTRL_STAT).value & (ERROR | OVERRUN) == ERROR | OVERRUN
    host.write(False, ABORT, CLEARS_ALL)
    assert not host.read(False, CTRL_STAT).value & (ERROR | OVERRUN)


def test_wrong_parity_of_a_value_is_an_error_and_nothing_is_written() -> None:
    host, machine = connected()
    host.write(False, SELECT, AP1)
    host.write(True, CSW, WORDS)
    host.write(True, TAR, RAM)
    assert host.write(True, DRW, 7, wrong_parity=True) == Answer(OK)
    assert machine.memory == {}
    assert host.read(False, CTRL_STAT).value & PARITY
    assert host.write(True, DRW, 7, data=False) == Answer(FAULT)
    host.write(False, ABORT, CLEARS_ALL)
    assert host.write(True, DRW, 7) == Answer(OK)
    assert machine.memory[RAM] == 7


@pytest.mark.parametrize("wrong", [1 << 5, 1 << 6, 1 << 7, 1 << 2])
def test_a_wrong_request_gets_no_answer_until_a_line_reset(wrong: int) -> None:
    host, _ = connected()
    host.write_bits(request(False, True, DPIDR) ^ wrong, 8)
    host.write_bits(0, 60)
    assert host.read(False, DPIDR) == Answer(NOTHING)
    host.reset_line()
    assert host.read(False, DPIDR) == IDENTIFIED


@pytest.mark.parametrize("register", [CTRL_STAT, SELECT, RDBUFF])
def test_behind_a_line_reset_only_dpidr_can_be_read(register: int) -> None:
    host, _ = connected()
    host.reset_line()
    assert host.read(False, register) == Answer(NOTHING)
    host.reset_line()
    assert host.read(False, DPIDR) == IDENTIFIED
    assert host.read(False, register).ack == OK


def test_fewer_than_fifty_ones_reset_nothing() -> None:
    host, _ = connected()
    host.write_bits(0, 1)
    host.reset_line(49)
    assert host.read(False, DPIDR) == Answer(NOTHING)


def test_the_pins_are_jtag_first_and_change_to_swd_and_back() -> None:
    front = OpenocdFront(fake_port()[0])
    front.answer(b"O", is_free=True)
    assert front.answer(b"dcfdcf", is_free=True) == b"00"
    host = SwdHost(front)
    assert host.read(False, DPIDR) == IDENTIFIED
    host.reset_line()
    host.write_bits((1 << 50) - 1, 50)
    host.write_bits(SWD_TO_JTAG, 16)
    # TMS of a scan of IDCODE.
    for tms in (1, 1, 1, 1, 1, 0, 1, 0, 0):
        host.write_bits(tms, 1)
    found = 0
    for i in range(32):
        found |= int(front.answer(b"R", is_free=True)) << i
        host.write_bits(0, 1)
    assert found == 0x6BA0_0477


def test_the_sequence_for_swd_needs_fifty_ones_before_it() -> None:
    front = OpenocdFront(fake_port()[0])
    for text in ("00000010" * 4, "1" * 40, "1" * 60 + "0"):
        for tms in text + f"{0xE79E:016b}"[::-1]:
            front.answer(f"{2 * int(tms)}{4 + 2 * int(tms)}".encode(), is_free=True)
    front.answer(b"o", is_free=True)
    assert front.answer(b"c", is_free=True) == b"1"
    front.answer(b"O", is_free=True)
    host = SwdHost(front)
    assert host.read(False, DPIDR) == IDENTIFIED


@pytest.mark.parametrize("seed", range(20))
def test_random_transfers_are_those_of_the_port_without_a_wire(seed: int) -> None:
    random = Random(seed)
    host, machine = connected()
    port, plain = fake_port()
    posted = 0
    for _ in range(300):
        is_ap, register = random.random() < 0.7, random.choice([0, 4, 8, 0xC])
        value = random.choice([RAM, RAM + 0x20, AP1, WORDS, 0x2000_0000, random.getrandbits(32)])
        value &= ~1 if not is_ap and register == CTRL_STAT else 0xFFFF_FFFF
        failed = port.has_failed
        if failed:
            assert host.write(True, register, value, data=False) == Answer(FAULT)
            assert host.write(False, ABORT, CLEARS_ALL) == Answer(OK)
            port.write_dp(ABORT, CLEARS_ALL)
        elif random.random() < 0.5 and not (not is_ap and register in (RDBUFF, SELECT)):
            answer = host.read(is_ap, register)
            assert answer == Answer(OK, posted if is_ap else port.read_dp(register))
            if is_ap:
                try:
                    posted = port.read_ap(register)[0]
                except Refused:
                    posted = 0
        elif is_ap:
            assert host.write(True, register, value) == Answer(OK)
            with contextlib.suppress(Refused):
                port.write_ap(register, [value])
        elif register != RDBUFF:
            assert host.write(False, register, value) == Answer(OK)
            port.write_dp(register, value & ~(ERROR | OVERRUN | PARITY) if register == CTRL_STAT else value)
    assert machine.memory == plain.memory
    assert machine.asked == plain.asked


@settings(max_examples=200, deadline=None)
@given(data=st.text("defgoOcRBbrstu0246", max_size=3000).map(str.encode))
def test_any_edges_leave_a_port_that_a_line_reset_brings_back(data: bytes) -> None:
    front = OpenocdFront(fake_port()[0])
    answer = front.answer(data, is_free=True)
    assert len(answer) == data.count(b"R") + data.count(b"c")
    host = SwdHost(front)
    assert host.read(False, DPIDR) == IDENTIFIED


@settings(max_examples=100, deadline=None)
@given(edges=st.lists(st.sampled_from(["df", "eg", "dcf", "oO"]), max_size=2000), ones=st.integers(50, 80))
def test_any_edges_in_swd_leave_a_port_that_a_line_reset_brings_back(edges: list[str], ones: int) -> None:
    host, _ = connected()
    host.front.answer("".join(edges).encode(), is_free=True)
    host.reset_line(ones)
    assert host.read(False, DPIDR) == IDENTIFIED
