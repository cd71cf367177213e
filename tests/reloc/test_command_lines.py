"""tools/npu_driver.py, which takes the arguments of ST's tool, and tools/reloc.py, as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from n6build.reloc.reader import RelocFile

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def call(tool: str, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOLS / f"{tool}.py"), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    assert "Traceback" not in result.stderr
    return result


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


def test_parse_only_shows_the_pools_and_writes_nothing(network: Path, tmp_path: Path) -> None:
    result = call("npu_driver", "-i", network, "-o", tmp_path / "out", "--parse-only")
    assert result.returncode == 0
    assert "01010500 RELOC.PARAM.0.RCACHED" in result.stdout
    assert not (tmp_path / "out").exists()


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
    assert result.returncode == 2
    assert f"error {id}:" in result.stderr


def test_show_as_text_and_json(whole: RelocFile, tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(whole.data)
    text = call("reloc", "show", tmp_path / "m.bin")
    assert "ll_aton 1.1.3-8, ABI C (ST Edge AI Core 3.0)" in text.stdout
    assert "Cortex-M55, float hard, GCC, secure, asynchronous, debug fields (0x80785D22)" in text.stdout
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
