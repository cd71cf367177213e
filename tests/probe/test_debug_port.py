"""Debug port, access ports and debug registers, without an emulator."""

from __future__ import annotations

from dataclasses import replace

import pytest
from n6build.board.probe.access_port import BASE, CSW, DRW, IDR, TAR
from n6build.board.probe.debug_port import ABORT, CTRL_STAT, RDBUFF, SELECT, Refused, VirtualDebugPort
from n6build.board.probe.processor import AIRCR, BPU_COMP, BPU_CTRL, DEMCR, DFSR, DHCSR, DSCSR, DWT_COMP, DWT_CTRL

from probe.debugger import HALT, MASKINTS, PC, POWER, S_HALT, S_LOCKUP, S_RESET, S_SLEEP, WORDS, Debugger
from probe.fake_machine import RAM, RAM_END, FakeMachine, fake_port

HOLE = 0x2000_0000


@pytest.fixture
def both() -> tuple[VirtualDebugPort, FakeMachine]:
    return fake_port()


@pytest.fixture
def port(both: tuple[VirtualDebugPort, FakeMachine]) -> VirtualDebugPort:
    return both[0]


@pytest.fixture
def machine(both: tuple[VirtualDebugPort, FakeMachine]) -> FakeMachine:
    return both[1]


@pytest.fixture
def debugger(port: VirtualDebugPort) -> Debugger:
    return Debugger(port)


def test_the_port_identifies_itself_and_gets_power_at_once(port: VirtualDebugPort) -> None:
    assert port.read_dp(ABORT) == 0x6BA0_2477
    port.write_dp(CTRL_STAT, POWER)
    assert port.read_dp(CTRL_STAT) == 0xF000_0000
    port.write_dp(SELECT, 2)
    assert port.read_dp(CTRL_STAT) == port.port.targetid


@pytest.mark.parametrize("ap", [0, 1])
def test_an_access_port_has_idr_and_base(ap: int, port: VirtualDebugPort) -> None:
    port.write_dp(SELECT, ap << 24 | 0xF0)
    facts = port.port.access_ports[ap]
    assert port.read_ap(IDR & 0xF) == [facts.idr]
    assert port.read_ap(BASE & 0xF) == [facts.rom_table]


def test_there_is_no_third_access_port(port: VirtualDebugPort) -> None:
    port.write_dp(SELECT, 2 << 24 | 0xF0)
    assert port.read_ap(IDR & 0xF) == [0]
    port.write_ap(CSW, [1])
    assert not port.has_failed


def test_words_bytes_and_half_words_use_their_lanes(
    port: VirtualDebugPort, machine: FakeMachine, debugger: Debugger
) -> None:
    debugger.write(RAM, 0x1122_3344)
    assert bytes(machine.memory[RAM + i] for i in range(4)) == b"\x44\x33\x22\x11"
    port.write_ap(CSW, [WORDS & ~7])
    port.write_ap(TAR, [RAM + 1])
    assert port.read_ap(DRW, 3) == [0x3300, 0x22_0000, 0x1100_0000]
    port.write_ap(TAR, [RAM + 2])
    port.write_ap(DRW, [0x00AB_0000])
    assert machine.memory[RAM + 2] == 0xAB
    port.write_ap(CSW, [WORDS & ~7 | 1])
    port.write_ap(TAR, [RAM + 2])
    assert port.read_ap(DRW) == [0x11AB_0000]


def test_the_address_wraps_where_the_port_says(
    port: VirtualDebugPort, machine: FakeMachine, debugger: Debugger
) -> None:
    debugger.write(RAM + 0x3FC, 1, 2)
    assert machine.memory[RAM + 0x3FC] == 1
    assert machine.memory[RAM] == 2
    assert port.read_ap(TAR) == [RAM + 4]


def test_the_buffer_has_the_last_value_read(port: VirtualDebugPort, debugger: Debugger) -> None:
    debugger.write(RAM, 7)
    assert debugger.word(RAM) == port.read_dp(RDBUFF) == 7


def test_a_refused_access_sticks_until_it_is_cleared(port: VirtualDebugPort, debugger: Debugger) -> None:
    with pytest.raises(Refused, match="hole"):
        debugger.word(HOLE)
    assert port.read_dp(CTRL_STAT) & 1 << 5
    with pytest.raises(Refused, match="not yet cleared"):
        debugger.word(RAM)
    debugger.clear()
    assert debugger.word(RAM) == 0
    assert port.refusals == ["hole: nothing answers"]


def test_a_read_across_the_end_of_ram_is_refused(debugger: Debugger) -> None:
    with pytest.raises(Refused, match="hole"):
        debugger.read(RAM_END - 8, 4)


def test_a_closed_core_refuses_memory_and_registers(port: VirtualDebugPort, machine: FakeMachine) -> None:
    machine.now = replace(machine.now, is_open=False)
    debugger = Debugger(port)
    assert not port.read_ap(CSW)[0] & 1 << 6
    for address in (RAM, DHCSR, 0xE000_ED00):
        with pytest.raises(Refused, match="closed"):
            debugger.word(address)
        debugger.clear()
    assert Debugger(port, ap=0).word(RAM) == 0


@pytest.mark.parametrize("view", [0x4400_1000, 0x8000_1000])
def test_the_bus_port_shows_dbgmcu_at_two_places(view: int, port: VirtualDebugPort, machine: FakeMachine) -> None:
    machine.memory[0x5400_1000] = 0x86
    assert Debugger(port, ap=0).word(view) == 0x86


