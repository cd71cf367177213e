"""Programmers of real boards, through their command lines.

The executables answer as the real ones are documented to.
"""

from __future__ import annotations

import io
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.files import sha256
from n6build.base.span import Span
from n6build.board.flash import programmers
from n6build.board.flash.algorithm import FlashAlgorithm
from n6build.board.flash.probe_programmer import ProbeProgrammer, program_timeout_s, read_timeout_s
from n6build.board.flash.probes import PROGRAMMERS, choose_programmer, name_of_programmer
from n6build.board.flash.program import FlashPlan, carry_out, plan_delta
from n6build.board.flash.programmer import RamProgram
from n6build.board.flash.programmers.openocd import openocd_script
from n6build.board.flash.programmers.probe_rs import elf_file
from n6build.board.flash.record import read_record
from n6build.board.flash.sectors import Sector, sectors_of
from n6build.board.flash.survey import checked_identity, held_record
from n6build.board.run.first_cable import cable_steps
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from programmer_stand_ins import probe_rs as probe_rs_words
from programmer_stand_ins.board import BASE, TESTS, Desk, FaultKind, Settings, make_desk

SECTOR = 4096
BOARD = load_board("nucleo-n657")
# If several programmers are installed, the first one is used.
NAMES = tuple(PROGRAMMERS)
SETTINGS = Settings()
_ALGORITHM = FlashAlgorithm(
    Path("nor.FLM"),
    0x3418_0000,
    bytes(8),
    dict.fromkeys(("Init", "UnInit", "EraseSector", "ProgramPage", "Verify", "n6_flash_jedec_id"), 1),
    0x3418_1000,
    0x3418_2000,
    (0x3418_2000, 0x3418_3000),
)


@pytest.fixture(autouse=True)
def _no_other_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'desk/bin'}:/nowhere")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("n6build.board.flash.probe_programmer.OPENS_S", 0)
    # The real algorithm needs a compiler in PATH; tests/probe uses it.
    for name in ("pyocd", "probe_rs"):
        monkeypatch.setattr(f"n6build.board.flash.programmers.{name}.build_algorithm", lambda *_: _ALGORITHM)
    # OpenOCD has no list of its own, so that n6build uses the system's serial ports.
    monkeypatch.setattr("n6build.board.flash.programmers.openocd.list_ports.comports", lambda: [_Port("0041")])


class _Port:
    vid, pid, product = 0x0483, 0x3754, "STLINK-V3"
    device = "/dev/ttyACM0"

    def __init__(self, serial_number: str) -> None:
        self.serial_number = serial_number


@pytest.fixture
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    return make_desk(tmp_path / "desk", SETTINGS, getattr(request, "param", NAMES[0]))


def images(version: int) -> list[Sector]:
    """Return images like an FSBL, an Appli and weights; the middle one never changes."""
    parts = {
        BASE: bytes([version]) * 3000,
        BASE + 0x10000: b"same" * 1000,
        BASE + 0x20000: bytes(range(256)) * 20 + bytes([version, 7]) * 1000 + bytes(range(256)) * 20,
    }
    return sectors_of(list(parts.items()), SECTOR)


def programmer_of(tmp_path: Path, board: Board = BOARD, probe: str = "auto") -> ProbeProgrammer:
    small = replace(board, nor=replace(board.nor, sector=SECTOR))
    programmer = choose_programmer(probe, small, tmp_path / "virtual")
    assert isinstance(programmer, ProbeProgrammer)
    return programmer


def flash(programmer: ProbeProgrammer, wanted: list[Sector]) -> FlashPlan:
    identity = checked_identity(programmer, programmer.board)
    plan = plan_delta(wanted, held_record(wanted, programmer.board.name, programmer, identity))
    carry_out(plan, programmer)
    return plan


def holds(desk: Desk, wanted: list[Sector]) -> bool:
    return all(desk.content(sector.address, len(sector.data)) == sector.data for sector in wanted)


# The choice of the probe.


def test_without_a_programmer_nothing_is_flashed_and_the_virtual_board_is_named(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="nothing was programmed\n.*probe=virtual"):
        programmer_of(tmp_path)
    with pytest.raises(N6Error, match="N6-FLASH-012: cannot look for probe '0042': none of STM32_Programmer_CLI"):
        programmer_of(tmp_path, probe="0042")


