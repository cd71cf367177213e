"""The steps that each kind of change runs, and those whose outputs really change.

    .venv/bin/python tools/rebuilds.py [WORD...]        prints the tables of docs/rebuilds.md; WORD: only changes with it

Works in a temporary copy of the project, which is built once; each change is made in a copy of that. Fails if a step runs
without a need and without one of `REASONS`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tflite
from benchmarks.measure import copied_project

BUILD = ("board=nucleo-n657", "model=miniresnet", "probe=virtual", "build", "flash")
_LEDGER = Path("build/.n6build/ledger.jsonl")
_AT_A_TIME = 2
# The sizes of a tensor are a vector as well, of at most this number of bytes.
_MOST_AXES = 4 * 8

Edit = Callable[[Path], None]


@dataclass(frozen=True)
class Change:
    """A change of a project.

    Attributes:
        make: Makes it in the project's folder.
        prepare: Made and built before it; None for nothing.
    """

    name: str
    make: Edit
    prepare: Edit | None = None


# A step with unchanged outputs may run for these reasons, by its verb.
REASONS = {
    "Bill": "it lists the contents of the linker maps",
    "Check": "it rejects outdated data",
    "Compile": "only the compiler knows whether a source text has an effect",
    "Header": "only Jinja knows the result of a template",
    "Headers": "an edited C file may include other headers",
    "Image": "the program file has changed, at least its debug information",
    "Lacking": "it lists the sectors that differ on the board",
    "Link": "an object file or a linker script has changed, even if the program has not",
    "Manifest": "it rejects images that do not fit into their slots",
    "Network": "only the network compiler knows its use of the model file",
    "Notices": "it lists the contents of the linker maps",
    "Plan": "it rejects images that do not fit into their slots",
    "Sizes": "only the program has the sizes of its sections",
    "Weights": "the plan contains their network",
}


@dataclass(frozen=True)
class Ran:
    """A step that ran.

    Attributes:
        step: Its verb, and its first output below the board's folder.
        changed: Whether any of its outputs changed.
    """

    step: str
    changed: bool


def replaced(file: str, old: str, new: str) -> Edit:
    """Return an edit that replaces a text, which the file must have."""

    def edit(root: Path) -> None:
        path = root / file
        text = path.read_text()
        if old not in text:
            raise SystemExit(f"{file} has no {old!r}")
        path.write_text(text.replace(old, new, 1))

    return edit


def in_turn(*edits: Edit) -> Edit:
    """Return several edits as one."""

    def edit(root: Path) -> None:
        for each in edits:
            each(root)

    return edit


def appended(file: str, text: str) -> Edit:
    """Return an edit that appends a text to a file."""

    def edit(root: Path) -> None:
        with (root / file).open("a") as opened:
            opened.write(text)

    return edit


def moved_to_the_end(file: str, line: str) -> Edit:
    """Return an edit that moves a line of a YAML file, to change the order of keys."""

    def edit(root: Path) -> None:
        path = root / file
        text = path.read_text()
        if text.count(line) != 1:
            raise SystemExit(f"{file} has {line!r} {text.count(line)} times")
        path.write_text(text.replace(line, "") + line)

    return edit


def npy_bit(file: str) -> Edit:
    """Return an edit that changes the lowest bit of the first number of an array."""

    def edit(root: Path) -> None:
        values = np.load(root / file)
        values.reshape(-1).view(np.uint8)[0] ^= 1
        np.save(root / file, values)

    return edit


def model_byte(model: str, where: Callable[[bytes], int]) -> Edit:
    """Return an edit of one bit of a .tflite file, and of its digest in model.yaml.

    `where` returns the offset of the byte.
    """

    def edit(root: Path) -> None:
        path = root / f"models/{model}/{model}.tflite"
        data = bytearray(path.read_bytes())
        before = hashlib.sha256(data).hexdigest()
        data[where(bytes(data))] ^= 1
        path.write_bytes(data)
        replaced(f"models/{model}/model.yaml", before, hashlib.sha256(data).hexdigest())(root)

    return edit


def a_weight(data: bytes) -> int:
    """Return the offset of the last byte of the largest buffer."""
    file = tflite.Model.GetRootAs(data, 0)
    largest = max((file.Buffers(index) for index in range(file.BuffersLength())), key=lambda each: each.DataLength())
    return int(data.index(largest.DataAsNumpy().tobytes()) + largest.DataLength() - 1)


def a_bias(data: bytes) -> int:
    """Return the offset of the first byte of the first vector of int32."""
    file = tflite.Model.GetRootAs(data, 0)
    graph = file.Subgraphs(0)
    for tensor in (graph.Tensors(index) for index in range(graph.TensorsLength())):
        buffer = file.Buffers(tensor.Buffer())
        if tensor.Type() == tflite.TensorType.INT32 and tensor.ShapeLength() == 1 and buffer.DataLength() > _MOST_AXES:
            return int(data.index(buffer.DataAsNumpy().tobytes()))
    raise SystemExit("the model has no bias")


def a_description(data: bytes) -> int:
    """Return the offset of a letter of the converter's description in the file."""
    found = re.search(rb"MLIR Converted", data)
    if found is None:
        raise SystemExit("the model has no description")
    return found.start()


