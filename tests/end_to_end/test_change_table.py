"""The change table: the steps and flash sectors that each kind of change needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from slow_rows import telling_rows

from end_to_end.conftest import BuiltOnce, Project

ARGUMENTS = ("board=nucleo-n657", "model=miniresnet", "probe=virtual", "flash")
FLASH = "Flash virtual-nucleo-n657.json"
ANY_BRING_UP = [
    f"Compile firmware/bring_up/{name}.c"
    for name in ("n6_clock", "n6_console", "n6_try", "n6_xspi_nor", "n6_xspi_psram")
]


@dataclass(frozen=True)
class Change:
    """A change with its expected steps.

    Attributes:
        name: Name of the case.
        make: Function that makes the change in a project.
        actions: All steps that run, in any order.
        flashed: Part of the output about the board's flash.
    """

    name: str
    make: Callable[[Project], None]
    actions: list[str]
    flashed: str = "nothing"


def edit(file: str, old: str, new: str) -> Callable[[Project], None]:
    return lambda project: project.replace(file, old, new)


def touch(project: Project) -> None:
    for path in [
        *project.root.glob("firmware/*/*.c"),
        *project.root.glob("models/*/*"),
        *project.root.glob("boards/*/*"),
    ]:
        path.touch()


def one_weight(project: Project) -> None:
    project.change_one_weight("miniresnet")


def one_test_vector(project: Project) -> None:
    path = project.root / "models/miniresnet/inputs.npy"
    inputs = np.load(path)
    inputs[0, 0, 0, 0] ^= 1
    np.save(path, inputs)


def one_weight_and_one_test_vector(project: Project) -> None:
    one_weight(project)
    one_test_vector(project)


def delete(file: str) -> Callable[[Project], None]:
    return lambda project: (project.root / file).unlink()


CHANGES = [
    Change("nothing", lambda project: None, []),
    Change("times of files, not their content", touch, []),
    Change(
        "a comment at the end of a line of the FSBL",
        edit("firmware/fsbl/main.c", "n6_caches_enable();", "n6_caches_enable(); /* new */"),
        ["Compile firmware/fsbl/main.c"],
    ),
    Change(
        "a comment on a line of its own in the FSBL: debug information moves, the image does not",
        edit("firmware/fsbl/main.c", "int main(void)", "/* new */\nint main(void)"),
        ["Compile firmware/fsbl/main.c", "Link fsbl/fsbl.elf", "Image fsbl_image.bin", "Sizes miniresnet/sizes.txt"],
    ),
    Change(
        "a text in the FSBL",
        edit("firmware/fsbl/main.c", "not switch to the internal", "not change to the internal"),
        [
            "Compile firmware/fsbl/main.c",
            "Link fsbl/fsbl.elf",
            "Image fsbl_image.bin",
            "Manifest miniresnet/flash_manifest.json",
            "Sizes miniresnet/sizes.txt",
            FLASH,
        ],
        "1 of 5 sectors programmed and verified (64.0 KiB)",
    ),
    Change(
        "a text in the Appli",
        edit("firmware/appli/main.c", "rejects its", "REJECTS its"),
        [
            "Compile firmware/appli/main.c",
            "Link miniresnet/appli/appli.elf",
            "Image miniresnet/appli_image.bin",
            "Manifest miniresnet/flash_manifest.json",
            "Sizes miniresnet/sizes.txt",
            FLASH,
        ],
        "1 of 5 sectors programmed and verified (64.0 KiB)",
    ),
    Change(
        "a comment in a kernel",
        edit("firmware/kernels/add.c", '#include "helium.h"', '#include "helium.h" /* new */'),
        ["Compile firmware/kernels/add.c"],
    ),
    Change(
        "one weight",
        one_weight,
        [
            "Network miniresnet/network/network.c",
            "Weights miniresnet/weights_xSPI2.bin",
            "Manifest miniresnet/flash_manifest.json",
            FLASH,
        ],
        "1 of 5 sectors programmed and verified (64.0 KiB)",  # The weight and the trailer are in the last one.
    ),
    Change(
        "one test vector",
        one_test_vector,
        ["Vectors miniresnet/vectors.bin", "Manifest miniresnet/flash_manifest.json", FLASH],
        "1 of 5 sectors programmed and verified (64.0 KiB)",
    ),
    Change(
        "one weight and one test vector",
        one_weight_and_one_test_vector,
        [
            "Network miniresnet/network/network.c",
            "Weights miniresnet/weights_xSPI2.bin",
            "Vectors miniresnet/vectors.bin",
            "Manifest miniresnet/flash_manifest.json",
            FLASH,
        ],
        "2 of 5 sectors programmed and verified (128.0 KiB)",
    ),
    Change(
        "the description of the model", edit("models/miniresnet/model.yaml", "description: ", "description: new "), []
    ),
    Change(
        "the size of the weights slot",
        edit(
            "boards/nucleo-n657/board.yaml",
            "weights: {address: 0x71000000, size: 48M}",
            "weights: {address: 0x71000000, size: 32M}",
        ),
        [
            "Header include/n6_board_slots.h",
            "Compile firmware/fsbl/n6_load_appli.c",
            "Network miniresnet/network/network.c",
            "Compile miniresnet/network/network.c",
            "Plan miniresnet/memory_plan.json",
            "Weights miniresnet/weights_xSPI2.bin",
            "Manifest miniresnet/flash_manifest.json",
            "Check miniresnet/checks.json",
            "Sizes miniresnet/sizes.txt",
        ],
    ),
    Change(
        "the baud rate of the console",
        edit("boards/nucleo-n657/board.yaml", "baud: 115_200", "baud: 921_600"),
        [
            "Header include/n6_board_console.h",
            "Compile firmware/bring_up/n6_console.c",
            "Link fsbl/fsbl.elf",
            "Image fsbl_image.bin",
            "Link miniresnet/appli/appli.elf",
            "Image miniresnet/appli_image.bin",
            "Manifest miniresnet/flash_manifest.json",
            "Sizes miniresnet/sizes.txt",
            FLASH,
        ],
        "2 of 5 sectors programmed and verified (128.0 KiB)",
    ),
    Change(
        "a comment in a board's description",
        edit("boards/nucleo-n657/board.yaml", "soc: stm32n657", "soc: stm32n657  # new"),
        [],
    ),
    Change(
        "a check that is waived",
        edit(
            "models/miniresnet/model.yaml",
            "result: classification",
            "checks: {waive: {N6-CHECK-012: known}}\nresult: classification",
        ),
        ["Check miniresnet/checks.json"],
    ),
    Change(
        "the size of one memory pool, by the model",
        edit("models/miniresnet/model.yaml", "  input_type: int8", "  pools: {npuRAM6: 64K}\n  input_type: int8"),
        [
            "Network miniresnet/network/network.c",
            "Compile miniresnet/network/network.c",
            "Plan miniresnet/memory_plan.json",
            "Check miniresnet/checks.json",
        ],
    ),
    Change(
        "a comment in a check",
        edit("site_scons/n6build/check/rules/memory.py", "from __future__", "# new\nfrom __future__"),
        ["Check miniresnet/checks.json"],
    ),
    Change(
        "a comment in the compiler",
        edit("site_scons/n6build/compile/reference/placement.py", "from __future__", "# new\nfrom __future__"),
        ["Network miniresnet/network/network.c"],
    ),
    Change(
        "a comment in the template of the memory plan's tables",
        edit("firmware/templates/n6_memory_plan.c.j2", '#include "n6_plan.h"', '#include "n6_plan.h" /* new */'),
        ["Plan miniresnet/memory_plan.json", "Compile miniresnet/n6_memory_plan.c"],
    ),
    Change(
        "a lost intermediate file",
        delete("build/nucleo-n657/miniresnet/network/network.c"),
        ["Network miniresnet/network/network.c"],
    ),
    Change(
        "a virtual board that is gone",
        delete("build/virtual_board/nucleo-n657/nor.bin"),
        [FLASH],
        "5 of 5 sectors programmed and verified (320.0 KiB)",
    ),
]


@pytest.fixture
def copy(built_once: BuiltOnce) -> Project:
    return built_once.lent(*ARGUMENTS)


_ALWAYS = (
    "nothing",
    "one weight and one test vector",
    "a text in the FSBL",
    "the baud rate of the console",
)


@pytest.mark.parametrize(
    "change",
    telling_rows(CHANGES, lambda each: each.name in _ALWAYS),
    ids=[each.name for each in CHANGES],
)
def test_runs_exactly(copy: Project, change: Change) -> None:
    change.make(copy)
    result = copy.done(*ARGUMENTS)
    assert sorted(result.actions) == sorted(change.actions)
    assert result.flashed == change.flashed
    again = copy.scons(*ARGUMENTS)
    assert (again.actions, again.flashed) == ([], "nothing"), again.output


@pytest.mark.slow
def test_another_model_and_back_programs_the_board_each_time(copy: Project) -> None:
    other = copy.scons("model=keyword", "probe=virtual", "flash")
    assert "sectors programmed" in other.flashed
    back = copy.scons(*ARGUMENTS)
    assert back.actions == [FLASH]
    assert "sectors programmed" in back.flashed