@pytest.mark.usefixtures("desk")
def test_without_a_probe_nothing_is_flashed_and_the_virtual_board_is_named(tmp_path: Path, desk: Desk) -> None:
    desk.set(replace(SETTINGS, probes={}))
    with pytest.raises(N6Error, match="finds no debug probe; nothing was programmed\n.*probe=virtual"):
        programmer_of(tmp_path)


def test_of_several_probes_none_is_guessed_and_all_are_listed(tmp_path: Path, desk: Desk) -> None:
    desk.set(replace(SETTINGS, probes={"0042": "STM32N6570-DK", "0043": "NUCLEO-N657X0-Q"}))
    with pytest.raises(N6Error) as error:
        programmer_of(tmp_path)
    assert str(error.value) == (
        "error N6-FLASH-011: 2 probes are attached:\n"
        "  0042  STM32N6570-DK\n"
        "  0043  NUCLEO-N657X0-Q\n"
        "  hint: choose one: probe=0043"
    )


@pytest.mark.usefixtures("desk")
def test_the_only_probe_is_taken_and_a_named_one_must_be_there(tmp_path: Path) -> None:
    assert programmer_of(tmp_path).name == "0041"
    assert programmer_of(tmp_path, probe="stm32cubeprogrammer:0041").name == "0041"
    with pytest.raises(N6Error, match="does not find probe '0043'"):
        programmer_of(tmp_path, probe="0043")
    with pytest.raises(N6Error, match="no programmer 'openocb'\n.*did you mean 'openocd'"):
        programmer_of(tmp_path, probe="openocb:0041")
    with pytest.raises(N6Error, match="openocd is not in PATH"):
        programmer_of(tmp_path, probe="openocd:0041")


def test_a_named_programmer_is_taken_before_the_usual_one(tmp_path: Path) -> None:
    make_desk(tmp_path / "desk", SETTINGS, *PROGRAMMERS)
    taken = {
        probe: name_of_programmer(programmer_of(tmp_path, probe=probe))
        for probe in ("auto", "openocd", "pyocd:auto", "pyocd:0041", "probe-rs", "probe-rs:0041")
    }
    assert taken == {
        "auto": "stm32cubeprogrammer:0041",
        "openocd": "openocd:0041",
        "pyocd:auto": "pyocd:0041",
        "pyocd:0041": "pyocd:0041",
        "probe-rs": "probe-rs:0041",
        "probe-rs:0041": "probe-rs:0041",
    }


def test_a_programmer_has_the_name_of_its_module_and_a_stand_in() -> None:
    folder = Path(programmers.__file__).parent
    assert {path.stem.replace("_", "-") for path in folder.glob("*.py")} - {"--init--"} == set(PROGRAMMERS)
    assert len({each.rank for each in PROGRAMMERS.values()}) == len(PROGRAMMERS)
    stems = [name.replace("-", "_") for name in PROGRAMMERS]
    assert all((TESTS / f"programmer_stand_ins/{stem}.py").is_file() for stem in stems)


# Behaviour of all programmers.


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_a_blank_board_is_programmed_and_afterwards_lacks_nothing(tmp_path: Path, desk: Desk) -> None:
    programmer = programmer_of(tmp_path)
    assert flash(programmer, images(1)).lacking == tuple(images(1))
    assert holds(desk, images(1))
    assert flash(programmer, images(1)).lacking == ()
    changed = images(2)
    assert flash(programmer, changed).lacking == tuple(
        new for new, old in zip(changed, images(1), strict=True) if new != old
    )
    assert holds(desk, changed)


