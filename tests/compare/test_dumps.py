"""Pasted dumps of memory: real ones, and every style with any bytes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.judge.compare import dump_text
from n6build.judge.compare.dump_text import Dump, read_dumps

COUNTING = bytes(range(16))


def only(text: str) -> Dump:
    (found,) = read_dumps(text, "log")
    return found


# The shapes come from dumps in public threads and pull requests, the values are our own.
STYLES = {
    # zephyrproject-rtos/zephyr, pull request 19768
    "zephyr": (
        "[00:00:00.131,136] <wrn> net.out: the output:\n"
        "00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f |........ ........\n"
        "41 42                                            |AB\n",
        COUNTING + b"AB",
    ),
    # espressif/esp-idf, issue 1518
    "esp-idf": (
        "D (137) app: 0x3f40b3cc   00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f  |................|\n"
        "D (138) app: 0x3f40b3dc   32 30                                             |20|\n",
        COUNTING + b"20",
    ),
    # project-chip/connectedhomeip, pull request 10209
    "chip": (
        "[1633135518.371745][1194293:1194298] CHIP:SC: ========[output len=016]=========\n"
        "[1633135518.371759][1194293:1194298] CHIP:SC: | 00 01 02 03 04 05 06 07 | 08 09 0A 0B 0C 0D 0E 0F | @ABCDEFG|HIJKLMN\n",
        COUNTING,
    ),
    # zteifel/esphome-gecko, pull request 11: decimal offsets of the first byte and of the end
    "esphome": (
        "net:[I][net:216]: OUT:0000-0008:00 01 02 03 04 05 06 07 \nnet:[I][net:216]: OUT:0008-0016:08 09 0A 0B 0C 0D 0E 0F \n",
        COUNTING,
    ),
    # 100-gdb-tips, "print memory": x/16xb and x/4xw
    "gdb bytes": (
        "(gdb) x/16xb out\n0x34200000:\t0x00\t0x01\t0x02\t0x03\t0x04\t0x05\t0x06\t0x07\n"
        "0x34200008:\t0x08\t0x09\t0x0a\t0x0b\t0x0c\t0x0d\t0x0e\t0x0f\n",
        COUNTING,
    ),
    "gdb words": (
        "0x34200000 <out>:\t0x03020100\t0x07060504\n0x34200008 <out+8>:\t0x0b0a0908\t0x0f0e0d0c\n",
        COUNTING,
    ),
    "gdb print": ("$1 = {0x0, 0x1, 0x2, 0xff <repeats 13 times>}\n", b"\0\1\2" + b"\xff" * 13),
    # KnightOS/z80e, pull request 10
    "z80e": (
        "0000 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F  |................|\n0010 FF FF      |..|\n",
        COUNTING + b"\xff\xff",
    ),
    # tensorflow/tflite-micro, pull request 2659, as Python's hexdump
    "tflite-micro": (
        "0000: 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F  ................\n"
        "0010: 61 62 20 63 64                                   ab cd\n",
        COUNTING + b"ab cd",
    ),
    # probe-rs/probe-rs, pull request 1746: words are numbers
    "probe-rs": ("03020100 07060504\n0b0a0908 0f0e0d0c\n", COUNTING),
    # raspberrypi/pico-tflmicro, issue 1
    "c array": ("const int8_t out[] = {\n  0x00, 0x01, 0x02, 0x03, /* first */\n  0x04, 0x05 };\n", COUNTING[:6]),
    # danielholanda/LeFlow, issue 26
    "a word a line": ("03020100\n0706e504\n0b0a0908\n", struct.pack("<3I", 0x03020100, 0x0706E504, 0x0B0A0908)),
    "openocd": ("0x34200000: 03020100 07060504 0b0a0908 0f0e0d0c \n0x34200010: 13121110 \n", bytes(range(20))),
    "stm32cubeprogrammer": (
        "0x34200000 : 03020100 07060504 0B0A0908 0F0E0D0C\n0x34200010 : 13121110\n",
        bytes(range(20)),
    ),
    "u-boot": ("34200000: 03020100 07060504 0b0a0908 0f0e0d0c    ................\n", COUNTING),
    "words behind an address without a colon": (
        "34200000 03020100 07060504\n34200008 0b0a0908 0f0e0d0c\n",
        COUNTING,
    ),
    "xxd": (
        "00000000: 5446 4c33 0000 ab63  TFL3...c\n00000008: 6162 2063 6420            ab cd \n",
        b"TFL3\0\0\xabcab cd ",
    ),
    "xxd -p": (
        "54464c330001020304050607080910111213\n0102\n",
        bytes.fromhex("54464c3300010203040506070809101112130102"),
    ),
    "hexdump": ("0000000 0100 0302 0504 0706 0908 0b0a 0d0c 0f0e\n0000010 0201\n0000012\n", COUNTING + b"\1\2"),
    "od": ("0000000 0100 0302 0504 0706 0908 0b0a 0d0c 0f0e\n0000020 0201\n", COUNTING + b"\1\2"),
    "hexdump -C with equal lines": (
        "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n"
        "00000030  61 62                                             |ab|\n00000032\n",
        bytes(48) + b"ab",
    ),
    "hexdump -C that ends in equal lines": (
        "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000040\n",
        bytes(64),
    ),
    "arduino's monitor": (
        "12:34:56.789 -> 00 01 02 03 04 05 06 07\n12:34:56.790 -> 08 09 0a 0b 0c 0d 0e 0f\n",
        COUNTING,
    ),
    "decimal offsets": ("0: 00 01 02 03\n4: 04 05 06 07\n8: 08 09 0a 0b\n12: 0c 0d 0e 0f\n", COUNTING),
    "colours": ("\x1b[0;32mI (1) t: 00 01 02 03\x1b[0m\n", COUNTING[:4]),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_dump_of_every_style_is_its_bytes(style: str) -> None:
    text, data = STYLES[style]
    assert only(text).data == data
    assert only("boot at 64 MHz\r\nready\n" + text.replace("\n", "\r\n") + "done in 12 ms\n").data == data


NUMBERS = {
    # tensorflow/tflite-micro, issue 2717
    "one a line": ("Output tensor 3:\n  data[0] = -5\n  data[1] = 7\n  data[2] = 127\n", [-5, 7, 127]),
    # espressif/esp-dl, issue 66
    "commas": ("out1:0.549805,-1.241211,0.169922\n", [0.549805, -1.241211, 0.169922]),
    # 100-gdb-tips: x/16ub
    "gdb unsigned": ("0x34200000: 0 1 2 3 4 5 6 7\n0x34200008: 8 9 10 11 12 13 14 15\n", [*range(16)]),
    "gdb print": ("$1 = {-128, 5, 0 <repeats 3 times>, 3}\n", [-128, 5, 0, 0, 0, 3]),
    "python": ("[[-128 12 127 0]\n [1 2 3 4]]\n", [-128, 12, 127, 0, 1, 2, 3, 4]),
    "c floats": ("const float out[] = {0.5f, -1.0f, 1e-3f};\n", [0.5, -1.0, 0.001]),
    "two digits first": ("10 11 12 13\n-3 4 5 6\n", [10, 11, 12, 13, -3, 4, 5, 6]),
}


@pytest.mark.parametrize("style", NUMBERS)
def test_decimal_numbers_are_numbers(style: str) -> None:
    text, numbers = NUMBERS[style]
    assert [*only(text).numbers] == pytest.approx(numbers)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "took 12 ms at 64 MHz\nepoch 3 done in 1234 cycles\n",
        "add be ad to this\n",
        "CPU 0x12345678 stopped here\n",
        "version 2024\n",
        "n6 done runs=3\n",
    ],
)
def test_sentences_are_no_dumps(text: str) -> None:
    assert read_dumps(text, "log") == []


def test_dumps_end_where_another_begins() -> None:
    output = "Output {0}: 0{0} 01 02 03\n"
    assert [dump.data[0] for dump in read_dumps(output.format(0) + output.format(1), "log")] == [0, 1]
    again = "0000: 00 01 02 03\n0004: 04 05 06 07\n"
    assert [(dump.first_line, dump.last_line) for dump in read_dumps(again + again, "log")] == [(1, 2), (3, 4)]
    far = "0x34200000: 0x01 0x02\n0x34300000: 0x03 0x04\n"
    assert [dump.data for dump in read_dumps(far, "log")] == [b"\1\2", b"\3\4"]


def test_a_line_of_another_task_does_not_end_a_dump_with_addresses() -> None:
    assert only("0000: 00 01 02 03\nuart: overrun\n0004: 04 05 06 07\n").data == COUNTING[:8]


def test_lines_that_are_missing_are_said_and_not_filled_in() -> None:
    lost = only("00000000: 00 01 02 03\n00000004: 04 05 06 07\n00000010: 05 06 07 08\n")
    assert lost.missing == "line 3 goes from 00000004 to 00000010"


def test_the_label_is_in_front_of_the_values_or_above_them() -> None:
    assert only("logits: 00 01 02 03\n").label == "logits:"
    assert only("logits of frame 3\n00 01 02 03\n").label == "logits of frame 3"


def test_values_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_text, "_MOST_VALUES", 9_000)
    with pytest.raises(N6Error, match="N6-CAPTURE-002: has more than"):
        read_dumps("0 <repeats 1000 times>, 1\n" * 9, "log")
    with pytest.raises(N6Error, match="log:3: error N6-CAPTURE-002: has more than 67,108,864 bytes"):
        read_dumps("00000000: " + "00 " * 16 + "\n*\nFFFFFFF0: 00\n", "log")


# Each style is a writer of dumps: any bytes that it writes are read again.


@dataclass(frozen=True)
class Style:
    """A style of dumps.

    Attributes:
        line: Function of (address, data) that returns a line.
        size: Bytes of a line.
    """

    name: str
    size: int
    line: Callable[[int, bytes], str]


def letters(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def words(data: bytes, size: int, order: str = "<") -> list[str]:
    kind = {2: "H", 4: "I"}[size]
    return [f"{word:0{2 * size}x}" for (word,) in struct.iter_unpack(f"{order}{kind}", data)]


WRITERS = [
    Style("zephyr", 16, lambda _, data: f"{data[:8].hex(' ')}  {data[8:].hex(' ')}".ljust(49) + f"|{letters(data)}"),
    Style("esp", 16, lambda at, data: f"I (99) t: 0x{0x3FFB0000 + at:08x}   {data.hex(' '):47}  |{letters(data)}|"),
    Style(
        "hexdump -C", 16, lambda at, data: f"{at:08x}  {data[:8].hex(' ')}  {data[8:].hex(' '):24} |{letters(data)}|"
    ),
    Style("xxd", 16, lambda at, data: f"{at:08x}: {data.hex(' ', -2):39}  {letters(data)}"),
    Style("tflm", 16, lambda at, data: f"{at:04X}: {data.hex(' ').upper():48} {letters(data)}"),
    Style(
        "gdb", 8, lambda at, data: f"0x{at + 0x34200000:x} <out+{at}>:\t" + "\t".join(f"0x{byte:02x}" for byte in data)
    ),
    Style("mdw", 32, lambda at, data: f"0x{at + 0x34200000:08x}: " + " ".join(words(data, 4)) + " "),
    Style("xw", 16, lambda at, data: f"0x{at + 0x34200000:x}:\t" + "\t".join(f"0x{word}" for word in words(data, 4))),
    Style("C", 12, lambda _, data: "  " + ", ".join(f"0x{byte:02x}" for byte in data) + ","),
    Style("plain", 16, lambda _, data: data.hex(" ")),
]


@pytest.mark.parametrize("style", WRITERS, ids=lambda style: style.name)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_bytes_in_any_style_come_back(style: Style, data: st.DataObject) -> None:
    whole = style.name in ("mdw", "xw", "zephyr", "xxd", "hexdump -C")
    size = st.integers(1, 6).map(lambda lines: lines * style.size)
    written = data.draw(size.flatmap(lambda count: st.binary(min_size=count, max_size=count)))
    if not whole:
        written = written + data.draw(st.binary(max_size=style.size - 1))
    lines = [style.line(at, written[at : at + style.size]) for at in range(0, len(written), style.size)]
    found = read_dumps("\n".join(["boot", *lines, "done."]), "log")
    read = b"".join(dump.data or np.array(dump.numbers, np.uint8).tobytes() for dump in found)
    if style.name == "plain" and all(token.isdecimal() for line in lines for token in line.split()):
        return
    assert read == written, found


@pytest.mark.parametrize("text", ["out = [0, 10]", "out = [0.5, 10]", "[0, 10]", "out=[0, 10, 20, 30]", "(1, 99);"])
def test_numbers_of_two_digits_in_brackets_are_decimal(text: str) -> None:
    (dump,) = read_dumps(f"{text}\n", "log")
    assert dump.numbers == tuple(map(float, re.findall(r"[\d.]+", text)))


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2, max_size=40), st.integers(1, 9))
def test_any_floats_come_back(values: list[float], width: int) -> None:
    rows = [values[start : start + width] for start in range(0, len(values), width)]
    text = "out = [" + ",\n".join(", ".join(f"{value:.9g}" for value in row) for row in rows) + "]\n"
    found = [number for dump in read_dumps(text, "log") for number in dump.numbers or dump.data]
    if len(rows[-1]) > 1:
        assert np.array_equal(np.array(found, np.float32), np.array(values, np.float32)) or all(
            float(value).is_integer() and 10 <= abs(value) < 100 for value in values
        )


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    for dump in read_dumps(text, "log"):
        assert 1 <= dump.first_line <= dump.last_line
        assert bool(dump.data) != bool(dump.numbers)
