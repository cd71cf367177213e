"""The NOR's commands in indirect mode: answers, effects and durations."""

from __future__ import annotations

from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.board.virtual_board.board_values import parameter_tables
from n6build.board.virtual_board.run import Limits, RunResult

from virtual_board.small_programs import boot_program

PROGRAM = Path(__file__).parent / "programs" / "nor_commands.c"
TABLES = parameter_tables(BOARD.nor_commands, BOARD.nor.size)
OFFSET = 0x200000
CONTENT = bytes.fromhex("01020304")


def run(tmp_path: Path, do: str, *, keeps: bool = False) -> RunResult:
    more = {BOARD.nor.base + OFFSET: CONTENT, BOARD.nor.base + OFFSET + 0x1000: CONTENT}
    return boot_program(
        tmp_path, "nor_commands.c", f"DO={do}", f"COUNT={len(TABLES)}u", more=more, limits=Limits(), keeps_writes=keeps
    )


def values(result: RunResult) -> dict[str, str]:
    assert result.lines[-1] == "end"
    return dict(line.split("=0x") for line in result.lines if "=0x" in line)


def test_the_parameter_tables_are_one_reply_of_any_length(tmp_path: Path) -> None:
    result = run(tmp_path, "PARAMETERS")
    words = [line.removeprefix("sfdp=0x") for line in result.lines if line.startswith("sfdp=")]
    assert b"".join(int(word, 16).to_bytes(4, "little") for word in words) == TABLES
    assert "not busy" not in result.lines
    assert values(result)["status"] == "00000002"  # The NOR is complete and idle, and nothing is left.
    assert result.findings == ()


def test_every_read_command_reads_in_its_mode_only(tmp_path: Path) -> None:
    result = run(tmp_path, "READS")
    read = values(result)
    ones = {"0c without cycles": "ffffffff"}
    assert read == dict.fromkeys(read, "04030201") | ones | {"ee swapped": "03040102"}
    assert result.findings == ()


def test_what_no_part_answers_reads_as_ones(tmp_path: Path) -> None:
    read = values(run(tmp_path, "IDENTIFY"))
    assert read == {"id": "3a3a80c2", "unknown": "ffffffff", "configuration": "00000007"}


def test_a_program_erases_and_programs_its_flash_and_reads_it_back(tmp_path: Path) -> None:
    result = run(tmp_path, "ERASE_AND_PROGRAM")
    assert values(result) == {
        "erasing": "00000001",
        "erased": "ffffffff",
        "beyond": "04030201",
        "programming": "00000001",
        "last of page": "2211ffff",
        "first of page": "ffff4433",
        "mapped": "2211ffff",
    }
    assert result.findings == ()
    assert (tmp_path / "nor.bin").read_bytes()[OFFSET : OFFSET + 4] == CONTENT


def test_the_file_keeps_it_if_asked_to(tmp_path: Path) -> None:
    run(tmp_path, "ERASE_AND_PROGRAM", keeps=True)
    kept = (tmp_path / "nor.bin").read_bytes()
    assert kept[OFFSET : OFFSET + 0x100] == bytes.fromhex("3344") + b"\xff" * 252 + bytes.fromhex("1122")
    assert kept[OFFSET + 0x1000 : OFFSET + 0x1004] == CONTENT


def test_both_edges_program_pairs_of_bytes_in_their_order(tmp_path: Path) -> None:
    result = run(tmp_path, "PROGRAM_OCTAL")
    assert values(result) == {"id": "8080c2c2", "word": "44332211"}
    assert result.findings == ()


@pytest.mark.parametrize(
    ("do", "kind", "text", "word"),
    [
        (
            "OVERWRITE",
            "nor-write",
            "0x70200000 in the NOR is programmed without an erase, and holds 0x01 now: erase it first",
            "00030201",
        ),
        ("NOT_ENABLED", "nor-write", "The NOR ignores the command 0x12: it is not enabled to write", "04030201"),
        ("READ_WHILE_BUSY", "nor-busy", "The NOR ignores the command 0x13: it is busy with erasing", "ffffffff"),
    ],
)
def test_what_the_part_does_not_do_is_named(tmp_path: Path, do: str, kind: str, text: str, word: str) -> None:
    result = run(tmp_path, do)
    (finding,) = result.findings
    assert (finding.kind, finding.text) == (kind, text)
    assert finding.where.startswith(("firmware/bring_up/n6_xspi.c:", "tests/virtual_board/programs/nor_commands.c:"))
    assert values(result)["word"] == word


