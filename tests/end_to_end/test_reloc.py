"""Relocatable models in real scons on the virtual board.

They are made, programmed, installed, run, updated, damaged and interrupted.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called import call
from core_tree import make_core
from n6build.base.intel_hex import ERASED
from n6build.board.flash.model_update import Running, Update, plan_updates
from n6build.board.flash.sectors import sectors_of
from n6build.board.run.session import Started, start_virtual_board
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.hardware.boards import load_board
from n6build.place.memory_plan.plan import read_plan
from n6build.place.reloc.model_format import ABI_C, CONTEXT_FIELDS, STRUCT_SIZES_FIELD, WORD
from n6build.place.reloc.reader import parse_reloc_file
from n6build.place.reloc.slots import TRAILER_BYTES, pack_trailer, read_trailer, trailer_offset
from slow_rows import telling_rows
from stedgeai_stand_in.tree import install

from end_to_end.conftest import Project, make_project

BOARD = load_board("nucleo-n657")
RELOC = ("loader=reloc", "probe=virtual")
EQUAL = "10 of 10 outputs equal the reference interpreter bit for bit"


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["keyword", *(pytest.param(model, marks=pytest.mark.slow) for model in ("miniresnet", "anomaly"))]
)
def test_every_way_to_install_a_model_has_the_outputs_of_the_linked_one(model: str, project: Project) -> None:
    for load, split, secure in itertools.product(("copy", "xip"), "01", "10"):
        options = (f"load={load}", f"split={split}", f"secure={secure}")
        result = project.scons(*RELOC, f"model={model}", *options, "flash", "run")
        assert EQUAL in result.output, (options, result.output)
        assert f"slot=a revision=0 mode={load} at=0x71000000" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("load", [pytest.param("copy", marks=pytest.mark.slow), "xip"])
@pytest.mark.built(*RELOC, "model=keyword", "flash")
def test_a_model_runs_wherever_it_is_programmed(load: str, project: Project) -> None:
    for net, params in ((0x71230000, 0x72000000), (0x73FF0000, 0x71000000), (0x71000000, 0x73000000)):
        places = f"addresses=0x{net:08X},0x{params:08X}"
        result = project.scons(*RELOC, "model=keyword", f"load={load}", "split=1", places, "flash", "run")
        assert EQUAL in result.output, result.output
        assert f"mode={load} at=0x{net:08x}" in result.output


@pytest.mark.built(*RELOC, "model=keyword", "flash")
def test_a_network_rel_bin_of_another_tool_is_a_model(project: Project) -> None:
    given = project.root / "given"
    given.mkdir()
    shutil.copy2(project.root / "build/nucleo-n657/keyword-reloc/network_rel/network_rel.bin", given)
    vectors = ("inputs=models/keyword/inputs.npy", "expected=models/keyword/expected.npy")
    run = project.scons("model=given/network_rel.bin", "probe=virtual", *vectors, "flash", "run")
    assert "loader=reloc model=network_rel clock=" in run.output, run.output
    assert "model network_rel slot=a revision=0 mode=copy at=0x71000000" in run.output
    assert EQUAL in run.output
    words = (sys.executable, "tools/st_load_and_run.py", "-i", "given/network_rel.bin", "--board", "nucleo-n657")
    tool = call(*words, cwd=project.root, **{**project.environment, "N6BUILD_PROBE": "virtual", "PYTHONPATH": ""})
    assert (tool.returncode, tool.stderr) == (0, ""), tool.stdout
    # The words of ST's readme appear in its order.
    lines = iter(tool.stdout.splitlines())
    for start in (
        "NPU Utility - ST Load and run (dev environment) (version 1.0)",
        "Creating date : ",
        "Entry point    : 'given/network_rel.bin'",
        "Board          : 'nucleo-n657'",
        "no splitted model",
        "Resetting the board.",
        "Flashing 'given/network_rel.bin' at address 0x71000000 (size=",
        "Loading & start the validation application 'nucleo-n657-validation-reloc-copy'..",
        "Deployed model is started and ready to be used.",
        "Executing the deployed model (desc=virtual)..",
        "  total  ",
        "          ",
    ):
        assert any(line.startswith(start) for line in lines), (start, tool.stdout)


# In every run: the test above, and tests/steps/test_given_model.py for what model.yaml says.
@pytest.mark.slow
@pytest.mark.built(*RELOC, "model=keyword", "split=1", "flash")
def test_a_given_model_with_a_model_yaml(project: Project) -> None:
    given = project.root / "given"
    given.mkdir()
    for name in ("network_rel.bin", "network_rel_params.bin"):
        shutil.copy2(project.root / "build/nucleo-n657/keyword-reloc/network_rel" / name, given)
    for name in ("keyword.tflite", "inputs.npy"):
        shutil.copy2(project.root / "models/keyword" / name, given)
    (given / "model.yaml").write_text(
        "name: given\nfile: network_rel.bin\nreference: {model: keyword.tflite}\nvectors: {inputs: inputs.npy}\n"
    )
    for more in (("load=xip",), ("slots=2",), ("addresses=0x72000000,0x71000000",), ("gen_c_file=1", "reloc")):
        assert EQUAL in project.done(*RELOC, "model=given/", *more, "flash", "run", "report", "time").output
    assert project.scons(*RELOC, "model=given/", "gen_c_file=1", "flash").actions == []


@pytest.mark.slow
def test_weights_in_ram_are_copied_by_the_loader(project: Project) -> None:
    assert EQUAL in project.done(*RELOC, "model=keyword", "profile=noextmem", "flash", "run").output
    shown = show(project, "keyword-noextmem-reloc")
    assert [pool["kind"] for pool in shown["pools"]] == ["RESET.ACTIV.WRITE", "COPY.MIXED.WRITE"] or (
        "COPY.MIXED.WRITE" in [pool["kind"] for pool in shown["pools"]]
    )


@pytest.mark.slow
def test_a_model_larger_than_its_part_of_the_slot_is_refused_while_it_is_built(project: Project) -> None:
    board = "boards/nucleo-n657/board.yaml"
    line = next(line for line in (project.root / board).read_text().splitlines() if line.startswith("  weights:"))
    project.replace(board, line, "  weights: {address: 0x71000000, size: 128K}")
    result = project.scons(*RELOC, "model=miniresnet", "slots=2", "build").refused()
    assert "model.bin: error N6-SLOT-003: has " in result.output
    assert "more than its part of flash slot 'weights' (65536)" in result.output


@pytest.mark.slow
def test_several_models_side_by_side(project: Project) -> None:
    result = project.scons(*RELOC, "model=miniresnet,keyword,anomaly", "split=1", "slots=2", "flash", "run")
    assert "30 of 30 outputs equal" in result.output, result.output


def test_the_first_build_and_what_repeats_of_it(project: Project) -> None:
    project.done(*RELOC, "model=keyword", "slots=2", "flash")
    assert project.scons(*RELOC, "model=keyword", "slots=2", "flash").actions == []
    assert project.scons(*RELOC, "model=keyword", "slots=2", "flash-model").actions == []


def show(project: Project, application: str, name: str = "network") -> dict[str, Any]:
    from n6build.place.reloc.reader import read_reloc_file
    from n6build.place.reloc.reloc_text import as_dict

    return as_dict(read_reloc_file(project.root / f"build/nucleo-n657/{application}/{name}_rel/{name}_rel.bin"))


@pytest.mark.slow
def test_a_model_is_replaced_at_run_time_by_another_one(project: Project) -> None:
    """The second model is loaded into the same RAM after the first has run."""
    main = "firmware/appli_reloc/main.c"
    project.replace(main, "i < n6_model_count; i++) {\n        if (", "i < 1u; i++) {\n        if (")
    project.replace(
        main,
        "    uint32_t runs = n6_appli_run_all(network_at, n6_model_count);\n",
        "    uint32_t runs = n6_appli_run(&n6_loaded_models[0].network, 0u);\n"
        "    n6_model_t second = n6_models[1];\n"
        "    second.executable_ram = n6_models[0].executable_ram;\n"
        "    if (!n6_model_load(&second, &n6_loaded_models[0])) {\n"
        '        n6_appli_stop("N6-FW-056", "second");\n'
        "    }\n"
        "    runs += n6_appli_run(&n6_loaded_models[0].network, runs);\n",
    )
    result = project.scons(*RELOC, "model=keyword,anomaly", "flash", "run")
    assert "20 of 20 outputs equal" in result.output, result.output
    rams = re.findall(r"n6 model (\w+) .* ram=(\S+)", result.output)
    assert [name for name, _ in rams] == ["keyword", "anomaly"]
    assert rams[0][1] == rams[1][1]


@pytest.mark.slow
@pytest.mark.parametrize("ll_aton", [pytest.param((1, 1, 3, 8), marks=pytest.mark.slow), (1, 1, 3, 275)])
def test_st_s_loader_and_runtime_are_linked_where_their_folder_is_named(
    ll_aton: tuple[int, int, int, int], project: Project, tmp_path: Path
) -> None:
    core = make_core(tmp_path / "core", ll_aton)
    arguments = (*RELOC, "model=keyword", "backend=reference", "load=xip", "flash", "run")
    result = project.scons(*arguments, STEDGEAI_CORE_DIR=str(core))
    assert EQUAL in result.output, result.output
    assert f"Compile {core}/Middlewares/ST/AI/Npu/ll_aton/ll_aton_reloc_network.c" in result.output
    assert show(project, FOLDER)["ll_aton"] == "{}.{}.{}-{}".format(*ll_aton)
    # A model for one version does not run on the other, because the callbacks are in another order.
    assert project.scons(*RELOC, "model=keyword", "load=xip", "flash").status == 0
    (core / "Middlewares/ST/AI/Npu/ll_aton/ll_aton_reloc_callbacks.c").unlink()
    missing = project.scons(*arguments, STEDGEAI_CORE_DIR=str(core))
    assert "N6-RELOC-020: relocatable models need ll_aton_reloc_callbacks.c" in missing.output


@pytest.mark.slow
def test_a_network_of_st_s_compiler_or_from_elsewhere_is_relocated(project: Project, tmp_path: Path) -> None:
    install(tmp_path / "core", "3.0")
    path = {"PATH": f"{tmp_path / 'core/Utilities/linux'}:{os.environ['PATH']}"}
    result = project.scons(*RELOC, "model=keyword", "split=1", "flash", "run", **path)
    assert "Backend st_edge_ai, ST Edge AI Core 3.0.0" in result.output
    assert EQUAL in result.output, result.output
    shutil.copytree(project.root / f"build/nucleo-n657/{FOLDER}/network", project.root / "elsewhere")
    assert "n6 done runs=2" in project.done(*RELOC, "model=./elsewhere", "flash", "run").output


# Steps and sectors of each change.

FOLDER = "keyword-reloc"
NETWORK = f"Network {FOLDER}/network/network.c"
MODEL = f"Model {FOLDER}/network_rel/network_rel.bin"
CHECK = f"Check {FOLDER}/checks.json"
FLASH_MODEL = "Flash virtual-nucleo-n657-models.json"


def in_slot(part: str) -> list[str]:
    return [f"Slot {FOLDER}/{part}.bin", f"Manifest {FOLDER}/models_manifest.json", FLASH_MODEL]


@pytest.mark.parametrize(
    ("split", "actions"),
    [
        # The checks read the model.
        ("0", [NETWORK, MODEL, CHECK, *in_slot("model")]),
        pytest.param(
            "1",
            [NETWORK, f"Params {FOLDER}/network_rel/network_rel_params.bin", *in_slot("params")],
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.built(*RELOC, "model=keyword", "flash")
def test_one_weight_programs_one_sector_of_the_model(split: str, actions: list[str], project: Project) -> None:
    arguments = (*RELOC, "model=keyword", f"split={split}")
    assert project.scons(*arguments, "flash").status == 0
    project.change_one_weight("keyword")
    result = project.done(*arguments, "flash-model")
    assert sorted(result.actions) == sorted(actions)
    sectors = "2 sectors" if split == "1" else "1 sector"
    assert result.flashed == f"1 of {sectors} programmed and verified (64.0 KiB)"


@pytest.mark.slow
@pytest.mark.built(*RELOC, "model=keyword", "flash")
def test_other_expected_outputs_are_programmed_with_the_weights(project: Project) -> None:
    """The expected outputs belong to the self-test, which is stored with the weights.

    If the weights are in their own file, only that file changes.
    """
    arguments = (*RELOC, "model=keyword", "split=1")
    assert project.scons(*arguments, "flash").status == 0
    path = project.root / "models/keyword/expected.npy"
    outputs = np.load(path)
    outputs[0, 0] ^= 1
    np.save(path, outputs)
    result = project.scons(*arguments, "flash-model")
    assert [action for action in result.actions if action.startswith("Slot")] == ["Slot keyword-reloc/params.bin"]
    assert result.flashed == "1 of 2 sectors programmed and verified (64.0 KiB)"


@pytest.mark.slow
@pytest.mark.built(*RELOC, "model=keyword", "flash")
def test_another_load_mode_leaves_the_model_as_it_is(project: Project) -> None:
    result = project.scons(*RELOC, "model=keyword", "load=xip", "flash")
    assert not [action for action in result.actions if action.startswith(("Reloc", "Model", "Slot"))]
    assert result.flashed == "1 of 4 sectors programmed and verified (64.0 KiB)"


@pytest.mark.slow
@pytest.mark.built(*RELOC, "model=keyword", "flash")
def test_split_changes_no_object(project: Project) -> None:
    assert project.scons(*RELOC, "model=keyword", "build").status == 0
    result = project.scons(*RELOC, "model=keyword", "split=1", "reloc")
    assert result.actions == [MODEL, f"Params {FOLDER}/network_rel/network_rel_params.bin"]


@pytest.mark.slow
def test_the_model_is_the_same_bytes_in_another_folder(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = make_project(tmp_path_factory.mktemp("elsewhere"))
    files = []
    for each in (project, other):
        assert each.scons(*RELOC, "model=keyword", "gen_c_file=1", "reloc").status == 0
        folder = each.root / "build/nucleo-n657/keyword-reloc/network_rel"
        files.append([(folder / name).read_bytes() for name in ("network_rel.bin", "network_rel.c")])
    assert files[0] == files[1]
    assert b"const uint8_t network_rel[" in files[0][1]


@pytest.mark.slow
def test_the_summary_of_a_model_on_the_console_and_in_a_file(project: Project, tmp_path: Path) -> None:
    arguments = (*RELOC, "model=keyword", "reloc")
    assert "XIP size" not in project.scons(*arguments).output
    result = project.scons(*arguments, "verbosity=1", f"log={tmp_path / 'reloc.txt'}", "no_color=1")
    assert result.actions == []
    text = (tmp_path / "reloc.txt").read_text()
    assert "COPY size" in text
    assert text in result.output
    assert "arm-none-eabi-gcc" in project.scons(*arguments, "debug=1", "name=other").output


@pytest.mark.slow
def test_name_and_parse_only(project: Project) -> None:
    result = project.done(*RELOC, "model=keyword", "name=kws", "parse_only=1", "reloc")
    assert "01010500 RELOC.PARAM.0.RCACHED" in result.output
    assert not [action for action in result.actions if action.startswith(("Compile", "Model"))]
    assert project.scons(*RELOC, "model=keyword", "name=kws", "reloc").status == 0
    assert show(project, FOLDER, "kws")["name"] == "kws"
    assert "N6-OPTION-005" in project.scons(*RELOC, "model=keyword,anomaly", "name=kws", "reloc").output


# Models that a firmware has to refuse.


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with `keyword` in two slots, flashed and confirmed in slot A."""
    project = make_project(tmp_path_factory.mktemp("two-slots"))
    # The slowest clock: of a model that hangs, the virtual board runs every instruction of ten seconds.
    assert EQUAL in project.done(*RELOC, "model=keyword", "split=1", "slots=2", "clock=hsi", "flash", "run").output
    return project


