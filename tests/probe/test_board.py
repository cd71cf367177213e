"""The debug port in front of the virtual board's emulator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.base.errors import N6Error
from n6build.board.probe.debug_port import Refused, VirtualDebugPort
from n6build.board.probe.processor import AIRCR, BPU_COMP, BPU_CTRL, DEMCR, DFSR, DWT_COMP
from n6build.board.virtual_board.findings_file import read_findings
from n6build.board.virtual_board.source_lines import Places

from probe.boards import CODE, DATA, STACK, assembled, nor_that_says_hello, switched_on
from probe.debugger import MASKINTS, PC, S_LOCKUP, S_RESET, S_SLEEP, SP, XPSR, Debugger

LOOP = BOARD.soc.boot.development_loop
CPUID, DBGMCU_SR, APB4FZ, IWDG = 0xE000_ED00, 0x8000_10FC, 0x5400_101C, 0x5600_4800
FREEZE_IWDG, WATCHDOG_RESETS = 1 << 18, 1 << 26
COUNTS = f"""
    ldr r2, ={DATA:#x}
    movs r0, #0
again:
    adds r0, #1
    str r0, [r2]
    cmp r0, #10
    bne again
    bkpt #0
    b .
"""
AXISRAM1, AXISRAM3 = 0x3406_4000, 0x3420_0000
SYSCFG, RCC_CR, SHCSR, CFSR, CPACR = 0x5600_8000, 0x5602_8000, 0xE000_ED24, 0xE000_ED28, 0xE000_ED88
RCC_HWRSR = 0x5602_8030
SYSTICK_CTRL, CYCCNT, DWT_CTRL = 0xE000_E010, 0xE000_1004, 0xE000_1000
MSP, PSP, SPECIAL, MSPLIM_S = 17, 18, 20, 0x1C


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualDebugPort]:
    """One board for all tests that leave it as they found it, after a reset."""
    folder = tmp_path_factory.mktemp("board")
    with switched_on(folder) as on:
        yield on.port
    findings, _ = read_findings(folder / "findings.jsonl", Places([]))
    # That of the test of a lockup.
    assert {finding.kind for finding in findings} <= {"lockup"}


@pytest.fixture
def debugger(port: VirtualDebugPort) -> Debugger:
    found = Debugger(port)
    found.write(DEMCR, 0)
    found.write(BPU_CTRL, 3)
    for i in range(port.port.breakpoints):
        found.write(BPU_COMP + 4 * i, 0)
    port.reset_by_pin()
    found.halt()
    found.write(DFSR, 0x1F)
    return found


def start(debugger: Debugger, folder: Path, code: str) -> None:
    debugger.load(CODE, assembled(folder, code))
    debugger.start(CODE, STACK)


def test_development_boot_waits_in_the_rom(debugger: Debugger) -> None:
    assert debugger.register(PC) == LOOP
    debugger.run()
    assert not debugger.is_halted
    debugger.halt()
    assert debugger.register(PC) == LOOP


def test_memory_and_registers(debugger: Debugger) -> None:
    words = [0x0101_0101 * i & 0xFFFF_FFFF for i in range(256)]
    debugger.write(DATA, *words)
    assert debugger.read(DATA, 256) == words
    assert Debugger(debugger.port, ap=0).read(DATA, 4) == words[:4]
    again = Debugger(debugger.port)
    for number in (*range(13), 14, 0x21, 0x24, *range(0x40, 0x60)):
        value = 0x1234_0000 + number if number not in (0x21, 0x24) else 0x0080_0000 * (number == 0x21)
        again.set_register(number, value)
        assert again.register(number) == value
    for number in (MSP, PSP, MSPLIM_S, SP):
        again.set_register(number, DATA + 8 * number)
        assert again.register(number) == DATA + 8 * number
    again.set_register(SPECIAL, 0x0400_0001)
    assert again.register(SPECIAL) == 0x0400_0001
    again.set_register(SPECIAL, 0)


def test_the_process_stack_is_that_of_control(debugger: Debugger) -> None:
    debugger.set_register(MSP, DATA)
    debugger.set_register(PSP, DATA + 0x100)
    assert debugger.register(SP) == DATA
    debugger.set_register(SPECIAL, 2 << 24)
    assert debugger.register(SP) == debugger.register(PSP) == DATA + 0x100
    assert debugger.register(MSP) == DATA


def test_a_program_in_ram_runs_to_its_bkpt(debugger: Debugger, tmp_path: Path) -> None:
    start(debugger, tmp_path, COUNTS)
    debugger.wait()
    assert debugger.word(DFSR) == 2
    assert debugger.word(DATA) == debugger.register(0) == 10
    assert debugger.register(PC) == CODE + 0xC


def test_a_breakpoint_halts_before_its_instruction(debugger: Debugger, tmp_path: Path) -> None:
    debugger.load(CODE, assembled(tmp_path, COUNTS))
    debugger.write(BPU_COMP, CODE + 4 | 1)
    debugger.start(CODE, STACK)
    for count in range(3):
        debugger.wait()
        assert (debugger.register(PC), debugger.register(0)) == (CODE + 4, count)
        debugger.write(BPU_COMP, 0)
        debugger.step()
        assert debugger.register(PC) == CODE + 6
        debugger.write(BPU_COMP, CODE + 4 | 1)
        debugger.run()


def test_a_watchpoint_halts_behind_the_access(debugger: Debugger, tmp_path: Path) -> None:
    debugger.load(CODE, assembled(tmp_path, COUNTS))
    debugger.write(DWT_COMP, DATA)
    debugger.write(DWT_COMP + 8, 2 << 10 | 1 << 4 | 5)
    debugger.start(CODE, STACK)
    debugger.wait()
    debugger.write(DWT_COMP + 8, 0)
    assert debugger.word(DFSR) & 4
    assert (debugger.register(PC), debugger.word(DATA)) == (CODE + 8, 1)


def test_steps_go_over_sleep_and_into_functions(debugger: Debugger, tmp_path: Path) -> None:
    debugger.load(CODE, assembled(tmp_path, "wfi\nnop\nbl there\nb .\nthere: bx lr"))
    debugger.set_register(PC, CODE)
    places = []
    for _ in range(4):
        debugger.step(MASKINTS)
        places.append(debugger.register(PC) - CODE)
    assert places == [2, 4, 10, 8]


def test_a_sleeping_core_can_be_halted_and_goes_on(debugger: Debugger, tmp_path: Path) -> None:
    start(debugger, tmp_path, "wfi\nbkpt #0")
    debugger.wait_for(S_SLEEP)
    debugger.halt()
    assert debugger.register(PC) == CODE + 2
    debugger.run()
    debugger.wait()
    assert debugger.word(DFSR) & 2


def test_an_endless_loop_can_be_halted(debugger: Debugger, tmp_path: Path) -> None:
    start(debugger, tmp_path, "b .")
    assert not debugger.is_halted
    debugger.write(DATA, 5)
    assert debugger.word(DATA) == 5
    debugger.halt()
    assert debugger.register(PC) == CODE


def test_a_breakpoint_can_be_set_while_the_program_runs(debugger: Debugger, tmp_path: Path) -> None:
    start(debugger, tmp_path, "again: adds r0, #1\nadds r1, #1\nb again")
    debugger.write(BPU_COMP, CODE + 2 | 1)
    debugger.wait()
    assert debugger.register(PC) == CODE + 2


@pytest.mark.parametrize("caught", [False, True])
def test_a_fault_can_be_caught_at_its_vector(caught: bool, debugger: Debugger, tmp_path: Path) -> None:
    code = f"ldr r0, ={CODE + 0x100:#x}\nldr r1, =0xE000ED08\nstr r0, [r1]\ndsb\nudf #0\nb ."
    debugger.load(CODE, assembled(tmp_path, code))
    debugger.write(CODE + 0x100, STACK, CODE | 1, *[CODE + 0x201] * 14)
    debugger.write(CODE + 0x200, 0xBE00_BF00)
    debugger.write(DEMCR, (1 << 10) * caught)
    debugger.start(CODE, STACK)
    debugger.wait()
    assert debugger.register(XPSR) & 0x1FF == 3
    assert debugger.register(PC) == CODE + (0x200 if caught else 0x202)
    assert debugger.word(DFSR) & (8 if caught else 2)
    assert debugger.word(CFSR) & 1 << 16
    debugger.write(DEMCR, 0)


def test_a_locked_up_core_can_be_halted_and_reset(port: VirtualDebugPort, debugger: Debugger) -> None:
    debugger.write(CODE, 0xDEDE_DEDE)
    debugger.write(0xE000_ED08, 0)
    debugger.start(CODE, STACK)
    debugger.wait_for(S_LOCKUP)
    debugger.halt()
    assert debugger.is_halted
    port.reset_by_pin()
    debugger.halt()
    assert debugger.register(PC) == LOOP


def test_ap1_of_a_closed_chip_stays_closed_in_development_boot(tmp_path: Path) -> None:
    closed = replace(BOARD, fuses=BOARD.soc.rom_fuses.closing)
    with switched_on(tmp_path, closed) as on, pytest.raises(Refused, match="closed: AP1 is closed"):
        Debugger(on.port).word(CPUID)


def test_ap1_is_closed_behind_a_reset_until_the_boot_rom_opens_it(tmp_path: Path) -> None:
    with switched_on(tmp_path, opens_us=1_000_000_000) as on:
        debugger = Debugger(on.port)
        assert debugger.word(CPUID), "at power-on, the ROM is done before a probe connects"
        debugger.write(AIRCR, 0x05FA_0004)
        for address in (CPUID, CODE):
            with pytest.raises(Refused, match="closed: AP1 is closed"):
                debugger.read(address)
            debugger.clear()
        assert Debugger(on.port, 0).word(DBGMCU_SR) == 0x0001_0003
    with switched_on(tmp_path, opens_us=50 * 50) as on:
        on.port.reset_by_pin()
        status = Debugger(on.port, 0)
        polls = [status.word(DBGMCU_SR) for _ in range(50)]
        assert {polls[0], polls[-1]} <= {0x0001_0003, 0x0003_0003}
        assert polls[-1] == 0x0003_0003, "each access takes its time"
        assert Debugger(on.port).word(CPUID)


@pytest.mark.parametrize("frozen", [False, True])
def test_the_watchdog_stands_still_at_a_halt_if_the_probe_says_so(
    frozen: bool, port: VirtualDebugPort, debugger: Debugger, tmp_path: Path
) -> None:
    """The watchdog resets a halted chip, unless the bit is set."""
    debugger.write(RCC_HWRSR, 1 << 16)
    debugger.load(CODE, assembled(tmp_path, "again:\nstr r1, [r0]\nb again"))
    debugger.write(APB4FZ, FREEZE_IWDG if frozen else 0)
    debugger.write(IWDG, 0xCCCC)
    debugger.write(IWDG, 0x5555)
    debugger.write(IWDG + 8, 79)
    debugger.write(IWDG, 0xAAAA)
    for _ in range(400):
        debugger.word(RCC_CR)
    assert debugger.is_halted == frozen
    assert bool(debugger.word(RCC_HWRSR) & WATCHDOG_RESETS) != frozen
    if frozen:
        # It goes on where it was: the program reloads it, and then does not.
        debugger.set_register(0, IWDG)
        debugger.set_register(1, 0xAAAA)
        debugger.start(CODE, STACK)
        debugger.halt()
        assert not debugger.word(RCC_HWRSR) & WATCHDOG_RESETS
        debugger.set_register(1, 0)
        debugger.run()
        debugger.wait_for(S_RESET)
        assert debugger.word(RCC_HWRSR) & WATCHDOG_RESETS


@pytest.mark.parametrize("by", ["pin", "request", "program"])
def test_a_reset_erases_ram_and_is_seen(by: str, port: VirtualDebugPort, debugger: Debugger, tmp_path: Path) -> None:
    debugger.write(AXISRAM1, 7)
    debugger.write(DATA, 7)
    debugger.status()
    debugger.write(DEMCR, 1)
    if by == "pin":
        port.reset_by_pin()
    elif by == "request":
        debugger.write(AIRCR, 0x05FA_0004)
    else:
        debugger.load(CODE, assembled(tmp_path, "ldr r0, =0xE000ED0C\nldr r1, =0x05FA0004\nstr r1, [r0]\ndsb\nb ."))
        debugger.start(CODE, STACK)
    debugger.wait_for(S_RESET)
    debugger.wait()
    assert debugger.word(DFSR) & 8
    assert debugger.register(PC) == LOOP
    assert debugger.word(AXISRAM1) != 7
    assert debugger.word(DATA) == 7
    assert debugger.word(DEMCR) & 1


def test_what_the_chip_refuses_is_a_fault_with_its_reason(debugger: Debugger) -> None:
    for address, reason in (
        (0x2100_0000, "hole"),
        (AXISRAM3, "ram-off"),
        (SYSCFG + 8, "clock-off"),
        (BOARD.nor.base, "nor-not-mapped"),
        (DATA + 1, "size"),
    ):
        with pytest.raises(Refused, match=reason):
            debugger.word(address)
        debugger.clear()
    with pytest.raises(Refused, match="hole"):
        Debugger(debugger.port, ap=0).word(SHCSR)
    Debugger(debugger.port).word(RCC_CR)


def test_registers_of_the_processor_are_those_of_the_security_state(debugger: Debugger) -> None:
    debugger.write(CPACR, 0x00F0_0000)
    assert debugger.word(CPACR) == 0x00F0_0000
    assert Debugger(debugger.port, secure=False).word(CPACR) == 0


def test_the_programs_counter_stands_still_while_it_is_halted(debugger: Debugger) -> None:
    debugger.write(DEMCR, 1 << 24)
    debugger.write(DWT_CTRL, debugger.word(DWT_CTRL) | 1)
    before = debugger.word(CYCCNT)
    for _ in range(20):
        debugger.word(RCC_CR)
    assert debugger.word(CYCCNT) == before


def test_a_program_sees_that_a_debugger_is_there(debugger: Debugger, tmp_path: Path) -> None:
    start(debugger, tmp_path, "ldr r0, =0xE000EDF0\nldr r1, [r0]\nbkpt #0")
    debugger.wait()
    assert debugger.register(1) & 1


def test_flash_boot_closes_the_core_but_not_the_bus(tmp_path: Path) -> None:
    with switched_on(tmp_path, nor=nor_that_says_hello(tmp_path), development=False) as on:
        debugger = Debugger(on.port)
        with pytest.raises(Refused, match="closed"):
            debugger.word(0xE000_ED00)
        assert Debugger(on.port, ap=0).word(0x8000_1000) & 0xFFF == BOARD.soc.device_id


def test_flash_boot_without_an_fsbl_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-PROBE-001") as caught, switched_on(tmp_path, development=False):
        pass
    assert "no FSBL" in caught.value.what


def test_an_emulator_that_is_killed_has_an_error_of_its_own(tmp_path: Path) -> None:
    with switched_on(tmp_path) as on:
        debugger = Debugger(on.port)
        on.process.kill()
        with pytest.raises(N6Error) as caught:
            for _ in range(10):
                debugger.word(DATA)
        assert caught.value.id == on.ended().id == "N6-PROBE-003"
