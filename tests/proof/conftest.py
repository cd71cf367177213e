"""Kinds of builds, each built once for all tests.

A build from nothing of the same files is the reference.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import intelhex
import numpy as np
import pytest
from application.vision_trees import make_vision_project, network_of_boxes
from compiled_library import copy_project_file
from end_to_end.conftest import Project, Result, make_project
from image.test_haar_cascade import OLDER
from reloc.synthetic import synthetic_model
from shared_folder import made_once, shared_folder
from signing_stand_in import stand_in
from stedgeai_stand_in.tree import install
from trained_models import classifier, tflite_classifier
from trust.host_verifier import key_file
from trust.rom_signer import private_key, rom_keys

HERE = Path(__file__).resolve().parent
LIBRARY = HERE.parents[1] / "site_scons/n6build"
BOARD = "build/nucleo-n657"
LINKED, SPLIT, WHOLE = f"{BOARD}/miniresnet", f"{BOARD}/keyword-reloc", f"{BOARD}/anomaly-reloc"
SIGNED = tuple(f"{BOARD}-trust-full/{name}" for name in ("keyword/appli_image.bin", "include/n6_trust_key.h"))
ENCRYPTED = tuple(
    f"{BOARD}-trust-code-encrypted/keyword-noextmem/{name}" for name in ("appli_image.bin", "weights_AXISRAM5.bin")
)
QUANTISED = "build/quantised/float/accuracy.json"
INT8_TFLITE = "build/quantised/net/net_int8.tflite"
INPUTS_OF_QUANTISED = f"{BOARD}/float/inputs/network.npy"
THEIRS = ("fsbl=theirs/fsbl.bin", "appli=theirs/appli.bin", "data=theirs/data.hex")
# These reports describe the build itself and are no products.
_NOT_MADE = ("report.html", "report.txt", "report.json")


@dataclass(frozen=True)
class Kind:
    """A kind of build.

    Attributes:
        arguments: Arguments of scons.
        prepare: Function that adds the special files of its project.
        path: Folders in front of PATH, below the home of its user.
    """

    name: str
    arguments: tuple[str, ...]
    prepare: Callable[[Project], None] = lambda project: None
    path: tuple[str, ...] = ()

    def environment(self, project: Project) -> dict[str, str]:
        return {"PATH": os.pathsep.join([*(str(project.home / each) for each in self.path), os.environ["PATH"]])}


def describe_an_application(project: Project) -> None:
    project.replace(
        "models/miniresnet/model.yaml",
        "result: classification",
        "application: {input: {colour: grey}, aspect: fit}\npostprocess: {decoder: classification}\nresult: classification",
    )


def describe_a_file_system(project: Project) -> None:
    entries = [
        {"type": "tflite", "path": "{TOP}/models/anomaly/anomaly.tflite", "alignment": 32, "profile": "default"},
        {"type": "txt", "path": "notes.txt"},
        {"type": "haar", "path": "eye.xml", "stages": 0},
    ]
    (project.root / "rom").mkdir()
    (project.root / "rom/notes.txt").write_text("one model\n")
    (project.root / "rom/eye.xml").write_text(OLDER)
    (project.root / "rom/romfs_config.json").write_text(json.dumps({"0": {"size": "0x800000", "entries": entries}}))


def compile_elsewhere(project: Project) -> None:
    assert project.scons("model=anomaly", "backend=reference", "network").status == 0
    shutil.move(project.root / f"{BOARD}/anomaly/network", project.root / "elsewhere")
    shutil.rmtree(project.root / "build")


def bring_programs(project: Project) -> None:
    """Add an FSBL and an Appli that loop for ever, and data in two places.

    Each program has its vector table in front.
    """
    folder = project.root / "theirs"
    folder.mkdir()
    for name, address in (("fsbl", 0x34180400), ("appli", 0x34000400)):
        endless_loop = b"\xfe\xe7" * 2
        (folder / f"{name}.bin").write_bytes(struct.pack("<II", 0x34200000, address + 9) + endless_loop)
    data = intelhex.IntelHex()
    data.puts(0x70F00000, b"first")
    data.puts(0x70F00100, b"second")
    data.write_hex_file(str(folder / "data.hex"))


HOST_C = """
typedef struct { unsigned RBAR, RLAR; } ARM_MPU_Region_t;
__attribute__((section(".vectors"), used)) const unsigned vectors[4] = {0x34100000, 0x34000411};
__attribute__((used)) const ARM_MPU_Region_t table[1] = {{0x34200000 | 1u << 1, 0x3420FFE0 | 1u}};
__attribute__((section(".frames"), used)) char frames[4096];
void reset(void) { for (;;) { } }
"""
HOST_SCRIPT = """
MEMORY { RAM (rwx) : ORIGIN = 0x34000400, LENGTH = 64K
  FRAMES (rw) : ORIGIN = 0x34300000, LENGTH = 64K
}
SECTIONS {
  .vectors : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > RAM
  .frames (NOLOAD) : { KEEP(*(.frames)) } > FRAMES
  .others (NOLOAD) : { KEEP(*(.others)) } > FRAMES
}
"""
HOST_FILE = f"{BOARD}/anomaly-foreign/checks.json"
PROJECT_FILE = f"{BOARD}/boxes-foreign/project.elf"


def bring_a_host(project: Project) -> None:
    """Add an Appli as an ELF file, with variables in RAM that is off.

    One variable is reported with its source line, one with its object file.
    """
    folder = project.root / "theirs"
    folder.mkdir()
    (folder / "app.c").write_text(HOST_C)
    (folder / "bare.c").write_text('__attribute__((section(".others"), used)) char others[64];\n')
    (folder / "app.ld").write_text(HOST_SCRIPT)
    for command in (
        ["-g", "-c", "theirs/app.c", "-o", "theirs/app.o"],
        ["-g0", "-c", "theirs/bare.c", "-o", "theirs/bare.o"],
        [
            *("-nostdlib", "-Wl,-e,reset,-n,-Map,theirs/app.map", "-T", "theirs/app.ld"),
            *("theirs/app.o", "theirs/bare.o", "-o", "theirs/app.elf"),
        ],
    ):
        compiler = ["arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-Os"]
        # With this prefix, the sources are found in a copy of the project, too.
        compiler.append(f"-ffile-prefix-map={project.root.resolve()}=.")
        subprocess.run([*compiler, *command], cwd=project.root, check=True, capture_output=True)


def bring_a_project(project: Project) -> None:
    """Add a project of ST for pictures, and a network for it."""
    make_vision_project(project.root / "camera")
    (project.root / "boxes.tflite").write_bytes(network_of_boxes())


def forget_the_outputs(project: Project) -> None:
    """Remove the expected outputs, so that the reference interpreter computes them."""
    project.replace("models/keyword/model.yaml", "  expected: expected.npy\n", "")


def capture_the_outputs(project: Project) -> None:
    """Add captured outputs, as a user's board would give them."""
    (project.root / "theirs").mkdir()
    shutil.copy(project.root / "models/keyword/expected.npy", project.root / "theirs/outputs.npy")