def test_a_window_on_a_busy_part_reads_ones_until_it_is_done(tmp_path: Path) -> None:
    result = run(tmp_path, "MAP_WHILE_BUSY")
    (finding,) = result.findings
    assert finding.text == "Read of the NOR at 0x70201000 gives ones: it is busy with erasing"
    assert values(result) == {"word": "ffffffff", "later": "04030201"}


def test_automatic_polling_wakes_a_sleeping_processor_when_the_erase_is_done(tmp_path: Path) -> None:
    result = run(tmp_path, "WAIT_FOR_MATCH")
    assert values(result) == {
        "polling": "00000020",  # BUSY is set.
        "pending": "00000001",
        "matched": "00000008",  # SMF is set, and BUSY is clear.
        "cleared": "00000000",
    }
    (line,) = [line for line in result.lines if line.startswith("us=")]
    assert abs(int(line.removeprefix("us=")) - BOARD.nor_commands.busy_us.erase_4k) < 100
    assert result.findings == ()


def test_a_register_is_written_with_its_address_as_data(tmp_path: Path) -> None:
    assert values(run(tmp_path, "REGISTER_AS_DATA")) == {"register": "00000007", "enabled": "00000000"}


def test_the_controller_says_what_it_is_doing(tmp_path: Path) -> None:
    assert values(run(tmp_path, "STATUS_OF_CONTROLLER")) == {
        "before": "00000004",  # FTF is set: there is room for data, and nothing has begun.
        "between": "00000024",  # BUSY is set.
        "after": "00000006",  # TCF is set.
        "cleared": "00000004",
        "aborted": "00000006",
    }


def test_an_address_beyond_the_part_is_a_transfer_error(tmp_path: Path) -> None:
    result = run(tmp_path, "OUT_OF_PART")
    assert values(result) == {"status": "00000001"}
    (finding,) = result.findings
    assert (finding.kind, finding.text) == (
        "xspi-size",
        "XSPI2 refuses a transfer at 0x100000: it knows a part of 0x100000 bytes (DCR1 DEVSIZE)",
    )


def test_registers_stay_on_the_lines_for_both_edges_and_the_array_does_not(tmp_path: Path) -> None:
    result = run(tmp_path, "ONE_EDGE")
    assert values(result) == {"status": "00000000", "enabled": "00000202", "id": "003a80c2", "word": "ffffffff"}
    (finding,) = result.findings
    assert finding.text == "The NOR moves the data of the command 0xEE at both edges, the controller at one (CCR DDTR)"


def test_a_command_that_does_not_reach_the_part_has_a_cause(tmp_path: Path) -> None:
    result = run(tmp_path, "UNHEARD")
    assert values(result) == {"id": "00ffffff"}
    (finding,) = result.findings
    assert (finding.kind, finding.text) == (
        "nor-mode",
        "The NOR does not receive a command whose answer is read: the pads have no supply (PWR SVMCR3 VDDIO3SV)",
    )


def test_an_erase_can_be_suspended(tmp_path: Path) -> None:
    result = run(tmp_path, "SUSPEND")
    assert values(result) == {"suspended": "00000000", "word": "04030201", "resumed": "00000001"}
    assert result.findings == ()


def test_a_part_that_left_single_line_mode_tells_its_status_there_a_little_longer(tmp_path: Path) -> None:
    assert values(run(tmp_path, "STATUS_AFTER_MODE")) == {"at once": "00000000", "later": "000000ff"}


def test_a_part_that_sleeps_hears_nothing_but_its_waking(tmp_path: Path) -> None:
    assert values(run(tmp_path, "SLEEP")) == {"asleep": "ffffffff", "awake": "04030201"}


def test_a_clock_above_the_part_s_limit_is_not_understood(tmp_path: Path) -> None:
    result = run(tmp_path, "TOO_FAST")
    assert values(result) == {"id": "00ffffff"}
    (finding,) = result.findings
    assert finding.kind == "nor-clock"
    assert "200000000 Hz are too fast for the part: the command takes 133000000" in finding.text