def board_folder(project: Project) -> Path:
    return project.root / "build/virtual_board/nucleo-n657"


def application(project: Project) -> Path:
    return project.root / "build/nucleo-n657/keyword-reloc"


def start(project: Project, folder: Path) -> Started:
    elves = [project.root / "build/nucleo-n657/fsbl/fsbl.elf", application(project) / "appli/appli.elf"]
    return start_virtual_board(NorBoot(folder / "nor.bin", BOARD), 1, elves)


def word(offset: int, value: int | Callable[[int], int]) -> Callable[[bytearray], None]:
    def change(data: bytearray) -> None:
        (old,) = struct.unpack_from("<I", data, offset)
        struct.pack_into("<I", data, offset, value(old) if callable(value) else value)

    return change


def context(field: str, value: int) -> Callable[[bytearray], None]:
    fields = (*CONTEXT_FIELDS[: CONTEXT_FIELDS.index("instance")], STRUCT_SIZES_FIELD)

    def change(data: bytearray) -> None:
        model = parse_reloc_file(bytes(data), "model.bin")
        (address,) = struct.unpack_from("<I", data, ABI_C.context_word * WORD)
        at = model.read_only_bytes + (address & 0x0FFFFFFF) + WORD * fields.index(field)
        struct.pack_into("<I", data, at, value)

    return change