def bring_a_model(project: Project) -> None:
    """Add a relocatable model that another tool has linked."""
    (project.root / "given").mkdir()
    (project.root / "given/network_rel.bin").write_bytes(synthetic_model((1, 1, 3, 8), tables=True, npu=False))


def bring_a_float_model(project: Project) -> None:
    """Add a float model with samples, of which not all are used, and labels."""
    classifier().save(project.root / "float", 60)
    description = "name: float\nfile: net.onnx\nquantise: {labels: labels.npy, most: 50}\n"
    (project.root / "float/model.yaml").write_text(description)


def bring_a_float_tflite(project: Project) -> None:
    """Add a float .tflite model with samples."""
    tflite_classifier().save(project.root / "lite", 20)


def bring_rows(project: Project) -> None:
    """Add a table with two inputs of the anomaly detector."""
    vectors = np.load(project.root / "models/anomaly/inputs.npy")
    rows = np.linspace(-1, 1, 2 * vectors[0].size).reshape(2, -1)
    np.savetxt(project.root / "rows.csv", rows, "%.3f", ",")


def install_a_compiler(project: Project) -> None:
    install(project.home / "core", "3.0")


def bring_a_key(project: Project) -> None:
    key_file(project.root)


def bring_a_secret(project: Project) -> None:
    bring_a_key(project)
    secret = project.root / "secret.key"
    secret.write_text("5a" * 32)
    secret.chmod(0o600)


