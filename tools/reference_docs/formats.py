"""The pages about formats that C and Python share, and about JSON files.

They are made from the code that writes and reads them.
"""

from __future__ import annotations

from n6build.base.c_format import Enumeration, Format, Struct
from n6build.base.line_format import KINDS
from n6build.base.members import members
from n6build.board.run.session import Outcome
from n6build.check.run import Result
from n6build.describe.formats import console
from n6build.engine.plan import FORMAT
from n6build.engine.step import Step
from n6build.place.image.manifest import FlashManifest
from n6build.place.memory_plan.plan import MemoryPlan

from reference_docs.markdown import code, page, table, text
from reference_docs.schema import key_table

_HEAD = """\
What n6build writes for others to read. Numbers in structs are little endian, and nothing lies between members. JSON is written
with sorted keys, and is the same for equal input on any machine."""

# Each entry is a file, its dataclass, and the text before its keys.
JSON = (
    (
        "flash_manifest.json",
        FlashManifest,
        "The contents of the flash. A programmer, an IDE or a production line needs nothing else; `scons hex` "
        "writes the same as one Intel hex file.",
    ),
    (
        "memory_plan.json",
        MemoryPlan,
        "Needs of an application's networks: the RAM to power, the weights to copy, the pools in use.",
    ),
    ("checks.json", Result, "A list with an entry for each of the [checks](checks.md)."),
    (
        "run.json",
        Outcome,
        "Results of a run: compared outputs, cycles (on the virtual board, instructions), work of the NPU. "
        "`run.xml` beside it is JUnit.",
    ),
)


_CONSOLE = """\
This page is for you if you write your own Appli or FSBL, or a program that reads the console: after it your Appli can print
lines that n6build reads, and you know every line of n6build's programs. For example, from these lines in a
[captured console](../compare.md) n6build takes the output of an inference:

    n6 appli start clock=600000000
    n6 run 0 output 0 80817f
    n6 run 0 cycles=1320
    n6 done runs=1

Write a line of the tables with single spaces, and end it with a line break. A word in braces is a value: `{run:number}` is a
number with the name `run`, `{slot:a|b}` is `a` or `b`. You may leave out words in square brackets. You may add words such as
`volts=3`: n6build skips words with `=` that it does not know. All text that does not begin with `n6 ` is for people.

In C, include `n6_console_lines.h`, which every build writes to the include folder of the board:

    N6_LINE(run_cycles, .run = 0, .cycles = 1320);"""


def console_page() -> str:
    """Return the page with the lines of the console."""
    kinds = table(("value", "form"), [(code(name), text(kind.said)) for name, kind in KINDS.items()])
    rows = [(code(line.name), code(line.template), text(line.note)) for line in console.FORMAT.lines]
    return page("Console lines", _CONSOLE, kinds, "## All lines", table(("name in C", "line", "meaning"), rows))


def formats_page() -> str:
    """Return the page with every format shared by C and Python, and the JSON files."""
    json = [part for name, kind, said in JSON for part in (f"## {name}", said, key_table(kind))]
    plan = (
        "`scons plan` and `n6build plan --write FILE` write it: `format` (an integer, "
        f"today {FORMAT}), `goals` (names of targets, each with its files) and `steps`, a list. Fields of a step that have "
        "their default are left out."
    )
    structs = [
        part
        for each in members("n6build.describe.formats.*", "FORMAT", Format)
        if not each.lines
        for part in _format(each)
    ]
    return page("Formats", _HEAD, *json, "## plan.json", plan, key_table(Step), *structs)


def _format(each: Format) -> list[str]:
    # A comment of C may hold a drawing.
    said = "\n".join(line if line.startswith("    ") else text(line) if line else "" for line in each.text)
    constants = table(
        ("constant", "value", "meaning"),
        [(code(one.name), code(_number(one.value)), text(one.note)) for one in each.constants],
    )
    return [
        f"## {each.header}",
        said,
        *(part for struct in each.structs for part in _struct(struct)),
        constants,
        *(_enumeration(one) for one in each.enumerations),
    ]


def _struct(struct: Struct) -> list[str]:
    rows, offset = [], 0
    for member in struct.members:
        kind = f"{member.kind}[{member.count}]" if member.count else member.kind
        rows.append((f"0x{offset:02X}", code(member.name), code(kind), text(member.note)))
        offset += member.size
    return [
        f"{code(struct.name)}, {struct.size} bytes. {text(struct.note)}".strip(),
        table(("offset", "member", "type", "meaning"), rows),
    ]


def _enumeration(each: Enumeration) -> str:
    rows = [
        (code(f"{each.prefix}{value.name}"), code(str(value.value)), text(each.notes.get(value.name, "")))
        for value in each.values
    ]
    return table((code(each.name), "value", "meaning"), rows)


def _number(value: int) -> str:
    return str(value) if value < 1024 else f"0x{value:08X}"
