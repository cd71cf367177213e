"""Fuzz targets for handwritten YAML: boards, chips, models, partitions, pools."""

from __future__ import annotations

import inspect
import shutil
from functools import cache
from pathlib import Path
from unittest import mock

from n6build.base.paths import BOARDS, MODELS
from n6build.base.yaml_schema import parse_document
from n6build.board.run.instructions import read_meanings
from n6build.compile.board_pools import pools_of
from n6build.compile.lossless import from_yaml, parse_strict, to_yaml
from n6build.compile.mpool import mpool_text
from n6build.describe.hardware import boards
from n6build.describe.hardware.boards import load_board, read_board
from n6build.describe.hardware.i2c import load_i2c_part
from n6build.describe.hardware.nor import load_nor_commands
from n6build.describe.hardware.psram import load_psram_commands
from n6build.describe.hardware.soc import read_soc
from n6build.describe.model import load_model
from n6build.judge.timing.facts import read_measurements
from n6build.judge.timing.model import MODEL
from n6build.judge.timing.model import read_model as read_time_model
from n6build.place.image.romfs_manifest import read_manifest

from fuzz.target import Target, of_file

_INSTRUCTIONS = b"kinds:\n  cpu: {code: text, grade: measured, says: text, cycles: {low: 1.0, high: 2.5}}\n"
_MEASURED = (
    b"sources:\n  S: {what: text, where: text}\nclocks:\n  c: {cpu: 800, npu: 1000, nor: 200, sure: stated}\nnetworks:\n"
    b"  - {id: A, what: net, ms: 2.5, source: S, clocks: c, sure: stated, weights: on chip, layers: {name: mobilenet-v1,"
    b" input: [224, 224, 3], classes: 10, alpha: 0.5},"
    b" work: {family: net, layers: 10, softmax: 2}}\ntables: []\nblocks: []\noperators: []\nhybrid: []\n"
    b"cpu_layers: []\nestimates: []\n"
)
_ROMFS = b'"0":\n  size: "0x1000"\n  entries:\n    - {type: file, path: "a.txt", alignment: 16}\n'
POOLS = mpool_text(pools_of(load_board("stm32n6570-dk"), "allmems")).encode()


# Reading the chip takes longest, and it has its own target, so it is done once.
_soc = cache(read_soc)


def _board(data: bytes, folder: Path) -> None:
    path = folder / "boards" / "nucleo-n657" / "board.yaml"
    if not path.is_file():
        path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with mock.patch.object(boards, "read_soc", _soc):
        inspect.unwrap(read_board)(path)


def _model(data: bytes, folder: Path) -> None:
    path = folder / "any" / "model.yaml"
    if not path.is_file():
        shutil.copytree(MODELS / "miniresnet", folder / "any")
    path.write_bytes(data)
    load_model("any", folder)


_SMALL_POOLS = to_yaml(
    parse_strict(b'{"a": {"b": [1, 2.50, "0x10"], "c": "yes"}}', "a", "N6-MPOOL-001"), "memory_pools"
).encode()


def _chip(data: bytes, folder: Path) -> None:
    path = folder / "soc" / "stm32n657.yaml"
    if not path.is_file():
        shutil.copytree(BOARDS / "soc", folder / "soc")
    path.write_bytes(data)
    read_soc(path)


def _romfs(data: bytes, folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"a")
    path = folder / "romfs.yaml"
    path.write_bytes(data)
    read_manifest(path, folder)


def _document(data: bytes, folder: Path) -> None:
    document = parse_document(data.decode("utf-8", "replace"), "a.yaml")
    document.load(dict[str, tuple[int | str | bool | float | None, ...]])


def _first(folder: str) -> bytes:
    return sorted((BOARDS / folder).glob("*.yaml"))[0].read_bytes()


_KEYS = [
    b"include: stm32n6.yaml",
    b"~",
    b"4M",
    b"0x70000000",
    b"name: nucleo-n657",
    b"&a",
    b"*a",
    b"<<: *a",
    b"? ",
    b"- ",
    b"|",
    b">",
]

DESCRIPTIONS = (
    Target("board.yaml", lambda: [(BOARDS / "nucleo-n657" / "board.yaml").read_bytes()], _board, _KEYS),
    Target("chip's YAML", lambda: [(BOARDS / "soc" / "stm32n657.yaml").read_bytes()], _chip, _KEYS),
    Target(
        "NOR's YAML",
        lambda: [_first("nor")],
        of_file("macronix-octal.yaml", lambda path: load_nor_commands(path, "nor")),
        _KEYS,
    ),
    Target(
        "PSRAM's YAML",
        lambda: [_first("psram")],
        of_file("apmemory-x16.yaml", lambda path: load_psram_commands(path, "psram")),
        _KEYS,
    ),
    Target(
        "I2C part's YAML",
        lambda: [_first("i2c")],
        of_file("imx335.yaml", lambda path: load_i2c_part(path, "i2c")),
        _KEYS,
    ),
    Target("instructions' YAML", lambda: [_INSTRUCTIONS], of_file("instructions.yaml", read_meanings), _KEYS),
    Target("measured times' YAML", lambda: [_MEASURED], of_file("timings.yaml", read_measurements), _KEYS),
    Target("time model's YAML", lambda: [MODEL.read_bytes()], of_file("model.yaml", read_time_model), _KEYS),
    Target("model.yaml", lambda: [(MODELS / "miniresnet" / "model.yaml").read_bytes()], _model, _KEYS),
    Target("romfs description", lambda: [_ROMFS], _romfs, _KEYS),
    Target("any YAML", lambda: [b"a: [1, 2.5, true, text, ~]\nb: &x [1]\nc: *x\n"], _document, _KEYS),
    Target(
        "pools as YAML",
        lambda: [_SMALL_POOLS],
        lambda data, _: from_yaml(data.decode("utf-8", "replace"), "a.yaml"),
        _KEYS,
    ),
)