@pytest.mark.slow
@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_a_board_that_was_programmed_on_another_machine_is_read_back(tmp_path: Path, desk: Desk) -> None:
    programmer = programmer_of(tmp_path)
    flash(programmer, images(1))
    programmer.record.unlink()
    assert flash(programmer, images(1)).lacking == ()
    # The record is now out of date.
    middle = images(1)[len(images(1)) // 2]
    desk.overwrite(middle.address, bytes(SECTOR))
    desk.overwrite(BASE, b"\xff" * SECTOR)
    assert {sector.address for sector in flash(programmer, images(1)).lacking} == {BASE, middle.address}
    assert holds(desk, images(1))


@pytest.mark.parametrize(
    ("desk", "kind", "every"),
    # Every run fails at each third step, slow tests at each step. Only ST's programmer was seen to end with 0 after an
    # error.
    [
        *itertools.product(NAMES[:1], ["killed"], [3]),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in itertools.product(NAMES[:1], ["killed", "ignored", "zero", "error"], [1])
        ),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in itertools.product(NAMES[1:], ["killed", "error", "ignored"], [1])
        ),
    ],
    indirect=["desk"],
)
def test_whatever_fails_at_whichever_step_the_next_flash_ends_correct(
    tmp_path: Path, desk: Desk, kind: FaultKind, every: int
) -> None:
    programmer = programmer_of(tmp_path)
    flash(programmer, images(1))
    (desk.folder / "operations").write_text("0")
    flash(programmer, images(2))
    steps = desk.operations()
    assert steps > 20
    failures = 0
    for step in range(0, steps, every):
        version = step % 2 + 1
        desk.fail(step, kind)
        try:
            flash(programmer, images(version))
        except N6Error as error:
            failures += 1
            assert error.hint, error
        else:
            # Either the fault had no effect, or the programmer has made up for it.
            assert holds(desk, images(version)), step
        # The record of the board is true after any fault.
        for address, digest in read_record(programmer.record, BOARD.name).sectors.items():
            assert sha256(desk.content(address, SECTOR)) == digest, (step, hex(address))
        desk.work()
        flash(programmer, images(version))
        assert holds(desk, images(version)), step
    # An ignored access does no harm while the programmer only reads the board. All other faults must show.
    assert failures >= (4 if kind == "ignored" else steps // every // 2)


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_a_probe_that_was_unplugged_is_an_error_with_what_to_do(tmp_path: Path, desk: Desk) -> None:
    programmer = programmer_of(tmp_path)
    desk.set(replace(SETTINGS, probes={}))
    with pytest.raises(N6Error, match="N6-FLASH-016: connecting failed"):
        flash(programmer, images(1))
    with pytest.raises(N6Error, match="N6-FLASH-009: the reset failed"):
        programmer.reset()


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_another_chip_is_not_programmed(tmp_path: Path, desk: Desk) -> None:
    desk.set(replace(SETTINGS, device_id=0x450))
    with pytest.raises(N6Error, match="N6-FLASH-013: the chip has device id 0x450, but stm32n657 has 0x486"):
        flash(programmer_of(tmp_path), images(1))
    assert desk.content(BASE, 16) == b"\xff" * 16


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_a_reset(tmp_path: Path, desk: Desk) -> None:
    programmer_of(tmp_path).reset()
    assert desk.operations() == 2
    desk.fail(0, "error")
    with pytest.raises(N6Error, match="N6-FLASH-009"):
        programmer_of(tmp_path).reset()


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_a_start_in_ram(tmp_path: Path, desk: Desk) -> None:
    program = RamProgram(0x34180400, (0x34190000).to_bytes(4, "little") + (0x34180801).to_bytes(4, "little") + b"code")
    assert (program.stack_pointer, program.entry) == (0x34190000, 0x34180800)
    before = desk.operations()
    programmer = programmer_of(tmp_path)
    programmer.start(program)
    assert (desk.folder / "ram.bin").read_bytes() == program.data
    assert int((desk.folder / "ram.address").read_text(), 16) == program.address
    for step in range(desk.operations() - before):
        desk.fail(step, "error")
        with pytest.raises(N6Error, match="N6-FLASH-009: the start failed"):
            programmer.start(program)


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_no_programmer_ever_erases_the_whole_part_or_writes_fuses(tmp_path: Path, desk: Desk) -> None:
    programmer = programmer_of(tmp_path)
    flash(programmer, images(1))
    programmer.reset()
    words = " ".join(desk.calls()).split()
    assert not {"-e", "all", "-otp", "otp", "chip", "mass_erase", "--erase=chip"} & set(words)
    assert "mass" not in openocd_script(BOARD, "0041", ["n6_open_nor"])


# The way to a board, one step after the other.


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_doctor_walks_from_the_programmer_to_the_console(desk: Desk) -> None:
    def steps() -> dict[str, str]:
        return {step.name: step.seen for step in cable_steps("auto", BOARD)}

    found = steps()
    shows_id = PROGRAMMERS[desk_programmer(desk)].nor_id is not None
    assert list(found) == ["programmer", "probe", "chip", *(["NOR id"] if shows_id else []), "NOR", "console"]
    assert found.get("NOR id", "JEDEC id 0xC2803A, that of MX25UM51245G") == "JEDEC id 0xC2803A, that of MX25UM51245G"
    assert (found["probe"], found["console"]) == ("0041", "/dev/ttyACM0")
    assert found["NOR"] == "erased at the place of the FSBL"
    for content, seen in ((b"STM2", "an image with a boot header at 0x70000000"), (b"text", "no boot header at")):
        desk.overwrite(BASE, content)
        assert steps()["NOR"].startswith(seen)
    assert not any(" -w " in call or " load " in call or "write_image" in call for call in desk.calls())


@pytest.mark.parametrize("desk", NAMES, indirect=True)
def test_doctor_ends_with_the_first_step_that_fails(desk: Desk) -> None:
    def reached(error: str) -> list[str]:
        names: list[str] = []
        with pytest.raises(N6Error, match=error):
            for step in cable_steps("0041", BOARD):
                names.append(step.name)
        return names

    desk.set(replace(SETTINGS, device_id=0x450))
    assert reached("N6-FLASH-013") == ["programmer", "probe"]
    desk.set(SETTINGS)
    desk.overwrite(BASE, bytes(1024))
    shows_id = PROGRAMMERS[desk_programmer(desk)].nor_id is not None
    zeros = reached("N6-FLASH-031: the NOR reads as zeros at 0x70000000")
    assert zeros == ["programmer", "probe", "chip", *(["NOR id"] if shows_id else [])]
    for seen, said in ((0xC2953A, "a part with JEDEC id 0xC2953A answers"), (0xFFFFFF, "no part answers")):
        desk.set(replace(SETTINGS, jedec_id=seen))
        assert reached(f"N6-FLASH-032: {said}" if shows_id else "N6-FLASH-031") == ["programmer", "probe", "chip"]
    (desk.commands / PROGRAMMERS[desk_programmer(desk)].command).unlink()
    assert reached("N6-FLASH-012") == []


def desk_programmer(desk: Desk) -> str:
    """Return the name of the only programmer of a desk."""
    (name,) = (name for name in NAMES if (desk.commands / PROGRAMMERS[name].command).is_file())
    return name


# ST's programmer.


def test_another_board_at_the_probe_is_not_programmed(tmp_path: Path, desk: Desk) -> None:
    programmer = programmer_of(tmp_path)
    desk.set(replace(SETTINGS, probes={"0041": "STM32N6570-DK"}))
    message = r"a STM32N6570-DK, not a NUCLEO-N657X0-Q; nothing was programmed\n.*=stm32n6570-dk"
    with pytest.raises(N6Error, match=message):
        flash(programmer, images(1))
    # A probe without a board of its own does not name the board that it is connected to.
    desk.set(replace(SETTINGS, probes={"0041": "STLINK-V3SET"}))
    flash(programmer_of(tmp_path), images(1))
    assert holds(desk, images(1))


@pytest.mark.parametrize("alias", [BOARD.title, *BOARD.aliases, "something else"])
def test_a_board_is_known_by_any_of_its_names(tmp_path: Path, desk: Desk, alias: str) -> None:
    desk.set(replace(SETTINGS, probes={"0041": alias}))
    flash(programmer_of(tmp_path), images(1))
    assert holds(desk, images(1))


@pytest.mark.parametrize("desk", ["stm32cubeprogrammer", "pyocd"], indirect=True)
def test_another_board_in_the_list_of_probes_is_said_at_once(tmp_path: Path, desk: Desk) -> None:
    desk.set(replace(SETTINGS, probes={"0041": "STM32N6570-DK"}))
    with pytest.raises(N6Error, match="N6-FLASH-014: this is a STM32N6570-DK, not a NUCLEO-N657X0-Q"):
        programmer_of(tmp_path)


def test_time_outs_grow_with_what_is_done() -> None:
    sectors = BOARD.slots.weights.size // BOARD.nor.sector
    for each in PROGRAMMERS.values():
        assert program_timeout_s(sectors, each.seconds_a_sector) > 2 * sectors * each.seconds_a_sector
    assert read_timeout_s([BOARD.slots.weights.size]) > 2000
    assert read_timeout_s([1024, 64]) == 60


def test_a_release_that_reads_once_a_call(tmp_path: Path, desk: Desk) -> None:
    desk.set(replace(SETTINGS, one_read=True))
    programmer = programmer_of(tmp_path)
    flash(programmer, images(1))
    assert programmer.read([Span(BASE, 4), Span(BASE + 0x10000, 4)]) == [b"\x01" * 4, b"same"]
    programmer.record.unlink()
    assert flash(programmer, images(1)).lacking == ()


def test_the_release_that_cannot_erase_is_named(tmp_path: Path, desk: Desk) -> None:
    desk.set(replace(SETTINGS, version="2.20.0"))
    programmer = programmer_of(tmp_path)
    command = desk.commands / "STM32_Programmer_CLI"
    command.write_text("#!/bin/sh\necho '    STM32CubeProgrammer v2.20.0'; echo 'Error: failed to erase memory'\n")
    with pytest.raises(N6Error, match=r"failed to erase memory\n.*use STM32_Programmer_CLI 2\.19, or 2\.21"):
        programmer.program(images(1))


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("Error: failed to erase memory", 0),
        ("File download complete\n" * 3 + "Error: Data mismatch found at address 0x70000000", 0),
        ("File download complete\n" * 2, 0),
        ("File download complete\n" * 3, 1),
    ],
    ids=["an error with status 0", "an error after a success", "a part without a word", "a bad status"],
)
def test_a_download_is_a_failure_after(tmp_path: Path, desk: Desk, output: str, status: int) -> None:
    programmer = programmer_of(tmp_path)
    (desk.commands / "STM32_Programmer_CLI").write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{output}\nEND\nexit {status}\n")
    with pytest.raises(N6Error, match="N6-FLASH-006"):
        programmer.program(images(1))


