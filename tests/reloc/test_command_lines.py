"""tools/npu_driver.py, which accepts ST's arguments, and tools/reloc.py.

The tests call both as a user does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import st_load_and_run
from end_to_end.conftest import Project, make_project
from n6build.base.errors import N6Error
from n6build.describe.hardware.boards import load_board
from n6build.place.reloc.reader import RelocFile
from n6build.place.reloc.slots import check_room, slots_at

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def call(
    tool: str, *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOLS / f"{tool}.py"), *map(str, arguments)]
    values = {**os.environ, **environment}
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=values, check=False)
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture(scope="module")
def scons_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("scons"))


def test_the_command_line_of_st_s_readme(network: Path, tmp_path: Path, whole: RelocFile) -> None:
    result = call("npu_driver", "-i", network / "network.c", "-o", tmp_path / "build")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "build/network_rel.bin").read_bytes() == whole.data
    assert list((tmp_path / "build").iterdir()) == [tmp_path / "build/network_rel.bin"]
    out = result.stdout
    assert f"   XIP size      = {whole.xip_bytes:<9,} (0x{whole.xip_bytes:x}) data+got+bss sections\n" in out
    assert f"   COPY size     = {whole.copy_bytes:<9,} (0x{whole.copy_bytes:x}) +ro sections\n" in out
    assert f"   PARAMS offset = {whole.params_offset:<9,} (0x{whole.params_offset:x})\n" in out
    assert "│ <undefined> (00000000) │ 00000000 UNUSED                │ 0    │ 00000000 │ 0     │\n" in out
    assert "Table: mempool c-descriptors (off=400" in out
    assert f'creating "{tmp_path / "build/network_rel.bin"}" (size={len(whole.data):,})' in out
    assert out.startswith("NPU Utility - Relocatable model generator (version 1.0)\nCreating date : ")
    # OpenMV's modelc.py searches for this text.
    assert re.search(r"([ \t]+XIP size.*?Table: mempool.*?\n)", out, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("split", [False, True])
def test_the_model_is_the_one_that_scons_makes(split: bool, scons_project: Project, tmp_path: Path) -> None:
    options = ("loader=reloc", "model=anomaly", "gen_c_file=1", f"split={int(split)}")
    scons_project.done(*options, "reloc")
    folder = scons_project.root / "build/nucleo-n657/anomaly-reloc"
    arguments = ("-i", folder / "network", "-o", tmp_path, "--gen-c-file", *(["--split"] if split else []))
    assert call("npu_driver", *arguments).returncode == 0
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    names = ["network_rel.bin", "network_rel.c", *(["network_rel_params.bin"] if split else [])]
    assert sorted(made) == names
    for name in names:
        assert made[name] == (folder / "network_rel" / name).read_bytes(), name


@pytest.mark.slow
def test_a_caller_who_has_closed_the_console(network: Path, tmp_path: Path, whole: RelocFile) -> None:
    tool = [sys.executable, str(TOOLS / "npu_driver.py"), "-i", str(network), "-o", str(tmp_path)]
    result = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *tool], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "network_rel.bin").read_bytes() == whole.data


def test_what_a_compiler_says_of_an_error(network: Path, tmp_path: Path) -> None:
    shutil.copytree(network, tmp_path / "network")
    with (tmp_path / "network/network.c").open("a") as file:
        file.write("int broken = nonsense;\n")
    result = call("npu_driver", "-i", tmp_path / "network", "-o", tmp_path / "out", "--log", tmp_path / "log.txt")
    assert result.returncode == 255
    words = "error: 'nonsense' undeclared here"
    assert words in result.stdout
    assert words in (tmp_path / "log.txt").read_text()
    for text in (result.stderr, (tmp_path / "log.txt").read_text()):
        assert "network_reloc.c: error N6-STEP-010: arm-none-eabi-gcc ended with status 1" in text
    assert "creating" not in result.stdout


def test_without_a_compiler(network: Path, tmp_path: Path) -> None:
    result = call("npu_driver", "-i", network, "-o", tmp_path / "out", PATH=str(tmp_path))
    assert result.returncode == 255
    assert "error N6-TOOL-001: the compiler arm-none-eabi-gcc was not found in PATH" in result.stderr
    assert call("npu_driver", "-i", network, "--parse-only", PATH=str(tmp_path)).returncode == 0


def test_an_output_folder_that_is_a_file(network: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    result = call("npu_driver", "-i", network, "-o", tmp_path / "out", "--no-clean")
    assert result.returncode == 255
    assert "error N6-FILE-001: cannot write" in result.stderr


def test_nothing_is_said_of_steps_unless_it_is_asked_for(network: Path, tmp_path: Path) -> None:
    quiet = call("npu_driver", "-i", network, "--parse-only", "--log", tmp_path / "log.txt")
    assert "reading 5 files" not in quiet.stdout
    assert "Backend" not in quiet.stdout
    assert "Backend prebuilt, 5 files" in (tmp_path / "log.txt").read_text()
    loud = call("npu_driver", "-i", network, "--parse-only", "-v")
    assert "reading 5 files" in loud.stdout
    assert "Backend prebuilt, 5 files" in loud.stdout


@pytest.mark.slow
def test_every_option_of_the_readme_is_taken(network: Path, tmp_path: Path, split: tuple[RelocFile, bytes]) -> None:
    out = tmp_path / "out"
    options = ["--input", network, "--output", out, "--name", "network", "--split", "--gen-c-file", "--no-clean"]
    options += ["--log", tmp_path / "log.txt", "--verbosity", "2", "--debug", "--no-color"]
    result = call("npu_driver", *options)
    assert result.returncode == 0, result.stderr
    assert (out / "network_rel.bin").read_bytes() == split[0].data
    assert (out / "network_rel_params.bin").read_bytes() == split[1]
    assert (out / "network_rel.c").is_file()
    assert (out / "network_rel_build/network_rel.elf").is_file()
    assert "PARAMS size" in (tmp_path / "log.txt").read_text()


@pytest.mark.slow
def test_a_report_in_json(network: Path, tmp_path: Path, whole: RelocFile) -> None:
    out = tmp_path / "out"
    result = call("npu_driver", "-i", network, "-o", out, "--json")
    assert result.returncode == 0, result.stderr
    text = (out / "network_rel.json").read_text()
    report = json.loads(text)
    assert report["compiler"]["version"] == {"major": 1, "minor": 1, "patch": 3, "build": 8}
    assert [tuple(each.values()) for each in report["reloc_binary_image"]["mempool_c_descriptors"]] == [
        ("xSPI2", "0x01010500", "RELOC.PARAM.0.RCACHED", 0, "0x00000000", whole.pools[0].size),
        ("AXISRAM3", "0x03020200", "RESET.ACTIV.WRITE", 0, "0x34200000", whole.pools[1].size),
    ]
    assert report["reloc_binary_image"]["bytes"]["copy"] == whole.copy_bytes
    assert report["files"] == [{"name": "network_rel.bin", "bytes": len(whole.data)}]
    assert str(tmp_path) not in text
    assert call("npu_driver", "-i", network, "-o", out, "--json", tmp_path / "named.json").returncode == 0
    assert (tmp_path / "named.json").read_text() == text


def test_parse_only_shows_the_pools_and_writes_nothing(network: Path, tmp_path: Path) -> None:
    result = call("npu_driver", "-i", network, "-o", tmp_path / "out", "--parse-only")
    assert result.returncode == 0
    assert "01010500 RELOC.PARAM.0.RCACHED" in result.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_model_made_whole_after_it_was_split_leaves_no_old_weights(network: Path, tmp_path: Path) -> None:
    assert call("npu_driver", "-i", network, "-o", tmp_path, "--split").returncode == 0
    assert call("npu_driver", "-i", network, "-o", tmp_path).returncode == 0
    assert not (tmp_path / "network_rel_params.bin").exists()


@pytest.mark.parametrize(
    ("arguments", "id"),
    [
        (["-i", "nowhere"], "N6-RELOC-023"),
        (["-i", "{network}", "--no-secure"], "N6-RELOC-004"),
        (["-i", "{network}", "--pack-dir", "nowhere"], "N6-LLATON-002"),
        (["-i", "{network}", "--llvm"], "N6-RELOC-022"),
        (["-i", "{network}", "-n", "other"], "N6-RELOC-023"),
    ],
)
def test_mistakes(arguments: list[str], id: str, network: Path, tmp_path: Path) -> None:
    result = call("npu_driver", *(a.format(network=network) for a in arguments), "-o", tmp_path / "out", cwd=tmp_path)
    assert result.returncode == 255
    assert f"error {id}:" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "id", "said"),
    [
        (("-i", "nowhere.bin"), "N6-FILE-002", "cannot read"),
        (("-i", "params.bin"), "N6-RELOC-030", "does not begin with NBIN"),
        (("-i", "cut.bin"), "N6-RELOC-041", "bytes are missing"),
        (("-i", "alone.bin"), "N6-RELOC-042", "'alone_params.bin' is missing in the same folder"),
        (("--board", "nucleo"), "N6-BOARD-001", "nucleo"),
        (("-i", "split.bin", "--address", "0x71000000,0x71000000"), "N6-SLOT-002", "have the same address"),
        (("-i", "split.bin", "--address", "0x71000000"), "N6-SLOT-002", "two addresses"),
        (("-i", "split.bin", "--address", "0x71010000,0x60000000"), "N6-SLOT-002", "0x60000000 is not a sector"),
        (("--address", "0x71000001"), "N6-SLOT-002", "0x71000001 is not a sector"),
        (("--mode", "copy,xip"), "N6-OPTION-002", "exclude each other"),
        (("--mode", "fast"), "N6-OPTION-002", "no mode 'fast'"),
        (("--mode", "no-flash,no-run"), "N6-OPTION-002", "exclude each other"),
        (("--probe", "nobody"), "N6-FLASH-", "nobody"),
    ],
)
def test_what_st_load_and_run_refuses_before_it_touches_a_board(
    arguments: tuple[str, ...],
    id: str,
    said: str,
    whole: RelocFile,
    split: tuple[RelocFile, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    files = {"network_rel.bin": whole.data, "params.bin": split[1], "cut.bin": whole.data[:-100]}
    files |= {"alone.bin": split[0].data, "split.bin": split[0].data, "split_params.bin": split[1]}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("N6BUILD_PROBE", "virtual")
    defaults = ("-i", "network_rel.bin", "--board", "nucleo-n657")
    assert st_load_and_run.main([*defaults, *arguments, "--log", "log.txt"]) == 255
    console = capfd.readouterr()
    assert f"error {id}" in console.err
    assert said in console.err
    assert "Flashing" not in console.out
    assert console.err.strip() in (tmp_path / "log.txt").read_text()
    assert not (tmp_path / "build/virtual_board").exists()


def test_the_defaults_of_st_s_readme() -> None:
    options = st_load_and_run._parser().parse_args([])
    assert (options.input, options.board) == (Path("build/network_rel.bin"), "stm32n6570-dk")
    assert (options.address, options.mode) == ("0x71000000,0x71800000", "copy")


def test_a_model_that_reaches_into_its_weights(whole: RelocFile) -> None:
    (slot,) = slots_at(load_board("stm32n6570-dk"), "0x71000000,0x71010000", split=True)[0]
    with pytest.raises(N6Error, match="N6-SLOT-003") as error:
        check_room(len(whole.data) + 0x10000, slot.file_bytes, "model.bin")
    assert "addresses further apart" in (error.value.hint or "")


def test_show_as_text_and_json(whole: RelocFile, tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(whole.data)
    text = call("reloc", "show", tmp_path / "m.bin")
    assert "ll_aton 1.1.3-8, ABI C (ST Edge AI Core 3.0)" in text.stdout
    assert "Cortex-M55, float hard, GCC, secure, asynchronous, debug fields (0x80785D22)" in text.stdout
    assert "  Input_0_out_0  int8 1x49x10x1, 490 bytes at 0x34201F40, scale 0.0818744, zero point -37\n" in text.stdout
    assert "  NODE_SW     12\n" in text.stdout
    shown = json.loads(call("reloc", "show", tmp_path / "m.bin", "--json").stdout)
    assert shown["abi"] == "C"
    assert shown["bytes"]["copy"] == whole.copy_bytes
    assert [pool["kind"] for pool in shown["pools"]] == ["RELOC.PARAM.0.RCACHED", "RESET.ACTIV.WRITE"]


def test_diff_tells_what_differs(whole: RelocFile, split: tuple[RelocFile, bytes], tmp_path: Path) -> None:
    for name, data in (("a", whole.data), ("b", whole.data[:-1] + b"\x99"), ("c", split[0].data)):
        (tmp_path / f"{name}.bin").write_bytes(data)
    same = call("reloc", "diff", tmp_path / "a.bin", tmp_path / "a.bin")
    assert (same.returncode, same.stdout) == (0, "the same\n")
    weights = call("reloc", "diff", tmp_path / "a.bin", tmp_path / "b.bin")
    assert weights.returncode == 1
    assert f"weights: 1 of {whole.params_bytes} bytes differ" in weights.stdout
    assert "split: False -> True" in call("reloc", "diff", tmp_path / "a.bin", tmp_path / "c.bin").stdout


def test_verify_is_a_loader(whole: RelocFile, split: tuple[RelocFile, bytes], tmp_path: Path) -> None:
    model, alone, params = tmp_path / "m.bin", tmp_path / "s.bin", tmp_path / "p.bin"
    model.write_bytes(whole.data)
    alone.write_bytes(split[0].data)
    params.write_bytes(split[1])
    assert call("reloc", "verify", model, "--firmware", "1.1.3-8").returncode == 0
    assert call("reloc", "verify", alone, "--params", params).returncode == 0
    wrong = call("reloc", "verify", model, "--firmware", "1.1.3-262")
    assert wrong.returncode == 1
    assert "ABI C and D" in wrong.stdout
    assert call("reloc", "verify", model, "--non-secure").returncode == 1
    (tmp_path / "n.bin").write_bytes(b"no model")
    assert call("reloc", "verify", tmp_path / "n.bin").returncode == 2
    assert call("reloc", "verify", tmp_path / "absent.bin").returncode == 2