REFUSED = {
    "another CPU": (word(4, lambda flags: flags & ~0xFFF | 0xD21), "N6-FW-042"),
    "another API": (word(4, lambda flags: flags & 0x00FFFFFF | 0x99000000), "N6-FW-041"),
    "no debug fields": (word(4, lambda flags: flags & ~(1 << 21)), "N6-FW-045"),
    "a polling runtime": (word(4, lambda flags: flags & ~(1 << 22)), "N6-FW-046"),
    "another version": (context("version", 0x01010100), "N6-FW-047"),
    "another dev number": (context("version_dev", 262), "N6-FW-047"),
    "other structs": (context(STRUCT_SIZES_FIELD, 0x1438), "N6-FW-048"),
    "an entry point outside": (word(13 * 4, 0x2FFFFFF1), "N6-FW-049"),
    "a relocation outside": (lambda data: relocation(data, 0x4FFFFFFF), "N6-FW-049"),
    "an absolute word": (lambda data: relocated_word(data, 0x34200000), "N6-FW-049"),
    "a GOT cut short": (lambda data: word(8 * 4, struct.unpack_from("<I", data, 7 * 4)[0])(data), "N6-FW-049"),
    "activations of 4 GiB": (lambda data: pool(data, 1, 4, 0xFFFFFFFF), "N6-FW-049"),
    "external RAM that the board lacks": (lambda data: pool(data, 1, 1, 0x01020601), "N6-FW-052"),
    "other outputs": (lambda data: None, "N6-FW-055"),
    "code that faults": (lambda data: first_epoch(data, 0xDEFE), "N6-FW-058"),  # udf
    "code that never ends": (lambda data: first_epoch(data, 0xE7FE), "N6-FW-058"),  # b .
    "code that calls a supervisor": (lambda data: first_epoch(data, 0xDF00), "N6-FW-058"),  # svc 0
    "a pool in the Appli's RAM": (lambda data: pool(data, 1, 3, 0x34000000), "N6-FW-050"),
    "more variables than there is RAM": (word(6 * 4, lambda end: end + (4 << 20)), "N6-FW-051"),
    "external RAM on a board without": (context("external_ram_bytes", 64), "N6-FW-059"),
    "weights beyond their end": (lambda data: pool(data, 0, 2, 0xFFFFFF00), "N6-FW-049"),
}