BOARD = "boards/nucleo-n657/board.yaml"
CHIP, FAMILY = "boards/soc/stm32n657.yaml", "boards/soc/stm32n6.yaml"
NOR = "boards/nor/macronix-octal.yaml"
MODEL = "models/miniresnet/model.yaml"
# This check finds nothing in the model.
_WAIVED = f"N6-CHECK-{12:03}"
_RECOVERY = replaced("firmware/recovery/n6_recovery.c", "PIN_SETTLES_US 100u", "PIN_SETTLES_US 200u")

CHANGES = (
    Change("a comment in board.yaml", replaced(BOARD, "soc: stm32n657", "soc: stm32n657  # new")),
    Change("an empty line in board.yaml", replaced(BOARD, "\nconsole:", "\n\nconsole:")),
    Change("the order of the keys of board.yaml", moved_to_the_end(BOARD, "smps_overdrive: PB12\n")),
    Change("the title of the board", replaced(BOARD, "title: NUCLEO-N657X0-Q", "title: NUCLEO-N657")),
    Change("another name of the board", replaced(BOARD, "[nucleo-n657x0-q]", "[nucleo-n657x0-q, n657]")),
    Change("the baud rate of the console", replaced(BOARD, "baud: 115_200", "baud: 921_600")),
    Change("the name of the NOR's part", replaced(BOARD, "part: MX25UM51245G", "part: MX25UM51245GXDI00")),
    Change("the fastest clock of the NOR", replaced(BOARD, "max_clock_hz: 100_000_000", "max_clock_hz: 25_000_000")),
    Change("the clock that the board starts with", replaced(BOARD, "max_speed: nominal", "max_speed: cube")),
    Change("the size of slot weights", replaced(BOARD, "0x71000000, size: 48M", "0x71000000, size: 32M")),
    Change("the size of slot vectors", replaced(BOARD, "0x70F00000, size: 1M", "0x70F00000, size: 512K")),
    # Either of its two slots may hold an Appli.
    Change(
        "the size of slot appli",
        in_turn(
            replaced(BOARD, "0x70100000, size: 2M", "0x70100000, size: 1M"),
            replaced(BOARD, "0x70800000, size: 2M", "0x70800000, size: 1M"),
        ),
    ),
    Change("a pool's figures in board.yaml", replaced(BOARD, "read_power: 110", "read_power: 111")),
    Change("the size of a pool that is not full", appended(BOARD, "pool_sizes: {npuRAM6: 256K}\n")),
    Change("a hint for programmers", replaced(BOARD, "dev_boot: JP2 on 2-3", "dev_boot: JP2 on 2 and 3")),
    Change("the watchdog of trials, without trial=on", replaced(BOARD, "watchdog_ms: 20_000", "watchdog_ms: 10_000")),
    Change("the description of another board", replaced("boards/openmv-n6/board.yaml", "baud: 115_200", "baud: 9_600")),
    Change("a comment in the chip's YAML", replaced(CHIP, "0x486", "0x486  # new")),
    Change("a comment in the family's YAML", replaced(FAMILY, "cache_line: 32", "cache_line: 32  # new")),
    Change(
        "the order of the chip's interrupts", replaced(FAMILY, "  IAC: 13\n  NPU0: 53\n", "  NPU0: 53\n  IAC: 13\n")
    ),
    Change("the number of interrupts", appended(CHIP, "interrupt_count: 194\n")),
    Change("the chip's device id", replaced(CHIP, "0x486", "0x487")),
    Change(
        "an unused memory of the chip",
        replaced(FAMILY, "base: 0x3C000000, size: 8K", "base: 0x3C000000, size: 4K"),
    ),
    Change("the figures of a pool of the chip", replaced(FAMILY, "read_power: 18.531", "read_power: 18.5")),
    Change("executable RAM for relocatable models", replaced(FAMILY, "executable_ram: 512K", "executable_ram: 256K")),
    Change("the stack of the boot ROM", replaced(FAMILY, "stack: 0x34200000", "stack: 0x341FF000")),
    Change("the fuse word of signed releases", replaced(FAMILY, "security_counter: 60", "security_counter: 62")),
    Change("a comment in the NOR's YAML", replaced(NOR, "page: 256", "page: 256  # new")),
    Change("how long the NOR is busy", replaced(NOR, "program: 152", "program: 153")),
    Change("the dummy cycles of the NOR", replaced(NOR, "chosen: 20", "chosen: 18")),
    Change("the parameter tables of the NOR", replaced(NOR, "four_byte: 0x001F0643", "four_byte: 0x001F0642")),
    Change("a comment in model.yaml", replaced(MODEL, "made_by: train.py", "made_by: train.py  # new")),
    Change("the order of the keys of model.yaml", moved_to_the_end(MODEL, "result: classification\n")),
    Change("the description of the model", replaced(MODEL, "description: ", "description: new ")),
    Change("the quality of the model", replaced(MODEL, "value: 0.975", "value: 0.97")),
    Change("the labels of the test vectors", replaced(MODEL, "  labels: [siren,", "  labels: [chirp,")),
    Change("the result of the model", replaced(MODEL, "result: classification\n", "")),
    Change("a waiver", replaced(MODEL, "result: class", f"checks: {{waive: {{{_WAIVED}: known}}}}\nresult: class")),
    Change("the size of a memory pool, by the model", replaced(MODEL, "  input_", "  pools: {npuRAM6: 64K}\n  input_")),
    Change("one bit of a weight", model_byte("miniresnet", a_weight)),
    Change("one bit of a bias", model_byte("miniresnet", a_bias)),
    Change("the description inside the model file", model_byte("miniresnet", a_description)),
    Change("one bit of a test input", npy_bit("models/miniresnet/inputs.npy")),
    Change("one bit of an expected output", npy_bit("models/miniresnet/expected.npy")),
    Change("a file of another model", npy_bit("models/keyword/inputs.npy")),
    Change(
        "a comment in C, at the end of a line",
        replaced("firmware/appli/main.c", '#include "n6_appli.h"', '#include "n6_appli.h" /* new */'),
    ),
    Change(
        "a comment in C, on a line of its own",
        replaced("firmware/fsbl/main.c", "int main(void)", "/* new */\nint main(void)"),
    ),
    Change(
        "a text in the FSBL",
        replaced("firmware/fsbl/main.c", "not switch to the internal", "not change to the internal"),
    ),
    Change("the firmware of the recovery, without recovery=on", _RECOVERY),
    Change(
        "the firmware of the recovery, with recovery=on", _RECOVERY, appended("n6build.local.yaml", "recovery: on\n")
    ),
    Change("a text in the Appli", replaced("firmware/appli/main.c", "rejects its", "REJECTS its")),
    Change("a macro in a header of the Appli", appended("firmware/appli/n6_slot.h", "#define N6_NEW 1\n")),
    Change(
        "a comment in a header of the bring-up",
        replaced("firmware/bring_up/n6_console.h", "#define N6_CONSOLE_H", "#define N6_CONSOLE_H /* new */"),
    ),
    Change("a header that only other kernels include", appended("firmware/kernels/fixed32.h", "#define N6_NEW 1\n")),
    Change(
        "a comment in a kernel",
        replaced("firmware/kernels/add.c", '#include "helium.h"', '#include "helium.h" /* new */'),
    ),
    Change("a kernel that the model does not call", appended("firmware/kernels/svdf.c", "int n6_new;\n")),
    Change(
        "a Jinja comment in a template", replaced("firmware/templates/n6_board.h.j2", "#ifndef", "{# new #}#ifndef")
    ),
    Change(
        "a C comment in a template",
        replaced("firmware/templates/n6_memory_plan.c.j2", '#include "n6_plan.h"', '#include "n6_plan.h" /* new */'),
    ),
    Change(
        "a comment in the linker script's template",
        replaced("firmware/templates/program.ld.j2", "/* Gen", "/* New, gen"),
    ),
    Change("settings that say what is chosen anyhow", appended("n6build.local.yaml", "profile: extflash  # new\n")),
    Change("a page that nothing reads", appended("models/miniresnet/README.md", "new\n")),
)


