"""The lines that C writes are those that Python reads."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

import pytest
from firmware_build import headers
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.line_format import Field, Line
from n6build.base.paths import FIRMWARE
from n6build.describe.formats import console

LINES = console.FORMAT.lines
# The console of the firmware, on standard output.
PROGRAM = r"""
#include "n6_console_lines.h"
#include <stdio.h>

void n6_put(const char *text) { fputs(text, stdout); }
void n6_put_u32(uint32_t value) { printf("%u", value); }
void n6_put_hex32(uint32_t value) { printf("0x%08x", value); }
void n6_put_end(void) { fputs("\n", stdout); }
void n6_put_bytes(const uint8_t *data, uint32_t count)
{
    while (count-- != 0u) printf("%02x", *data++);
}

int main(void)
{
"""


def value_of(field: Field, number: int) -> tuple[str, str]:
    """Return members of the C struct with a value, and the value on the line."""
    if field.choices:
        at = number % len(field.choices)
        return f".{field.name} = {at}u", field.choices[at]
    return {
        "number": (f".{field.name} = {number}u", str(number)),
        "hex": (f".{field.name} = {number}u", f"0x{number:08x}"),
        "word": (f'.{field.name} = "w{number}"', f"w{number}"),
        "bytes": (f'.{field.name} = (const uint8_t *)"\x01\\xff", .{field.name}_bytes = 2u', "01ff"),
        "text": (f'.{field.name} = "a b=", .{field.name}_of = "c{number}"', f"a b=c{number}"),
    }[field.kind]


def call(line: Line, number: int, *, full: bool) -> tuple[str, dict[str, str]]:
    """Return a call of the C function, and the values that Python has to read."""
    members, values = [], {}
    for group in line.groups:
        if group.is_optional and not full:
            continue
        if group.is_optional and group.condition[0]:
            members.append(f".{group.condition[0]} = true")
        for word in group.words:
            if word.field:
                member, values[word.name] = value_of(word.field, number + len(members))
                members.append(member)
            elif group.is_optional:
                values[word.name] = word.literal
    written = f"N6_LINE({line.name}, {', '.join(members)});" if line.fields else f"n6_line_{line.name}();"
    return written, values


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[str, dict[str, str]]]:
    """Run C functions of all lines, with and without their optional words."""
    folder = tmp_path_factory.mktemp("console")
    calls = {
        f"{line.name} {'full' if full else 'short'}": call(line, 7 * number, full=full)
        for number, line in enumerate(LINES)
        for full in (True, False)
    }
    (folder / "a.c").write_text(PROGRAM + "\n".join(written for written, _ in calls.values()) + "\nreturn 0;\n}\n")
    paths = [f"-I{headers(folder / 'include')}", f"-I{FIRMWARE / 'bring_up'}"]
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"]
    subprocess.run(["gcc", *flags, *paths, "a.c", "-o", "a"], cwd=folder, check=True)
    said = subprocess.run([folder / "a"], capture_output=True, text=True, check=True).stdout
    lines = [line for line in said.replace("\r", "").splitlines() if line]
    return {name: (line, values) for (name, (_, values)), line in zip(calls.items(), lines, strict=True)}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_python_reads_what_c_writes(line: Line, printed: Mapping[str, tuple[str, dict[str, str]]]) -> None:
    for length in ("full", "short"):
        text, values = printed[f"{line.name} {length}"]
        assert line.read(text) == values
        assert text.startswith(line.head)
        assert line.name == "blob_error" or line.read(f"{text} volts=3") is not None


def test_no_two_lines_are_mistaken_for_each_other(printed: Mapping[str, tuple[str, dict[str, str]]]) -> None:
    """The general lines ERROR and FAULT also read the special ones."""
    general = {("error", "blob_error"), ("fault", "hard_fault"), ("fault", "exception")}
    for name, (text, _) in printed.items():
        readers = {line.name for line in LINES if line.read(text) is not None}
        own = name.split()[0]
        assert {(reader, own) for reader in readers if reader != own} <= general, text


def test_the_bytes_are_those_of_boards_in_the_field(printed: Mapping[str, tuple[str, dict[str, str]]]) -> None:
    """Third-party programs read these lines, too."""
    shown = {name: text for name, (text, _) in printed.items()}
    assert shown["run_output full"].endswith(" 01ff")
    assert console.FSBL_NOR.read("n6 fsbl nor id=0x00c2803a mode=opi-dtr clock=50000000 slow-pads") == {
        **{"id": "0x00c2803a", "mode": "opi-dtr", "clock": "50000000", "slow_pads": "slow-pads"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "n6 run 0 cycles=",
        "n6 run 0 cycles=12a",
        "n6 run 0 cycles=12 more",
        "n6 run -1 cycles=12",
        "n6  run 0 cycles=12",
        f"n6 run 0 cycles={10**19}",
        "n6 run 0 output 0 12",
        "n6 runs 0 cycles=12",
        "n6 run",
        "",
    ],
)
def test_a_damaged_line_is_no_line(text: str) -> None:
    assert console.RUN_CYCLES.read(text) is None


def test_a_reader_may_need_fewer_words_than_a_program_writes() -> None:
    text = "n6 model keyword slot=b revision=7 mode=copy ok"
    assert console.MODEL.read(text) is None
    values = console.MODEL.read(text, "slot", "revision")
    assert values is not None
    assert (values["name"], values["slot"], values["revision"]) == ("keyword", "b", "7")
    assert console.MODEL.read(text, "slot", "crc") is None


@given(st.sampled_from(LINES), st.text(alphabet="n6 runabc=0123456789x\x00ÿ[{", max_size=60))
def test_garbage_is_read_whole_or_not_at_all(line: Line, text: str) -> None:
    values = line.read(f"{line.head} {text}")
    needed = {word.name for group in line.groups if not group.is_optional for word in group.words if word.field}
    assert values is None or needed <= {*values}