def pool(data: bytearray, number: int, field: int, value: int) -> None:
    """Change a memory pool.

    Args:
        number: 0 for the weights, 1 for the activations.
        field: 1 for flags, 2 for offset, 3 for destination, 4 for bytes.
    """
    model = parse_reloc_file(bytes(data), "model.bin")
    at = model.read_only_bytes + (model.header["pools"] & 0x0FFFFFFF)
    struct.pack_into("<I", data, at + (5 * number + field) * WORD, value)


def relocation(data: bytearray, value: int) -> None:
    (start,) = struct.unpack_from("<I", data, 9 * 4)
    struct.pack_into("<I", data, start & 0x0FFFFFFF, value)


def relocated_word(data: bytearray, value: int) -> None:
    model = parse_reloc_file(bytes(data), "model.bin")
    struct.pack_into("<I", data, model.read_only_bytes + (model.relocations[0] & 0x0FFFFFFF), value)


def first_epoch(data: bytearray, instruction: int) -> None:
    """Replace an instruction of the function that returns the list of epochs."""
    model = parse_reloc_file(bytes(data), "model.bin")
    struct.pack_into("<H", data, model.entries["epoch_items"] & 0x0FFFFFFE, instruction)


def resealed(image: bytes, size: int, change: Callable[[bytearray], None], *, outputs: bool = False) -> bytes:
    """Return the image of a slot with a changed file and a valid trailer.

    Args:
        size: Bytes of the file.
        outputs: Let the self-test expect other outputs.
    """
    trailer = read_trailer(image, size)
    assert trailer is not None
    data = bytearray(image[:size])
    change(data)
    test = trailer.test
    if outputs:
        assert test.outputs_crc32 is not None
        test = type(test)(test.input, test.outputs_crc32 ^ 1)
    sealed = type(trailer)(size, zlib.crc32(data), trailer.identity, trailer.revision, test)
    head = bytes(data).ljust(trailer_offset(size), b"\0") + pack_trailer(sealed)
    return head + image[len(head) :]