def main() -> int:
    """Print the tables; return 1 if a step ran without a known reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", metavar="WORD", nargs="*", help="only changes with one of these in their names")
    words = parser.parse_args().words
    chosen = [each for each in CHANGES if not words or any(word in each.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="n6rebuilds-") as folder:
        project = prepared(Path(folder))
        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            measured = list(pool.map(lambda change: ran_after(change, project, Path(folder)), chosen))
    print(tables(chosen, measured))
    unexplained = {verb for verb in idle_verbs(measured) if verb not in REASONS}
    print("".join(f"no known reason for {verb}\n" for verb in sorted(unexplained)), end="", file=sys.stderr)
    return 1 if unexplained else 0


def prepared(folder: Path) -> Path:
    """Return a copy of the project in which everything is built."""
    project = copied_project(folder / "project")
    scons(project)
    return project


def ran_after(change: Change, project: Path, folder: Path) -> list[Ran]:
    """Return the steps of a build after a change, in the order in which they ran."""
    with tempfile.TemporaryDirectory(dir=folder) as other:
        root = Path(shutil.copytree(project, Path(other) / "project", symlinks=True))
        if change.prepare:
            change.prepare(root)
            scons(root)
        before = (root / _LEDGER).read_text().splitlines()
        change.make(root)
        scons(root)
        after = (root / _LEDGER).read_text().splitlines()
        ran = compared(before, after[len(before) :])
    print(row(change, ran), file=sys.stderr)
    return ran


def compared(before: Sequence[str], added: Sequence[str]) -> list[Ran]:
    """Return the steps that ran, from the ledger's lines before and of a build."""
    known = {entry["name"]: _digests(entry) for entry in map(json.loads, before)}
    ran = []
    for entry in map(json.loads, added):
        file = re.sub(r"^build/(nucleo-n657/)?", "", entry["name"])
        ran.append(Ran(f"{entry['parts']['verb']} {file}", _digests(entry) != known.get(entry["name"])))
    return ran


