"""Errors without a test elsewhere, provoked through the library."""

from __future__ import annotations

import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from called import call
from n6build.base.environment import read_environment
from n6build.base.errors import N6Error
from n6build.base.paths import BOARDS, MODELS, ROOT
from n6build.base.span import Span
from n6build.base.yaml_schema import read_document
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.probes import PROGRAMMERS, programmer_of_probe
from n6build.board.flash.sectors import sectors_of, wanted_sectors
from n6build.board.flash.verify import check_read_back
from n6build.board.flash.virtual import VirtualProgrammer
from n6build.board.run.epoch_test_run import FedNetwork, run_fed
from n6build.board.run.session import read_outcome
from n6build.board.virtual_board.build import _install, _prepare, find_emulator
from n6build.board.virtual_board.qemu import RELEASES
from n6build.board.virtual_board.run import NorBoot
from n6build.board.virtual_board.source_package import fetch_source
from n6build.check.run import read_results
from n6build.compile.application.h7_project import picture_of
from n6build.compile.artifacts.c_info_pools import ActivationPools
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.board_pools import pools_of
from n6build.compile.memory_pools import initializer_pools
from n6build.compile.reference.compile_model import compile_network
from n6build.compile.st_edge_ai.find import Installation, parse_version
from n6build.compile.st_edge_ai.log import diagnose, read_log
from n6build.compile.st_edge_ai.run_compiler import compile_network as compile_by_st
from n6build.compile.st_edge_ai.st_edge_ai_options import CompilerOptions
from n6build.compile.toolchain import COMPILER, find_toolchain
from n6build.describe.choices import Choices
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.blocks import blocks_of
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import EpochTolerance
from n6build.engine.command import run_command
from n6build.engine.step import Step
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.elf_reader import payload_of
from n6build.place.image.manifest import FlashManifest, Segment
from n6build.place.memory_plan.board_memory import memory_of
from n6build.place.memory_plan.build_plan import CompiledNetwork, make_plan
from n6build.place.memory_plan.vectors import VectorShape, read_vectors
from n6build.place.reloc.description import read_description
from n6build.place.reloc.model_format import HEADER_FIELDS, MAGIC
from n6build.place.reloc.reader import parse_reloc_file
from n6build.place.reloc.slots import model_slots
from n6build.steps.board_files import board_files, choice_of
from n6build.steps.flash_board import Target
from n6build.steps.pipeline import application_plan
from n6build.steps.start_board import start_board_step

NUCLEO = load_board("nucleo-n657")
KEYWORD = MODELS / "keyword" / "keyword.tflite"
OF_A_PROBE = Target(board_files(NUCLEO)[0], choice_of(NUCLEO), "1", "1", "build/virtual_board", "ram", foreign=True)
OF_A_NOR = NorBoot(Path("nor.bin"), NUCLEO)


def of_board(folder: Path, file: str, old: str, new: str, board: str = "nucleo-n657") -> Board:
    """Load the board after an edit of its description or of the chip's."""
    boards = folder / "boards"
    shutil.copytree(BOARDS, boards)
    path = boards / file
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))
    return load_board(board, boards)


def of_soc(folder: Path, old: str, new: str) -> Board:
    return of_board(folder, "soc/stm32n6.yaml", old, new)


def of_blocks(folder: Path, old: str, new: str) -> None:
    blocks_of(of_soc(folder, old, new).soc)