def _has_a_new_id(name: str) -> bool:
    """Return whether no earlier case has the same id."""
    names = list(REFUSED)
    return REFUSED[name][1] not in [REFUSED[other][1] for other in names[: names.index(name)]]


@pytest.mark.parametrize("name", telling_rows(REFUSED, _has_a_new_id))
def test_a_model_that_is_refused_leaves_the_old_one_running(
    name: str, built: Project, folder: Path, tmp_path: Path
) -> None:
    change, why = REFUSED[name]
    image = (application(built) / "model.bin").read_bytes()
    wrong = tmp_path / "application"
    shutil.copytree(application(built), wrong)
    model = parse_reloc_file(image, "model.bin")
    if name == "other outputs":
        weights = (application(built) / "params.bin").read_bytes()
        (wrong / "params.bin").write_bytes(resealed(weights, model.params_bytes, change, outputs=True))
    else:
        (wrong / "model.bin").write_bytes(resealed(image, model.file_bytes, change))
    program(folder, images_of(update_of(wrong, folder)))
    started = start(built, folder)
    assert started.models == {"keyword": (0, 0)}
    assert started.refused["keyword", 1].startswith(why)


@pytest.mark.parametrize("place", ["file", "params"])
def test_a_byte_that_changed_in_flash_is_noticed(place: str, built: Project, folder: Path) -> None:
    slot = read_plan(application(built) / "memory_plan.json").models[0].slots[0]
    address = getattr(slot, place) + 2000
    (byte,) = reader(folder)(address, 1)
    program(folder, [(address, bytes([byte ^ 0x10]))])
    started = start(built, folder)
    assert started.models == {}
    assert started.refused["keyword", 0] == "N6-FW-023 damaged image (CRC) in the flash slot"