def _digests(entry: dict[str, dict[str, list[object]]]) -> dict[str, object]:
    return {path: output[-1] for path, output in entry["outputs"].items()}


def scons(project: Path) -> None:
    """Build the project.

    Raises:
        SystemExit: The build fails.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.parent / "home"),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        "PYTHONPATH": str(project / "site_scons"),
    }
    command = [sys.executable, "-m", "SCons", "-Q", *BUILD]
    result = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(result.stdout + result.stderr)


def idle_verbs(measured: Sequence[Sequence[Ran]]) -> list[str]:
    """Return the sorted verbs of steps that ran and changed nothing."""
    return sorted({each.step.partition(" ")[0] for ran in measured for each in ran if not each.changed})


def tables(changes: Sequence[Change], measured: Sequence[Sequence[Ran]]) -> str:
    """Return both tables in Markdown."""
    lines = ["| change | ran | made something else | the others |", "|---|---|---|---|"]
    lines += [row(change, ran) for change, ran in zip(changes, measured, strict=True)]
    lines += ["", "| others | why |", "|---|---|"]
    lines += [f"| `{verb}` | {REASONS.get(verb, '')} |" for verb in idle_verbs(measured)]
    return "\n".join(lines)


def row(change: Change, ran: Sequence[Ran]) -> str:
    """Return a row of the first table."""
    verbs = [each.step.partition(" ")[0] for each in ran if not each.changed]
    counted = (f"{verbs.count(verb)} `{verb}`" if verbs.count(verb) > 1 else f"`{verb}`" for verb in sorted({*verbs}))
    changed = sum(each.changed for each in ran)
    made = ", ".join(sorted({f"`{each.step.partition(' ')[0]}`" for each in ran if each.changed}))
    return f"| {change.name} | {len(ran)} | {f'{changed}: {made}' if made else 0} | {', '.join(counted)} |"


if __name__ == "__main__":
    sys.exit(main())
