"""Edits of every file that a build reads: they are built.

The result is that of a build from nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from intelhex import Record
from reloc.synthetic import WEIGHTS, synthetic_model
from slow_rows import telling_rows
from trained_models import tflite_network
from trust.host_verifier import key_file

from proof.conftest import KINDS, Build, Builds, differences


def plans_of(build: Build) -> list[dict[str, Any]]:
    folder = build.root / "build/.n6build/plans"
    return [json.loads(path.read_bytes()) for path in sorted(folder.iterdir())]


def steps_of(build: Build) -> list[dict[str, Any]]:
    return [step for document in plans_of(build) for step in document["plan"]["steps"]]


def read_by(build: Build) -> set[str]:
    """Return the files of the project that its steps or its planning have read.

    The paths are relative; products are left out.
    """
    ledger = (build.root / "build/.n6build/ledger.jsonl").read_text().splitlines()
    found = {path for line in ledger for path, digest in json.loads(line)["inputs"].items() if digest}
    for document in plans_of(build):
        found |= {path for kind, path, _, fingerprint in document["uses"] if kind == "content" and fingerprint}
    relative = {os.path.relpath(os.path.realpath(build.root / path), os.path.realpath(build.root)) for path in found}
    return {path for path in relative if not path.startswith(("build/", "../", "tools/"))}


def marker(file: str) -> str:
    """Return a text that appears once in an object, however often it is included."""
    name = re.sub(r"\W", "_", file)
    declared = f'__attribute__((used)) static const char n6_proof_{name}[] = "proof";'
    return f"\n#ifndef N6_PROOF_{name}\n#define N6_PROOF_{name}\n{declared}\n#endif\n"


def append(build: Build, file: str, text: str) -> None:
    with (build.root / file).open("a") as opened:
        opened.write(text)


def objects_of(build: Build) -> dict[str, dict[str, Any]]:
    return {step["outputs"][0]: step for step in steps_of(build) if step["verb"] == "Compile"}


def includes_by_gcc(build: Build, step: dict[str, Any]) -> set[str]:
    """Return the files that the compiler lists for this object.

    Generated files are left out.
    """
    command = [part for part in step["command"] if part not in ("-MMD", "-MP")]
    for option in ("-o", "-MF"):
        at = command.index(option)
        del command[at : at + 2]
    command.remove("-c")
    text = subprocess.run([*command, "-MM"], cwd=build.root, capture_output=True, text=True, check=True).stdout
    return {os.path.normpath(path) for path in text.replace("\\\n", " ").partition(": ")[2].split()}


@pytest.fixture(params=["linked", "split"])
def edited(request: pytest.FixtureRequest, builds: Builds, tmp_path: Path) -> Build:
    """Return a copy of a build for each test.

    The planning of an edited copy has also read kernels that it does not compile.
    """
    return builds.copy(request.param, tmp_path)


@pytest.mark.slow
def test_c_files_and_headers(edited: Build) -> None:
    """Each header is edited by itself, then all C files, then all headers.

    Every object changes twice.
    """
    read = read_by(edited)
    headers = sorted(path for path in read if path.endswith(".h"))
    sources = sorted(path for path in read if path.endswith(".c"))
    objects = objects_of(edited)
    included = {name: includes_by_gcc(edited, step) for name, step in objects.items()}
    assert {path for each in included.values() for path in each if not path.startswith("build/")} == {
        *headers,
        *sources,
    }

    for header in headers:
        path = edited.root / header
        content = path.read_bytes()
        append(edited, header, marker(header))
        actions = edited.scons("-n", *edited.kind.arguments).actions
        path.write_bytes(content)
        expected = sorted(f"Compile {shown(objects[name])}" for name, files in included.items() if header in files)
        assert sorted(action for action in actions if action.startswith("Compile")) == expected, header

    for files in (sources, headers):
        before = edited.made()
        for file in files:
            append(edited, file, marker(f"{file} {len(files)}"))
        edited.built()
        after = edited.made()
        of_these = {name for name, each in included.items() if each & set(files)}
        assert of_these <= set(differences(before, after))
        # Reference: an object that reads none of these files stays the same.
        assert {name for name in objects if before[name] != after[name]} == of_these
    assert differences(edited.made(), edited.made_from_nothing()) == []
    assert edited.built() == []


def shown(step: dict[str, Any]) -> str:
    return re.sub(r"^build/[^/]+/", "", step["sources"][0])


# Every run covers this by end_to_end/test_change_table.py; tests/steps/test_what_steps_take.py checks that each
# template is in a signature.
@pytest.mark.slow
def test_templates(edited: Build) -> None:
    """Templates are edited together if no step reads two of them."""
    of_template: dict[str, list[dict[str, Any]]] = {}
    for step in steps_of(edited):
        for template in step.get("templates", ()):
            of_template.setdefault(template, []).append(step)
    waiting = sorted(of_template)
    assert waiting
    while waiting:
        chosen: list[str] = []
        used: set[str] = set()
        for template in waiting:
            names = {step["outputs"][0] for step in of_template[template]}
            if not names & used:
                chosen.append(template)
                used |= names
        before = edited.made()
        for template in chosen:
            append(edited, template, "/* proof */\n")
        edited.built()
        changed = set(differences(before, edited.made()))
        for template in chosen:
            for step in of_template[template]:
                assert changed & set(step["outputs"]), (template, step["outputs"][0])
        waiting = [template for template in waiting if template not in chosen]
    assert differences(edited.made(), edited.made_from_nothing()) == []


def test_every_template_is_in_some_build(builds: Builds) -> None:
    """`test_templates` edits most of them, rows of their own edit the others."""
    used = {
        file
        for name in ("linked", "split")
        for step in steps_of(builds.original(name))
        for file in step.get("templates", ())
    }
    used |= {edit.file for edit in EDITS if edit.file.endswith(".j2")}
    # Only target field-report uses this template. The target ends at a board and makes no product.
    used.add("firmware/templates/n6_field_registers.h.j2")
    there = {
        f"firmware/templates/{path.name}" for path in (builds.original("linked").root / "firmware/templates").iterdir()
    }
    assert used == there


@dataclass(frozen=True)
class Edit:
    """An edit of a file.

    Attributes:
        changes: True if the edit changes any product.
    """

    kind: str
    file: str
    make: Callable[[Build, str], None]
    changes: bool = True


def replaced(old: str, new: str) -> Callable[[Build, str], None]:
    return lambda build, file: build.project.replace(file, old, new)


def one_weight(build: Build, file: str) -> None:
    build.project.change_one_weight(Path(file).parent.name)


def one_number(build: Build, file: str) -> None:
    path = build.root / file
    values = np.load(path)
    values.reshape(-1).view(np.uint8)[0] ^= 1
    np.save(path, values)


def another_byte(build: Build, file: str) -> None:
    path = build.root / file
    content = path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])


def another_model(build: Build, file: str) -> None:
    made = synthetic_model((1, 1, 3, 8), weights=WEIGHTS[:-1] + b"!", tables=True, npu=False)
    (build.root / file).write_bytes(made)


def one_byte_more(build: Build, file: str) -> None:
    with (build.root / file).open("ab") as opened:
        opened.write(b"\n")


def one_record_more(build: Build, file: str) -> None:
    """Add a record behind the end of the file, as in a merged file."""
    with (build.root / file).open("a") as opened:
        opened.write(f"{Record.extended_linear_address(0x70F0)}\n{Record.data(0x200, [0xA5])}\n")


def another_order(build: Build, file: str) -> None:
    np.save(build.root / file, np.roll(np.load(build.root / file), 1, axis=0))


def twice_as_bright(build: Build, file: str) -> None:
    np.save(build.root / file, 2 * np.load(build.root / file))


def another_head(build: Build, file: str) -> None:
    """Write a float .tflite model whose last layer has other weights."""
    random = np.random.default_rng(4)
    (build.root / file).write_bytes(
        tflite_network(random.normal(size=(288, 4)).astype(np.float32), np.zeros(4, np.float32))
    )


def another_doc_string(build: Build, file: str) -> None:
    """Append field 6 of an ONNX model, a text of one letter."""
    with (build.root / file).open("ab") as opened:
        opened.write(b"\x32\x01x")


# The two large builds read these files.
OF_BOTH = {
    "boards/nor/macronix-octal.yaml": replaced("chosen: 20", "chosen: 18"),
    "boards/soc/stm32n657.yaml": replaced("0x486\n", "0x486\ninterrupt_count: 200\n"),
    "boards/soc/stm32n6.yaml": replaced("freq_ratio: 1.25, read_power: 18.5", "freq_ratio: 1.5, read_power: 18.5"),
    "boards/soc/stm32n6-npu.yaml": replaced("AGATES1: {offset: 0x0C}", "AGATES1: {offset: 0x1C}"),
    "boards/soc/stm32n6-devices.yaml": replaced("  HPDMA1_CH0: 68", "  HPDMA1_CH0: 69"),
    "boards/soc/stm32n6-camera.yaml": replaced("  CSI: 47", "  CSI: 46"),
    "boards/soc/stm32n6-blocks.yaml": replaced("LPTIM1: {base: 0x50002400", "LPTIM1: {base: 0x50002500"),
    # The provenance has the files of the board.
    "boards/i2c/imx335.yaml": one_byte_more,
    "firmware/portable.specs": replaced("(N6BUILD_HERE =.)", "(N6BUILD_HERE =.) -fno-inline"),
}


def proof_in_it(build: Build, file: str) -> None:
    append(build, file, "/* proof */\n")


def comment_line(build: Build, file: str) -> None:
    append(build, file, "# proof\n")


def another_key(build: Build, file: str) -> None:
    key_file(build.root, 19).replace(build.root / file)


_LIBRARIES = "Middlewares/AI_Runtime/Lib/GCC/ARMCortexM55/NetworkRuntime"


def another_rom_key(build: Build, file: str) -> None:
    path = build.root / file
    path.write_bytes(path.with_name("publicKey06.pem").read_bytes())


EDITS = (
    Edit("fsbl", "boards/nucleo-n657/board.yaml", replaced("baud: 115_200", "baud: 230_400")),
    Edit("linked", "boards/nucleo-n657/board.yaml", replaced("baud: 115_200", "baud: 921_600")),
    Edit(
        "linked", "models/miniresnet/model.yaml", replaced("colour: grey}, aspect: fit", "colour: grey}, aspect: crop")
    ),
    # Only people read the description.
    Edit("linked", "models/miniresnet/model.yaml", replaced("description: ", "description: new "), changes=False),
    Edit("linked", "models/miniresnet/miniresnet.tflite", one_weight),
    Edit("linked", "models/miniresnet/inputs.npy", one_number),
    *(Edit(kind, file, make) for kind in ("linked", "split") for file, make in OF_BOTH.items()),
    Edit("npu", "boards/npu/envelope.yaml", replaced("epochs: 448", "epochs: 449")),
    Edit("npu", "firmware/templates/network_ecblobs.h.j2", proof_in_it),
    Edit("trusted", "firmware/templates/n6_trust_key.h.j2", proof_in_it),
    Edit("project", "firmware/templates/camera_network.c.j2", replaced("+ 3];", "+ 4];")),
    Edit("project", "camera/Application/STM32N6570-DK/Src/app_logo.c", replaced("logo = 1", "logo = 2")),
    Edit(
        "project", "camera/Application/STM32N6570-DK/Inc/app_config.h", replaced("(480)", "(480) /* */"), changes=False
    ),
    Edit("project", "camera/README.md", replaced("A project", "Another"), changes=False),
    Edit("project", "camera/Application/STM32N6570-DK/Makefile", comment_line, changes=False),
    Edit("project", "camera/Application/STM32N6570-DK/app.ld", proof_in_it, changes=False),
    # The network that the model replaces, and the libraries of other releases.
    Edit("project", "camera/Model/network_atonbuf.xSPI2.raw", another_byte, changes=False),
    *(
        Edit("project", f"camera/{_LIBRARIES}{each}.a", one_byte_more, changes=False)
        for each in ("1000_CM55_GCC", "1100_CM55_GCC", "1100_CM55_GCC_PIC")
    ),
    Edit("project", "boxes.tflite", one_byte_more),
    Edit("trusted", "key-18.pem", another_key),
    Edit("rom_signed", "keys/publicKey05.pem", another_rom_key),
    Edit("encrypted", "secret.key", replaced("5a5a", "5a5b")),
    Edit("encrypted", "key-18.pem", another_key),
    Edit(
        "split",
        "boards/nucleo-n657/board.yaml",
        replaced("weights: {address: 0x71000000, size: 48M}", "weights: {address: 0x71000000, size: 32M}"),
    ),
    Edit("split", "models/keyword/model.yaml", replaced("network:\n", "network:\n  pools: {npuRAM3: 256K}\n")),
    Edit("split", "models/keyword/keyword.tflite", one_weight),
    Edit("split", "models/keyword/inputs.npy", one_number),
    Edit("split", "models/keyword/expected.npy", one_number),
    Edit("romfs", "rom/romfs_config.json", replaced('"alignment": 32', '"alignment": 256')),
    Edit("romfs", "rom/notes.txt", one_byte_more),
    Edit("romfs", "rom/eye.xml", replaced("<left_val>0.25", "<left_val>0.75")),
    Edit("romfs", "models/anomaly/anomaly.tflite", one_weight),
    Edit("prebuilt", "elsewhere/network.c", one_byte_more),
    Edit("prebuilt", "elsewhere/network.h", one_byte_more),
    Edit("prebuilt", "elsewhere/network_c_info.json", one_byte_more),
    Edit("prebuilt", "elsewhere/network_generate_report.txt", one_byte_more),
    Edit("prebuilt", "elsewhere/network_atonbuf.xSPI2.raw", another_byte),
    Edit("quantised", "float/net.onnx", another_doc_string),
    Edit("quantised", "float/model.yaml", replaced("most: 50", "most: 40")),
    Edit("quantised", "float/samples.npy", another_order),
    Edit("quantised", "float/labels.npy", another_order),
    Edit("quantised_tflite", "lite/net.tflite", another_head),
    Edit("quantised_tflite", "lite/samples.npy", twice_as_bright),
    Edit("given", "given/network_rel.bin", another_model),
    Edit("foreign", "theirs/fsbl.bin", one_byte_more),
    Edit("foreign", "theirs/appli.bin", one_byte_more),
    Edit("foreign", "theirs/data.hex", one_record_more),
    Edit("psram", "boards/psram/apmemory-x16.yaml", replaced("max_select_ns: 2000", "max_select_ns: 1000")),
    # Only the virtual board has these chips.
    Edit("psram", "boards/i2c/wm8904.yaml", one_byte_more, changes=False),
    Edit("st_edge_ai", "models/keyword/keyword.tflite", one_weight),
)


@pytest.mark.parametrize(
    "edit",
    telling_rows(EDITS, lambda each: each.kind == "fsbl"),
    ids=lambda edit: f"{edit.kind}: {edit.file}",
)
def test_an_edit_comes_to_what_a_clean_build_makes(edit: Edit, builds: Builds, tmp_path: Path) -> None:
    build = builds.copy(edit.kind, tmp_path)
    before = build.made()
    edit.make(build, edit.file)
    build.built()
    after = build.made()
    assert bool(differences(before, after)) == edit.changes
    assert differences(after, build.made_from_nothing()) == []
    assert build.built() == []


# These files are read by several kinds of builds in the same way, or belong to tools that have tests of their own.
_LIKE_ANOTHER = re.compile(
    r"boards/[^/]+/board\.yaml|boards/(soc|nor|i2c)/.*\.yaml|boards/npu/envelope\.yaml"
    r"|keys/p\w+Key0\d\.pem|models/(ladder/)?[^/]+/(model\.yaml|\w+\.npy|\w+\.tflite)|firmware/portable\.specs|(core|signing|theirs)/.*"
    # Inputs of a run, which runs each time.
    r"|rows\.csv"
)


def covered(kind: str) -> Iterable[str]:
    return (edit.file for edit in EDITS if edit.kind == kind)


@pytest.mark.parametrize("name", KINDS)
def test_every_file_that_is_read_has_an_edit(name: str, builds: Builds) -> None:
    read = read_by(builds.original(name))
    left = {path for path in read if not path.endswith((".c", ".h", ".j2")) or path.startswith("elsewhere/")}
    assert {path for path in left - {*covered(name)} if not _LIKE_ANOTHER.fullmatch(path)} == set()


@pytest.mark.parametrize("name", ["linked", "split"])
def test_every_kind_of_file_of_the_two_large_builds_has_an_edit_of_its_own(name: str, builds: Builds) -> None:
    read = {path for path in read_by(builds.original(name)) if not path.endswith((".c", ".h", ".j2"))}
    assert read == {*covered(name)} | {path for path in read if path.endswith("expected.npy") and name == "linked"}