def test_a_file_that_is_no_model_is_refused_by_name(built: Project, folder: Path) -> None:
    slots = read_plan(application(built) / "memory_plan.json").models[0].slots
    program(folder, [(slot.file, bytes(64)) for slot in slots])
    started = start(built, folder)
    assert started.models == {}
    assert set(started.refused) == {("keyword", 0), ("keyword", 1)}


# Updates of a model with two slots.


def reader(folder: Path) -> Callable[[int, int], bytes]:
    def read(address: int, size: int) -> bytes:
        with (folder / "nor.bin").open("rb") as nor:
            nor.seek(address - BOARD.nor.base)
            return nor.read(size)

    return read


def program(folder: Path, images: Iterable[tuple[int, bytes]]) -> None:
    """Write to addresses of the board's NOR."""
    with (folder / "nor.bin").open("r+b") as nor:
        for address, data in images:
            nor.seek(address - BOARD.nor.base)
            nor.write(data)


def update_of(app: Path, folder: Path, running: tuple[int, int] = (0, 0)) -> Update:
    known = {"keyword": Running(*running)}
    (update,) = plan_updates(read_plan(app / "memory_plan.json"), app, reader(folder), known)
    return update


def images_of(update: Update) -> list[tuple[int, bytes]]:
    return [(address, data) for _, address, data in update.images]


@pytest.mark.slow
def test_updates_alternate_and_an_unchanged_model_programs_nothing(project: Project) -> None:
    arguments = (*RELOC, "model=keyword", "slots=2")
    assert "Update keyword, written to slot a as revision 0" in project.scons(*arguments, "flash").output
    for slot, revision in (("b", 1), ("a", 2), ("b", 3)):
        project.change_one_weight("keyword")
        # Another weight gives another outcome of the self-test. Without expected outputs, no outcome is
        # compared.
        project.replace("models/keyword/model.yaml", "expected:", "# expected:") if revision == 1 else None
        result = project.scons(*arguments, "flash-model")
        assert f"Update keyword, written to slot {slot} as revision {revision}" in result.output, result.output
        assert f"n6 model keyword slot={slot} revision={revision} mode=copy" in result.output
    assert project.scons(*arguments, "flash-model").actions == []