def test_an_external_loader_that_is_not_there_is_named(tmp_path: Path, desk: Desk) -> None:
    (desk.commands / "ExternalLoader" / BOARD.programmer.external_loader).unlink()
    with pytest.raises(N6Error, match=f"N6-FLASH-005: no external loader '{BOARD.programmer.external_loader}'"):
        programmer_of(tmp_path).program(images(1))


# The other programmers.


@pytest.mark.parametrize("desk", ["pyocd"], indirect=True)
def test_a_list_of_probes_that_is_none(tmp_path: Path, desk: Desk) -> None:
    (desk.commands / "pyocd").write_text("#!/bin/sh\necho '{\"boards\": 3}'\n")
    with pytest.raises(N6Error, match="N6-FLASH-007: the list of probes"):
        programmer_of(tmp_path)


def test_an_openocd_without_a_file_for_the_chip_gets_its_target() -> None:
    """OpenOCD up to 0.12.0 is such a one. tests/probe/test_programmers.py runs it."""
    script = openocd_script(BOARD, "0041", [])
    assert "if { [catch { source [find target/stm32n6x.cfg] }] } {" in script
    assert "target create stm32n6x.cpu cortex_m -dap stm32n6x.dap -ap-num 1" in script


@pytest.mark.parametrize(("probe", "port"), [("pyocd:tcp-5555", 5555), ("openocd:tcp-3335", 3335)])
def test_a_probe_server_of_this_computer_is_not_looked_for(probe: str, port: int, tmp_path: Path) -> None:
    make_desk(tmp_path / "desk", Settings(probes={}), probe.partition(":")[0])
    programmer = programmer_of(tmp_path, probe=probe)
    assert programmer.name == f"tcp-{port}"
    assert name_of_programmer(programmer) == probe