def bring_rom_keys(project: Project) -> None:
    private_key(rom_keys(project.root / "keys"), 0)


def install_a_signing_tool(project: Project) -> None:
    stand_in(project.home / "signing", "2.21.0")


KINDS = {
    kind.name: kind
    for kind in (
        Kind("linked", ("build", "hex", "merge-report"), describe_an_application),
        Kind("split", ("loader=reloc", "model=keyword", "split=1", "gen_c_file=1", "verbosity=1", "build", "reloc")),
        Kind("whole", ("loader=reloc", "model=anomaly", "slots=2", "build", "reloc")),
        Kind("pools", ("loader=reloc", "model=anomaly", "parse_only=1", "reloc")),
        Kind("romfs", ("romfs=rom/romfs_config.json", "romfs"), describe_a_file_system),
        Kind("prebuilt", ("model=./elsewhere", "network", f"{BOARD}/elsewhere/inputs/network.npy"), compile_elsewhere),
        Kind(
            "quantised",
            ("model=float", "samples=float/samples.npy", QUANTISED, INPUTS_OF_QUANTISED),
            bring_a_float_model,
        ),
        Kind(
            "quantised_tflite", ("model=lite/net.tflite", "samples=lite/samples.npy", INT8_TFLITE), bring_a_float_tflite
        ),
        Kind("pictures", ("model=anomaly", "probe=virtual", "inputs=rows.csv", "flash", "run"), bring_rows),
        Kind("given", ("model=given/network_rel.bin", "network"), bring_a_model),
        Kind("st_edge_ai", ("model=keyword", "network"), install_a_compiler, ("core/Utilities/linux",)),
        Kind("npu", ("model=keyword", "backend=neural_art", "network")),
        Kind("signed", ("model=anomaly", "sign=tool", f"{BOARD}/fsbl_image.bin"), install_a_signing_tool, ("signing",)),
        Kind("rom_signed", ("model=anomaly", "sign=n6build:keys", f"{BOARD}/fsbl_image.bin"), bring_rom_keys),
        Kind("trusted", ("model=keyword", "trust=full", "trust_key=key-18.pem", "mcuboot", *SIGNED), bring_a_key),
        Kind(
            "encrypted",
            (
                *("model=keyword", "profile=noextmem", "trust=code", "trust_key=key-18.pem", "encrypt_key=secret.key"),
                *ENCRYPTED,
            ),
            bring_a_secret,
        ),
        # The description of a board with external RAM, camera and panel.
        Kind(
            "psram",
            (
                "board=stm32n6570-dk",
                *(f"build/stm32n6570-dk/include/n6_board_{each}.h" for each in ("psram", "vision")),
            ),
        ),
        Kind("foreign", (*THEIRS, "build"), bring_programs),
        Kind(
            "host",
            (
                *("model=anomaly", "appli=theirs/app.elf", "linker_map=theirs/app.map"),
                *("linker_script=theirs/app.ld", HOST_FILE),
            ),
            bring_a_host,
        ),
        Kind(
            "project",
            ("model=boxes.tflite", "appli=camera", "application=od_yolo_v8", PROJECT_FILE),
            bring_a_project,
        ),
        Kind("embedded", ("model=anomaly", "appli=theirs/app.elf", "library"), bring_a_host),
        Kind("watched", (*THEIRS, "probe=virtual", "until=instructions:100", "flash", "run"), bring_programs),
        # The smallest build that compiles, links and makes an image.
        Kind("fsbl", (f"{BOARD}/fsbl_image.bin",)),
        Kind(
            "run",
            ("model=anomaly", "probe=virtual", "flash", "run", "report"),
        ),
        Kind("compared", ("model=keyword", "probe=virtual", "flash", "run"), forget_the_outputs),
        Kind("captured", ("model=keyword", "captured=theirs/outputs.npy", "compare"), capture_the_outputs),
        Kind("update", ("loader=reloc", "model=anomaly", "slots=2", "probe=virtual", "flash")),
        Kind("started", ("model=anomaly", "probe=virtual", "mode=no-run", "flash", "run")),
        Kind("told", ("model=anomaly", "probe=virtual", "flash", "verify", "time", "vscode")),
        Kind("field", ("model=anomaly", "probe=virtual", "field-report")),
        Kind("epochs", ("model=keyword", "backend=neural_art", "probe=virtual", "epochs=1", "flash", "run")),
        Kind("ladder", ("backend=neural_art", "probe=virtual", "ladder")),
        Kind("recovered", ("model=anomaly", "recovery=on", "probe=virtual", "flash", "recover")),
        Kind("trial", ("loader=reloc", "model=anomaly", "slots=2", "trial=on", "probe=virtual", "flash")),
    )
}