@pytest.mark.slow
def test_a_model_that_fails_its_self_test_is_said_and_the_old_one_stays(project: Project) -> None:
    """The weights change without the expected outputs, as after a broken export."""
    arguments = (*RELOC, "model=keyword", "slots=2")
    assert project.scons(*arguments, "flash").status == 0
    project.change_one_weight("keyword", 0x55, count=1000)
    for _ in range(2):
        result = project.scons(*arguments, "flash-model").refused()
        assert "N6-FLASH-020: the board rejects model keyword in slot b, revision 1: N6-FW-055" in result.output
        assert "it still runs slot a, revision 0" in result.output
    assert json.loads((board_folder(project) / "record.models").read_text()) == {"keyword": {"slot": 0, "revision": 0}}


def states_of_a_cut(update: Update, folder: Path) -> Iterator[tuple[str, bool]]:
    """Write the NOR's file as power cuts before and in each sector's update leave it.

    Yields:
        The name of the state, and whether the update is complete.
    """
    sectors = [sector for image in images_of(update) for sector in sectors_of([image], BOARD.nor.sector)]
    for number, sector in enumerate(sectors):
        yield f"before sector {number}", False
        program(folder, [(sector.address, bytes([ERASED]) * len(sector.data))])
        yield f"sector {number} erased", False
        half = len(sector.data.rstrip(bytes([ERASED]))) // 2
        program(folder, [(sector.address, sector.data[:half])])
        yield f"sector {number} half written", False
        program(folder, [(sector.address, sector.data)])
    yield "complete", True


def test_a_power_cut_at_any_sector_write_ends_with_a_model_that_works(
    built: Project, folder: Path, tmp_path: Path
) -> None:
    """The updates go to an empty slot, and then to one with an older model."""
    app = tmp_path / "application"
    shutil.copytree(application(built), app)
    running = (0, 0)
    for _ in range(2):
        new_test(app / "params.bin", parse_reloc_file((app / "model.bin").read_bytes(), "model.bin").params_bytes)
        update = update_of(app, folder, running)
        assert update.slot == 1 - running[0]
        for name, complete in states_of_a_cut(update, folder):
            started = start(built, folder)
            new = (update.slot, update.revision)
            assert started.models["keyword"] == (new if complete else running), name
        running = (update.slot, update.revision)


def new_test(file: Path, size: int) -> None:
    """Write another image of the same model or weights, with another self-test.

    The outcome of this self-test is unknown.

    Args:
        size: Bytes of the file.
    """
    image = file.read_bytes()
    trailer = read_trailer(image, size)
    assert trailer is not None
    test = type(trailer.test)(trailer.test.input[::-1], None)
    changed = type(trailer)(trailer.bytes, trailer.crc32, trailer.identity, trailer.revision, test)
    file.write_bytes(image[: trailer_offset(size)] + pack_trailer(changed) + test.input)
    assert len(image) == trailer_offset(size) + TRAILER_BYTES + len(test.input)


@pytest.mark.slow
def test_a_model_needs_an_application_to_be_tried_by(project: Project) -> None:
    """The board is blank but for its models."""
    result = project.scons(*RELOC, "model=keyword", "slots=2", "flash-model").refused()
    assert "N6-RUN-006: the board starts no application for relocatable models" in result.output
    assert "loader=reloc flash, which also programs FSBL and Appli" in result.output


# Mistakes of a user.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("split=1",), "command line: error N6-OPTION-004: 'split=1' is for relocatable models"),
        (("loader=relok",), "N6-OPTION-002"),
        (("loader=reloc", "addresses=0x71000001"), "N6-SLOT-002"),
        (("loader=reloc", "addresses=0x70000000"), "N6-SLOT-002"),
        (("loader=reloc", "addresses=nowhere"), "N6-SLOT-002"),
        (("loader=reloc", "addresses=0x71000000", "model=keyword,anomaly"), "N6-SLOT-002"),
        (("probe=virtual", "flash-model"), "N6-FLASH-023"),
    ],
)
def test_a_mistake_is_named(arguments: tuple[str, ...], expected: str, project: Project) -> None:
    assert expected in project.scons(*arguments).refused().output