def written(folder: Path, data: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def not_the_listed_file(folder: Path) -> None:
    written(folder, b"other", "a.bin")
    wanted_sectors(FlashManifest("b", 0x70000000, 1 << 20, 4096, (Segment("a", "a.bin", 0x70000000, 5, "00"),)), folder)


def a_folder_in_place_of_the_nor(folder: Path) -> None:
    (folder / "nor.bin").mkdir()
    VirtualProgrammer(folder, 0x70000000, 1 << 20).program([])


def short_reading(folder: Path) -> None:
    """Read with a programmer that reports success but writes half of the bytes."""
    script = '#!/bin/sh\nfor words; do :; done\nfor file in $words; do :; done\nprintf ab > "$file"\n'
    command = written(folder, script.encode(), "pyocd")
    command.chmod(0o755)
    kind = PROGRAMMERS["pyocd"]
    ProbeProgrammer(kind, command, "0041", NUCLEO, folder / "record.json").read([Span(0x70000000, 4)])


def too_many_vectors(folder: Path) -> None:
    compile_network(KEYWORD, pools_of(NUCLEO, "extflash"), folder)
    artifacts = read_artifacts(folder, "network")
    size = sum(port.bytes for port in artifacts.inputs)
    count = (NUCLEO.slots.vectors.size + NUCLEO.slots.weights.size) // size
    network = CompiledNetwork("keyword", artifacts, VectorShape("v.npy", count, size), True)
    make_plan(memory_of(NUCLEO, {}), "extflash", [network])


def without_pools(folder: Path) -> None:
    compile_network(KEYWORD, pools_of(NUCLEO, "extflash"), folder)
    (folder / "network_c_info.json").unlink()
    source = folder / "network.c"
    source.write_text(source.read_text().replace("/* index=", "/* number="))
    read_artifacts(folder, "network")


def a_network_of_a_strange_name(folder: Path) -> None:
    compile_network(KEYWORD, pools_of(NUCLEO, "extflash"), folder, name="not a name")


def planned(*goals: str, **choices: object) -> None:
    application_plan(Choices(**choices), read_environment(), goals, "virtual")  # type: ignore[arg-type]


def a_missing_command(folder: Path) -> None:
    run_command(
        Step(verb="X", stage="x", outputs=(str(folder / "out"),), sources=(), command=("no-such-program",)),
        {"PATH": str(folder)},
    )


def a_damaged_compiler(folder: Path) -> None:
    script = b"#!/bin/sh\ncase $* in *=cc1) echo /nowhere/cc1;; *) echo /bin/sh;; esac\n"
    written(folder, script, COMPILER).chmod(0o755)
    find_toolchain(read_environment({"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)}), None)


def of_log(text: str, status: int = 1) -> None:
    error = diagnose(read_log(text), status, pool_bytes=1 << 20)
    assert error is not None
    raise error


def a_compiler_that_cannot_start(folder: Path) -> None:
    tool = written(folder, b"#!/nowhere/python\n", "stedgeai")
    tool.chmod(0o755)
    compile_by_st(
        KEYWORD,
        pools_of(NUCLEO, "extflash"),
        folder / "out",
        "network",
        CompilerOptions(),
        Installation(None, tool),
        parse_version("ST Edge AI Core v4.0.1-20581 7ed50de05"),
        {"PATH": "/usr/bin:/bin"},
        on_progress=lambda _: None,
        on_note=lambda _: None,
    )


def a_network_that_lists_no_buffers(folder: Path) -> None:
    (folder / "net.c").write_text("LL_ATON_EpochBlockItems_net(void) {\n}\n")
    artifacts = NetworkArtifacts("net", "net", folder / "net.c", (), (), (), (), (), (), None, None, (), "net.c")
    run_fed(
        OF_A_NOR,
        [FedNetwork("m", artifacts, folder / "m.tflite", folder / "m.npy", EpochTolerance())],
        [],
        lambda _: None,
    )


def a_header_of(**words: int) -> bytes:
    """Return a relocatable model with these header words and no content."""
    header = dict.fromkeys(HEADER_FIELDS, 0) | {"magic": MAGIC} | words
    return struct.pack(f"<{len(HEADER_FIELDS)}I", *header.values()).ljust(4096, b"\0")


PROVOKED: dict[str, Callable[[Path], object]] = {
    "N6-APP-011": lambda p: picture_of(ActivationPools((), 0, (1, 5), None), None),
    "N6-BOARD-002": lambda p: of_board(p, "nucleo-n657/board.yaml", "soc: stm32n657", "soc: stm32n6577"),
    "N6-BOARD-007": lambda p: of_board(p, "nucleo-n657/board.yaml", "0x70100000, size: 2M}", "0x70100000, size: 15M}"),
    "N6-BOARD-008": lambda p: of_board(p, "openmv-n6/board.yaml", "region: heap", "region: hep", "openmv-n6"),
    "N6-BOARD-012": lambda p: of_board(p, "nucleo-n657/board.yaml", "name: nucleo-n657\n", "name: nucleo\n"),
    "N6-BUS-002": lambda p: of_board(p, "stm32n6570-dk/board.yaml", "part: wm8904", "part: wm8905", "stm32n6570-dk"),
    "N6-CHECK-101": lambda p: read_results(written(p, b"[{}]")),
    "N6-FLASH-001": not_the_listed_file,
    "N6-FLASH-003": a_folder_in_place_of_the_nor,
    "N6-FLASH-004": lambda p: check_read_back(
        sectors_of([(0x70000000, b"a")], 4096), lambda spans: [bytes(span.size) for span in spans], "here"
    ),
    "N6-FLASH-008": short_reading,
    "N6-FLASH-018": lambda p: programmer_of_probe("openocb:0041", NUCLEO),
    "N6-IMAGE-001": lambda p: payload_of(written(p, b"no ELF")),
    "N6-IMAGE-002": lambda p: with_boot_header(b"", 0x34180400, BinaryType.FSBL, 0x400),
    "N6-IMAGE-003": lambda p: with_boot_header(bytes(16), 0x34180400, BinaryType.FSBL, 0x400),
    "N6-NET-010": lambda p: initializer_pools([]),
    "N6-NET-014": a_network_of_a_strange_name,
    "N6-NET-022": without_pools,
    "N6-LADDER-003": lambda p: planned("ladder", models=("keyword",), probe="virtual"),
    "N6-OPTION-007": lambda p: planned("run", models=("keyword", "anomaly"), probe="virtual", inputs="x.npy"),
    "N6-OPTION-011": lambda p: planned("run", models=("keyword",), probe="virtual", start="ram"),
    "N6-OPTION-012": lambda p: planned("run", models=(), probe="123", appli="theirs.elf"),
    "N6-OPTION-014": lambda p: start_board_step("x.json", (), "", NUCLEO, OF_A_PROBE),
    "N6-OPTION-015": lambda p: planned("run", models=("keyword",), probe="virtual", audio="x.wav", runs=2),
    "N6-OPTION-021": lambda p: planned("library", models=("keyword",), probe="virtual", loader="reloc"),
    "N6-OPTION-017": lambda p: planned("run", models=("keyword",), probe="123", epochs=True),
    "N6-OPTION-016": lambda p: planned("run", models=("keyword",), probe="stlink", trace="npu"),
    "N6-OPTION-023": lambda p: planned("run", models=("keyword",), probe="stlink", fuses="dk"),
    "N6-OPTION-024": lambda p: planned("run", models=("keyword",), probe="stlink", harsh=1),
    "N6-OPTION-025": lambda p: planned("run", models=("keyword",), probe="virtual", camera="x.png"),
    "N6-PLAN-005": too_many_vectors,
    "N6-POOL-001": lambda p: pools_of(NUCLEO, "extflash", {"npuRAM33": 1024}),
    "N6-RECOVER-007": lambda p: planned("recover", models=("keyword",), probe="virtual", fsbl="theirs.elf"),
    "N6-RECOVER-008": lambda p: planned("recover", models=("keyword",)),
    "N6-RELOC-008": lambda p: read_description(written(p, b"{}")),
    "N6-RELOC-030": lambda p: parse_reloc_file(b"", "x"),
    "N6-RELOC-031": lambda p: parse_reloc_file(struct.pack("<I", MAGIC), "x"),
    "N6-RELOC-032": lambda p: parse_reloc_file(a_header_of(rel_start=0xFFFFFFFF), "x"),
    "N6-RUN-012": a_network_that_lists_no_buffers,
    "N6-RUN-007": lambda p: read_outcome(written(p, b"{}")),
    "N6-SLOT-001": lambda p: model_slots(NUCLEO, 1 << 16, slots=2, split=True),
    "N6-SOC-002": lambda p: of_soc(p, "rcc_field: AXISRAM3EN", "rcc_field: AXISRAM33EN"),
    "N6-SOC-004": lambda p: of_soc(p, "memory: AXISRAM3,", "memory: AXISRAM33,"),
    "N6-SOC-003": lambda p: of_soc(p, "    instances: {XSPI1: 0x58025000, XSPI2: 0x5802A000, XSPI3: 0x5802D000}\n", ""),
    "N6-SOC-008": lambda p: of_blocks(p, "base: 0x580E0000", "base: 0x580DFC00"),
    "N6-SOC-009": lambda p: of_blocks(p, "CRCEN: 19", "CRCENA: 19"),
    "N6-SOC-005": lambda p: of_soc(p, "{IC1: {pll: PLL1, by: 2}, IC2: {pll: PLL1, by: 3}, ", "{"),
    "N6-STAI-002": lambda p: parse_version("hello"),
    "N6-STAI-003": lambda p: parse_version("ST Edge AI Core v9.0.0-1"),
    "N6-STAI-027": lambda p: of_log(f"total bytes left unallocated={1 << 40}\n"),
    "N6-STAI-034": lambda p: of_log("something that nobody knows\n"),
    "N6-STAI-042": a_compiler_that_cannot_start,
    "N6-STEP-011": a_missing_command,
    "N6-TOOL-002": a_damaged_compiler,
    "N6-VEC-001": lambda p: read_vectors(written(p, b"no array", "v.npy")),
    "N6-YAML-001": lambda p: read_document(p / "nothing.yaml"),
    "N6-YAML-002": lambda p: read_document(written(p, b"a: [")).load(dict[str, str]),
    "N6-YAML-006": lambda p: of_board(p, "nucleo-n657/board.yaml", "title: NUCLEO-N657X0-Q\n", ""),
}


@pytest.mark.parametrize("id", PROVOKED)
def test_is_raised_by_its_id(id: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error) as caught:
        PROVOKED[id](tmp_path)
    assert caught.value.id == id, str(caught.value)


def test_the_virtual_board_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(N6Error, match="N6-VB-001"):
        find_emulator(NUCLEO.soc)


def test_the_source_of_the_virtual_board_without_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(N6Error, match="N6-VB-002"):
        fetch_source(tmp_path / "source", RELEASES[0].version)


def test_a_release_that_the_virtual_board_is_not_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N6BUILD_QEMU", "9.2")
    with pytest.raises(
        N6Error,
        match="N6-VB-008: N6BUILD_QEMU=9.2: the virtual board does not support it\n  hint: use one of 7.2, 10.0",
    ):
        find_emulator(NUCLEO.soc)


@pytest.mark.parametrize("package", ["with an archive", "without one"])
def test_the_source_of_the_virtual_board_that_cannot_be_had(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("apt-get", "apt-cache"):
        text = "echo Version: 1:7.2+dfsg-7" if package == "without one" else "exit 1"
        written(tmp_path, f"#!/bin/sh\n{text}\n".encode(), name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(N6Error, match="N6-VB-003"):
        fetch_source(tmp_path / "source", RELEASES[0].version)


def test_packages_for_the_virtual_board_where_nothing_can_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(N6Error, match="N6-VB-004: these packages are missing: meson"):
        _install(["meson"])


def test_another_source_of_the_virtual_board_than_expected(tmp_path: Path) -> None:
    for folder in ("pc-bios", "configs/devices/arm-softmmu", "hw/arm"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "hw/arm/Kconfig").write_text("another QEMU\n")
    with pytest.raises(N6Error, match="N6-VB-005: the source of QEMU 10.0 differs from the expected one"):
        _prepare(tmp_path, RELEASES[1])


def test_a_set_up_that_cannot_go_on(tmp_path: Path) -> None:
    code = "import setup; raise SystemExit(setup.fail('a thing is missing', 'get it'))"
    result = call(sys.executable, "-c", code, cwd=ROOT / "tools", PYTHONPATH=str(ROOT / "tools"), PATH="/usr/bin:/bin")
    assert result.returncode == 1
    assert result.stderr == "error N6-SETUP-001: a thing is missing\n  hint: get it\n"
