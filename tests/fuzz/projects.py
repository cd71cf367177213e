"""Files of a project that embeds n6build, and texts of its options."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from n6build.application.generated_block import replace_block, replace_defines, replace_section
from n6build.hardware.boards import load_board
from n6build.options.choices import Choices
from n6build.options.option import Setting
from n6build.options.until import parse_until
from n6build.reloc.slots import slots_at
from n6build.report.editor_files import EntryList, merged

from fuzz.target import Target

BOARD = load_board("nucleo-n657")
_ENTRIES = [EntryList("tasks", "label", [{"label": "ours", "args": ["a"]}])]
_SOURCE = b"""/* @GENERATED CODE START */
int old;
/* @GENERATED CODE STOP */
#define NN_WIDTH (224) /* of the input */
__attribute__((section(".nn_buffer_AXISRAM3"))) char buffer[4];
"""


def _source(data: bytes, folder: Path) -> None:
    replace_block(data, "int new;\n", "app.c")
    replace_defines(data, {"NN_WIDTH": "96"}, "app.c")
    replace_section(data, "nn_buffer", "AXISRAM4", "app.c")


def _until(data: bytes, folder: Path) -> None:
    parse_until(Setting(data.decode("utf-8", "replace"), "command line", "until"))


def _count(data: bytes, folder: Path) -> None:
    runs = next(each for each in dataclasses.fields(Choices) if each.name == "runs").metadata
    (option,) = runs.values()
    option.parse(Setting(data.decode("utf-8", "replace"), "command line", "runs"), folder)


PROJECTS = (
    Target(
        "VS Code's files",
        lambda: [b'{"version": "2.0.0", "tasks": [{"label": "mine", "x": {"a": [1.5, null]}}]}'],
        lambda data, _: merged(data, "tasks.json", "2.0.0", _ENTRIES),
    ),
    Target("generated block", lambda: [_SOURCE], _source),
    Target("runs=", lambda: [b"100"], _count),
    Target("until=", lambda: [b"symbol:main", b"address:0x34000400", b"instructions:2_000_000_000"], _until),
    Target(
        "addresses=",
        lambda: [b"0x71000000,0x71800000"],
        lambda data, _: slots_at(BOARD, data.decode("utf-8", "replace"), split=True),
    ),
)