def test_the_rom_table_leads_to_components_that_identify_themselves(port: VirtualDebugPort, debugger: Debugger) -> None:
    table = port.port.access_ports[1].rom_table & ~0xFFF
    found = {}
    for entry in debugger.read(table, 4):
        if entry:
            base = table + (entry & ~0xFFF) & 0xFFFF_FFFF
            pidr = [word & 0xFF for word in debugger.read(base + 0xFE0, 4)]
            cidr = [word & 0xFF for word in debugger.read(base + 0xFF0, 4)]
            assert cidr == [0x0D, 0x90, 0x05, 0xB1]
            assert pidr[1] >> 4 == 0xB and pidr[2] == 0xB and debugger.word(base + 0xFD0) == 4
            found[base] = (pidr[0] | pidr[1] << 8 & 0xF00, debugger.word(base + 0xFBC))
    assert found == {each.base: (each.part, each.architecture) for each in port.port.components.values()}
    assert debugger.read(table + 0xFF0, 4) == [0x0D, 0x10, 0x05, 0xB1]


def test_halt_step_and_run(machine: FakeMachine, debugger: Debugger) -> None:
    assert not debugger.is_halted
    debugger.halt()
    assert debugger.status() & 3 == 3 and debugger.is_halted
    before = debugger.register(PC)
    debugger.step(MASKINTS)
    assert machine.asked == ["step True"]
    assert debugger.register(PC) == before + 2
    debugger.run()
    assert not debugger.is_halted


def test_control_needs_its_key_and_debugging_its_enable(debugger: Debugger) -> None:
    debugger.write(DHCSR, HALT | 1)
    assert not debugger.is_halted
    debugger.write(DHCSR, 0xA05F_0000 | HALT)
    assert not debugger.is_halted


def test_registers_move_only_while_halted(machine: FakeMachine, debugger: Debugger) -> None:
    debugger.set_register(0, 5)
    assert machine.registers[0] == 0
    debugger.halt()
    debugger.set_register(0, 5)
    assert machine.registers[0] == debugger.register(0) == 5
    with pytest.raises(Refused, match="register"):
        debugger.register(0x7F)


@pytest.mark.parametrize(("why", "bit"), [("probe", 1), ("bkpt", 2), ("watchpoint", 4), ("catch", 8)])
def test_the_reason_of_a_halt_stays_until_it_is_cleared(
    why: str, bit: int, machine: FakeMachine, debugger: Debugger
) -> None:
    machine.stop(why)
    assert debugger.word(DFSR) == bit
    assert debugger.status() & HALT
    debugger.write(DFSR, bit)
    assert debugger.word(DFSR) == 0


def test_status_shows_lockup_sleep_and_reset(machine: FakeMachine, debugger: Debugger) -> None:
    assert debugger.status() & S_RESET
    assert not debugger.status() & S_RESET
    machine.stop("locked")
    assert debugger.status() & (S_LOCKUP | S_HALT) == S_LOCKUP
    machine.now = replace(machine.now, why="runs", is_asleep=True)
    assert debugger.status() & S_SLEEP


def test_a_reset_ends_a_halt_unless_it_is_caught(machine: FakeMachine, debugger: Debugger) -> None:
    debugger.halt()
    debugger.write(AIRCR, 0x05FA_0004)
    assert machine.asked == ["reset 0x100000"] or machine.asked[0].startswith("reset 0x")
    assert not debugger.is_halted
    assert debugger.status() & 3 == 1
    debugger.write(DEMCR, 1)
    assert machine.debugging == (True, 1)
    debugger.write(AIRCR, 0x05FA_0004)
    assert debugger.is_halted
    assert debugger.word(DFSR) & 8
    # Without its key, the register is the machine's.
    debugger.write(AIRCR, 4)
    assert len(machine.asked) == 2


def test_catches_are_the_debuggers_and_the_rest_of_demcr_the_programs(machine: FakeMachine, debugger: Debugger) -> None:
    debugger.write(DEMCR, 1 << 24 | 1 << 10)
    assert machine.memory[DEMCR + 3] == 1
    assert machine.memory[DEMCR + 1] == 0
    assert debugger.word(DEMCR) == 1 << 24 | 1 << 10


def test_breakpoints_need_their_unit_and_debugging(
    port: VirtualDebugPort, machine: FakeMachine, debugger: Debugger
) -> None:
    count = debugger.word(BPU_CTRL) >> 4 & 0xF
    assert count == port.port.breakpoints
    debugger.write(BPU_COMP, 0x3400_0101)
    debugger.write(BPU_CTRL, 3)
    assert machine.breaks == set()
    debugger.halt()
    assert machine.breaks == {0x3400_0100}
    debugger.write(BPU_COMP + 4, 0x3400_0201)
    debugger.write(BPU_COMP, 0)
    assert machine.breaks == {0x3400_0200}
    debugger.write(DHCSR, 0xA05F_0000)
    assert machine.breaks == set()


def test_watchpoints_follow_their_function(port: VirtualDebugPort, machine: FakeMachine, debugger: Debugger) -> None:
    assert debugger.word(DWT_CTRL) >> 28 == port.port.watchpoints
    debugger.halt()
    debugger.write(DWT_COMP, RAM + 8)
    debugger.write(DWT_COMP + 8, 2 << 10 | 1 << 4 | 5)
    assert machine.watches == {(RAM + 8, 4, False, True)}
    machine.stop("watchpoint")
    debugger.run()
    machine.stop("watchpoint")
    debugger.status()
    assert debugger.word(DWT_COMP + 8) & 1 << 24
    debugger.write(DWT_COMP + 8, 0)
    assert machine.watches == set()


def test_a_debugger_sees_the_security_state(machine: FakeMachine, debugger: Debugger) -> None:
    assert debugger.word(DSCSR) & 1 << 16
    machine.now = replace(machine.now, is_secure=False)
    assert not debugger.word(DSCSR) & 1 << 16