def test_a_programmer_that_knows_no_servers_looks_for_the_name(tmp_path: Path) -> None:
    make_desk(tmp_path / "desk", SETTINGS, "stm32cubeprogrammer")
    with pytest.raises(N6Error, match="N6-FLASH-012"):
        programmer_of(tmp_path, probe="stm32cubeprogrammer:tcp-5555")


def test_openocd_erases_by_the_sector_of_the_board() -> None:
    script = openocd_script(BOARD, "0041", [])
    assert "stmqspi set nor MX25UM51245G 0x4000000 0x100 0x13 0x00 0x12 0xDC 0x10000 0xDC" in script
    small = replace(BOARD, nor=replace(BOARD.nor, sector=4096))
    assert "0x12 0x21 0x1000 0x21" in openocd_script(small, "0041", [])
    odd = replace(BOARD, nor=replace(BOARD.nor, sector=8192))
    with pytest.raises(N6Error, match="N6-FLASH-017"):
        openocd_script(odd, "0041", [])


@pytest.mark.parametrize("desk", ["openocd"], indirect=True)
@pytest.mark.parametrize("serial", ["x; exec touch PWNED", "[exec touch PWNED]", "../../x", "-x", "a\nb"])
def test_what_a_device_calls_itself_is_no_command(
    desk: Desk, serial: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("n6build.board.flash.programmers.openocd.list_ports.comports", lambda: [_Port(serial)])
    for probe in ("auto", f"openocd:{serial}"):
        with pytest.raises(N6Error, match="N6-FLASH-029"):
            programmer_of(tmp_path, probe=probe)
    assert not list(tmp_path.rglob("PWNED"))


# probe-rs, which was never at hand: its stand-in takes the words that its source defines, and no others.

_AT_PROBE_RS = pytest.mark.parametrize("desk", ["probe-rs"], indirect=True)


def answers(desk: Desk, output: str, status: int, called: str = "") -> None:
    """Let probe-rs answer each call that begins with some words, and others as before."""
    real = desk.commands / "probe-rs"
    kept = desk.commands / "kept"
    kept.write_bytes(real.read_bytes())
    kept.chmod(0o755)
    real.write_text(
        f"#!/bin/sh\ncase \"$*\" in '{called}'*) /bin/cat <<'END'\n{output}\nEND\nexit {status};; esac\nexec {kept} \"$@\"\n"
    )


@_AT_PROBE_RS
def test_probe_rs_gets_the_chip_of_the_board_one_probe_and_changed_sectors_only(tmp_path: Path, desk: Desk) -> None:
    programmer = programmer_of(tmp_path)
    flash(programmer, images(1))
    flash(programmer, images(2))
    programmer.reset()
    calls = [call.split()[1:] for call in desk.calls() if call != "probe-rs list"]
    assert {call[0] for call in calls} == {"read", "verify", "download", "reset"}
    for call in calls:
        assert {"--non-interactive", "--protocol", "swd"} <= set(call)
        assert call[call.index("--probe") + 1] == "0483:374e:0041"
        assert call[call.index("--chip") + 1] == "STM32N657"
        assert "--chip-description-path" in call
    assert [call[0] for call in calls].count("download") == 2, "all runs of sectors are in one call"


@_AT_PROBE_RS
@pytest.mark.parametrize(
    ("called", "output", "status", "doing", "error"),
    [
        ("download", "error: unexpected argument '--start' found", 2, "start", "N6-FLASH-009.*\n.*newer than 0.32.0"),
        ("read", "error: unexpected argument '--output' found", 2, "flash", "N6-FLASH-016.*\n.*install probe-rs 0.32"),
        ("read", "Error: Failed to open probe: denied", 1, "flash", "N6-FLASH-016.*\n.*udev rules"),
        ("read", "Error: Probe is already in use", 1, "flash", "N6-FLASH-016.*\n.*close the program"),
        ("reset", "Error: Connecting to the chip was unsuccessful.", 1, "reset", "N6-FLASH-009.*\n.*press the reset"),
        ("download", "Error: An error with the usage of the probe occurred", 1, "flash", "N6-FLASH-006.*\n.*unplug"),
        ("download", "      Erasing  40%", 0, "flash", "N6-FLASH-006.*it printed 'Finished in' 0 of 1 times"),
        ("read", "54001000: 2003", 0, "flash", "N6-FLASH-016.*no device id"),
        ("read", "", 1, "flash", "N6-FLASH-016.*exit status 1, no output"),
    ],
)
def test_a_failure_of_probe_rs_has_its_remedy(
    tmp_path: Path, desk: Desk, called: str, output: str, status: int, doing: str, error: str
) -> None:
    programmer = programmer_of(tmp_path)
    answers(desk, output, status, called)
    with pytest.raises(N6Error, match=error):
        if doing == "start":
            programmer.start(RamProgram(0x34180400, bytes(16)))
        elif doing == "reset":
            programmer.reset()
        else:
            flash(programmer, images(1))


@_AT_PROBE_RS
@pytest.mark.parametrize(
    "output",
    [
        "",
        "The following debug probes were found:",
        "The following debug probes were found:\n[0]: STLink V3 -- 0483:374e:00",
        "[0]: STLink V3 -- 0483:374e:0041 (ST-LINK)",
        "The following debug probes were found:\n[0]: STLink V3 (VID: 0483, PID: 374e, Serial: 0041, StLink)",
    ],
)
def test_a_list_of_probe_rs_that_is_cut_or_of_another_release(tmp_path: Path, desk: Desk, output: str) -> None:
    answers(desk, output, 0, "list")
    with pytest.raises(N6Error, match="N6-FLASH-007: the list of probes is not as probe-rs 0.32 writes it"):
        programmer_of(tmp_path)


@_AT_PROBE_RS
def test_probe_rs_lists_probes_of_all_makers_and_those_without_permission(tmp_path: Path, desk: Desk) -> None:
    lines = (
        "The following debug probes were found:",
        "[0]: STLink V3 -- 0483:374e:0041 (ST-LINK) (inaccessible)",
        "[1]: MCU-LINK -- 1fc9:0143-1:GRA (B) 7 (CMSIS-DAP)",
    )
    answers(desk, "\n".join(lines), 0, "list")
    with pytest.raises(
        N6Error, match=r"2 probes are attached:\n  0041  STLink V3 \(inaccessible\)\n  GRA \(B\) 7  MCU-LINK"
    ):
        programmer_of(tmp_path)
    with pytest.raises(N6Error, match="N6-FLASH-029"):
        programmer_of(tmp_path, probe="probe-rs:GRA (B) 7")


def test_a_use_of_probe_rs_says_that_it_was_never_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_desk(tmp_path / "desk", SETTINGS, *PROGRAMMERS)
    for name, kind in PROGRAMMERS.items():
        programmer_of(tmp_path, probe=name)
        assert ("never tried with the real probe-rs" in capsys.readouterr().out) == (name == "probe-rs")
        assert bool(kind.untried) == (name == "probe-rs")


@given(parts=st.lists(st.tuples(st.integers(0, 0xFFFF_0000), st.binary(max_size=99)), min_size=1, max_size=5))
def test_an_elf_file_for_probe_rs_has_a_section_in_each_segment(parts: list[tuple[int, bytes]]) -> None:
    elf = ELFFile(io.BytesIO(elf_file(parts, ".vector_table")))
    assert [(segment["p_paddr"], segment.data()) for segment in elf.iter_segments()] == parts
    sections = [*elf.iter_sections()][1:-1]
    assert [(section.name, section["sh_addr"], section.data()) for section in sections] == [
        (".vector_table", *part) for part in parts
    ]
    assert (elf["e_machine"], elf["e_type"]) == ("EM_ARM", "ET_EXEC")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("upload", "unrecognized subcommand 'upload'"),
        ("list --probe 0483:374e", "unexpected argument '--probe' found"),
        ("read --chip X b32 0x0 1 2", "unexpected argument '2' found"),
        ("read --chip X b24 0x0 1", "invalid value 'b24'"),
        ("read --chip X b32 0x0", "required arguments were not provided: <WORDS>"),
        ("read --chip X --chip Y b32 0x0 1", "'--chip' cannot be used multiple times"),
        ("download --chip --verify a.elf", "a value is required for '--chip'"),
        ("verify --verify a.elf", "unexpected argument '--verify' found"),
        ("reset --disable-progressbars", "unexpected argument '--disable-progressbars' found"),
        ("download --binary-format srec a", "invalid value 'srec'"),
        ("download --probe 0041 a", "invalid value '0041'"),
    ],
)
def test_the_stand_in_of_probe_rs_refuses_what_clap_refuses(words: str, error: str) -> None:
    with pytest.raises(probe_rs_words.Usage, match=error):
        probe_rs_words.parse(words.split())
