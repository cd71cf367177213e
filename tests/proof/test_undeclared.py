"""A step that reads or writes an undeclared file fails, by any way of access."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from slow_rows import telling_rows

from proof.conftest import BOARD, Build, Builds

GOALS = (f"{BOARD}/fsbl_image.bin",)
FILE = "site_scons/n6build/steps/boot_image.py"
FIRST = "    payload = payload_of(call.sources[0])\n"
# Each row maps an additional action of the step to (error id, words of the message).
BESIDES = {
    "read_bytes(Path('boards/nucleo-n657/board.yaml'))": ("N6-STEP-001", "reads boards/nucleo-n657/board.yaml"),
    "open('boards/nucleo-n657/board.yaml').read()": ("N6-STEP-001", "reads boards/nucleo-n657/board.yaml"),
    "open(call.build / 'nucleo-n657/fsbl/main.o', 'rb').read()": ("N6-STEP-001", f"reads {BOARD}/fsbl/main.o"),
    "os.listdir('models')": ("N6-STEP-001", "lists models"),
    "list(os.scandir('models'))": ("N6-STEP-001", "lists models"),
    "sorted(Path('models').glob('*/model.yaml'))": ("N6-STEP-001", "lists models"),
    "is_file(Path('boards/nucleo-n657/more.yaml'))": ("N6-STEP-001", "looks for boards/nucleo-n657/more.yaml"),
    "open(call.build / 'nucleo-n657/left.bin', 'wb').close()": ("N6-STEP-002", f"writes {BOARD}/left.bin"),
    "write_atomically(call.build / 'left.bin', b'x')": ("N6-STEP-002", "writes build/"),
    "open('models/left.bin', 'ab').close()": ("N6-STEP-002", "writes models/left.bin"),
}


def patch(build: Build, text: str) -> int:
    """Insert a line into the step's function; return its number."""
    build.project.replace(FILE, FIRST, f"{FIRST}    {text}\n")
    imports = "import os\nfrom pathlib import Path\n\nfrom n6build.base.files import is_file, read_bytes\n"
    build.project.replace(FILE, "from dataclasses", f"{imports}from dataclasses")
    lines = (build.root / FILE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)


_ONE_OF_A_KIND = (
    "open('boards/nucleo-n657/board.yaml').read()",
    "open('models/left.bin', 'ab').close()",
)


@pytest.mark.parametrize("text", telling_rows(BESIDES, _ONE_OF_A_KIND.__contains__))
def test_what_a_step_does_besides_is_an_error(text: str, builds: Builds, tmp_path: Path) -> None:
    build = builds.copy("fsbl", tmp_path)
    line = patch(build, text)
    id, what = BESIDES[text]
    # The outputs of such a step do not count as made: the error comes again the second time.
    for jobs in ("-j2",) if text == _ONE_OF_A_KIND[1] else ("-j1", "-j2"):
        result = build.scons(jobs, *GOALS).refused()
        assert re.search(rf"n6build/steps/boot_image\.py:{line}: error {id}: ", result.output), result.output
        assert f"step {GOALS[0]} {what}" in result.output


def test_what_a_step_declares_is_none(builds: Builds, tmp_path: Path) -> None:
    build = builds.copy("fsbl", tmp_path)
    patch(build, "open(call.sources[0], 'rb').read()")
    assert build.built(*GOALS) == ["Image fsbl_image.bin"]