@dataclass(frozen=True)
class Build:
    """A project of one kind.

    Attributes:
        memo: Folder with the compiled files of `clean_build`.
    """

    kind: Kind
    project: Project
    memo: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.project.root

    def scons(self, *arguments: str, **environment: str) -> Result:
        """Call scons, with the arguments of the kind unless others are given."""
        return self.project.scons(
            *(arguments or self.kind.arguments), **{**self.kind.environment(self.project), **environment}
        )

    def built(self, *arguments: str) -> list[str]:
        """Return the actions of a build that succeeds."""
        return self.scons(*arguments).done().actions

    def made(self) -> dict[str, str]:
        """Return the digests of all files below build/<board>."""
        return tree(self.root / "build")

    def made_from_nothing(self, *arguments: str) -> dict[str, str]:
        """Return the digests of a clean build of the project as it is now.

        The earlier build is put aside meanwhile.
        """
        aside = self.root / "build.aside"
        (self.root / "build").rename(aside)
        try:
            # Its cache is its own.
            environment = {**self.kind.environment(self.project), "XDG_CACHE_HOME": str(self.project.home / ".cache")}
            words = (str(self.memo), *(arguments or self.kind.arguments))
            self.project.call(sys.executable, HERE / "clean_build.py", *words, folder=None, **environment).done()
            return self.made()
        finally:
            shutil.rmtree(self.root / "build")
            aside.rename(self.root / "build")


def tree(build: Path) -> dict[str, str]:
    """Return the digests of products: those of boards and those that hosts link.

    Records of boards and of the build itself are no products.
    """
    linked = [build / name for name in ("libn6networks.a", "n6_networks.ld")]
    found = {f"build/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in linked if path.is_file()}
    for folder in sorted(build.iterdir()):
        if folder.is_dir() and folder.name not in (".n6build", "flash", "virtual_board"):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.name not in _NOT_MADE:
                    name = f"build/{path.relative_to(build)}"
                    found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


@dataclass(frozen=True)
class Builds:
    """All kinds of builds.

    Attributes:
        shared: Folder that all processes of this test run share.
    """

    shared: Path

    @property
    def memo(self) -> Path:
        path = self.shared / "memo"
        path.mkdir(exist_ok=True)
        return path

    def original(self, name: str) -> Build:
        """Return a build that was made once and must not be changed."""
        folder = self.shared / name
        build = Build(KINDS[name], Project(folder / "project", folder / "home"), self.memo)

        def make(folder: Path) -> None:
            make_project(folder)
            build.kind.prepare(build.project)
            build.built()

        made_once(folder, make)
        return build

    def copy(self, name: str, folder: Path) -> Build:
        build = self.original(name)
        root = Path(shutil.copytree(build.root, folder / name, symlinks=True, copy_function=copy_project_file))
        return Build(build.kind, Project(root, build.project.home), self.memo)


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return Builds(shared_folder(tmp_path_factory, "proof"))


# The normal run has these kinds of builds, `make test-all` the others.
_ALWAYS = ("linked", "fsbl")
# These tests look at builds of every kind.
_OF_ALL = (
    "test_every_step_is_in_some_build",
    "test_every_template_is_in_some_build",
    "test_every_kind_of_step_is_damaged",
    "test_every_kind_of_file_of_the_two_large_builds_has_an_edit_of_its_own",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of other kinds of builds as slow: they take minutes."""
    for item in items:
        if "proof/" not in item.nodeid:
            continue
        given = getattr(item, "callspec", None)
        values = given.params.values() if given else ()
        kinds = {value if isinstance(value, str) else getattr(value, "kind", None) for value in values} & set(KINDS)
        if kinds - set(_ALWAYS) or getattr(item, "originalname", "") in _OF_ALL:
            item.add_marker(pytest.mark.slow)
