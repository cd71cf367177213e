"""The speed of the NPU's model, outside of the emulator and on the virtual board.

    .venv/bin/python tools/bench_npu.py

It computes convolutions of some depths, and the networks of the samples if they are there.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from n6build.base.paths import ROOT
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.board.virtual_board.npu_record import read_npu_record
from n6build.board.virtual_board.run import Limits, NorBoot, nor_command
from n6build.describe.hardware.boards import load_board

sys.path.insert(0, str(ROOT / "tests"))
from samples import samples_folder
from virtual_board.npu.model import Npu, Regions, build_model
from virtual_board.npu.reid import ARENA, BLOB, FLASH_PADDING, OUTPUT, blob_of

MEMORY = ROOT / "tools" / "bench_npu_memory.c"
COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
REPEATS = 3
DEPTHS = (8, 16, 32)
# These are the size of a frame, the number of frames, and the kernels of each frame.
WIDTH, HEIGHT, FRAMES, KERNELS, SIZE = 128, 64, 16, 8, 3
REID = "reid-mobilenetv2-core-3.0"


@dataclass(frozen=True)
class SampleNetwork:
    """A compiled network.

    Attributes:
        name: Name of the network.
        board: Board that it is for.
        release: Release of ST Edge AI Core whose runtime drives it.
    """

    name: str
    board: str
    release: str


NETWORKS = (SampleNetwork(REID, "nucleo-n657", "3.0"), SampleNetwork("yamnet-core-2.2", "stm32n6570-dk", "2.2"))
# ST's runtime cannot be compiled without these headers of the device.
HEADERS = "apps/audio"


class NativeNpu(Npu):
    """The NPU's model with memory that it reads without Python."""

    def __init__(self, library: ctypes.CDLL, memory: ctypes.CDLL, parts: dict[int, np.ndarray]) -> None:
        super().__init__(library, Regions(parts))
        self.close()
        for index, (address, part) in enumerate(parts.items()):
            data = ctypes.c_void_p(part.ctypes.data)
            memory.bench_region(index, ctypes.c_uint32(address), ctypes.c_uint32(part.size), data)
        functions = [ctypes.cast(getattr(memory, name), ctypes.c_void_p) for name in ("bench_read", "bench_write")]
        self._table = (ctypes.c_void_p * 3)(*functions, None)
        self._npu = ctypes.c_void_p(library.n6npu_new(ctypes.byref(self._table)))


def npu_speed() -> Iterator[tuple[str, str]]:
    """Yield name and value of each figure."""
    with tempfile.TemporaryDirectory(prefix="n6npu-") as name:
        folder = Path(name)
        library, memory = build_model(folder), _compiled_memory(folder)
        for depth in DEPTHS:
            macs, seconds = convolution(library, memory, depth)
            yield f"NPU's model, convolution of depth {depth}", f"{macs / seconds / 1e9:.1f} GMAC/s"
        samples = samples_folder()
        if samples is None:
            return
        if (samples / "npu" / REID).is_dir():
            seconds = reid(library, memory, samples / "npu" / REID)
            yield f"NPU's model, {REID}", f"{seconds:.2f} s"
        for network in NETWORKS:
            if all((samples / part).is_dir() for part in (f"npu/{network.name}", f"core/{network.release}", HEADERS)):
                yield from on_board(folder / network.name, samples, network)


def _compiled_memory(folder: Path) -> ctypes.CDLL:
    library = folder / "memory.so"
    subprocess.run(["gcc", "-std=c11", "-O2", "-shared", "-fPIC", str(MEMORY), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def best(call: Callable[[], object]) -> float:
    """Return the seconds of this process's CPU, the least of a few calls.

    Other work on the machine only adds to them.
    """
    taken = []
    for _ in range(REPEATS):
        begin = time.process_time()
        call()
        taken.append(time.process_time() - begin)
    return min(taken)


def convolution(library: ctypes.CDLL, memory: ctypes.CDLL, depth: int) -> tuple[int, float]:
    """Return products and seconds of an epoch.

    Frames are unsigned bytes, kernels signed ones, and results have 16 bits.
    """
    features, kernels, output = 0x0100_0000, 0x0200_0000, 0x0300_0000
    pixels = (WIDTH - SIZE + 1) * (HEIGHT - SIZE + 1)
    each = KERNELS * SIZE * SIZE * depth
    rng = np.random.default_rng(depth)
    parts = {
        features: rng.integers(0, 256, FRAMES * WIDTH * HEIGHT * depth, np.uint8),
        kernels: rng.integers(0, 256, FRAMES * each, np.uint8),
        output: np.zeros(FRAMES * pixels * KERNELS * 2, np.uint8),
    }
    npu = NativeNpu(library, memory, parts)

    def run() -> None:
        npu.set("CONVACC", 0, "KFORMAT", WIDTH=SIZE, HEIGHT=SIZE, BTCDEPTH=depth, NR=KERNELS)
        npu.set("CONVACC", 0, "SAMPLE", HSTRD=1, VSTRD=1)
        npu.set("CONVACC", 0, "DFORMAT", OUTSHIFT=8, ORNDMODE=1, ROUND=1, SAT=1, OBYTES=2, FBYTES=1, FSHIFT=16)
        npu.set("CONVACC", 0, "FFORMAT", WIDTH=WIDTH * depth, HEIGHT=HEIGHT)
        npu.set("CONVACC", 0, "CTRL", EN=1, NOSUM=1, SIMD=1, FUNSIGNED=1)
        npu.link(0, 10)
        npu.link(10, 1)
        npu.link(11, 2)
        for engine in range(3):
            npu.set("STRENG", engine, "CTRL", CLR=1)
        npu.raw_writer(0, output, pixels * KERNELS, SIZE1=8, frames=FRAMES, step=pixels * KERNELS * 2)
        npu.raw_reader(1, features, WIDTH * HEIGHT * depth, frames=FRAMES, step=WIDTH * HEIGHT * depth)
        npu.raw_reader(2, kernels, FRAMES * each, CONT=1)
        _succeed(npu.run())

    return FRAMES * pixels * each, best(run)


def reid(library: ctypes.CDLL, memory: ctypes.CDLL, folder: Path) -> float:
    """Return the seconds for the blob of the network, with zeros as its input."""
    (base,) = re.findall(r"postfix=xSPI2 name=octoFlash offset=(0x[0-9a-f]+)", (folder / "reid.c").read_text())
    weights = np.frombuffer((folder / "reid_atonbuf.xSPI2.bin").read_bytes(), np.uint8)
    parts = {
        ARENA: np.zeros(0x3C_0000, np.uint8),
        int(base, 16): np.concatenate([weights, np.zeros(FLASH_PADDING, np.uint8)]),
        OUTPUT: np.zeros(0x1_0000, np.uint8),
        BLOB: np.zeros(0x10_0000, np.uint8),
    }
    npu = NativeNpu(library, memory, parts)
    words = blob_of(folder / "reid_ecblobs.h")
    return best(lambda: _succeed(npu.run_blob(words, BLOB)))


def _succeed(reason: str | None) -> None:
    if reason:
        raise SystemExit(f"the NPU's model does not compute: {reason}")


def on_board(project: Path, samples: Path, network: SampleNetwork) -> Iterator[tuple[str, str]]:
    """Yield the figures of a whole run on the virtual board, from boot to last output.

    They are the CPU's seconds and the memory of the emulator.
    """
    project.mkdir()
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, project / name)
    environment = {
        **os.environ,
        "PYTHONPATH": str(project / "site_scons"),
        "STEDGEAI_CORE_DIR": str(samples / "core" / network.release),
        "N6BUILD_CMSIS": str(samples / HEADERS),
    }
    arguments = [f"board={network.board}", f"model={samples / 'npu' / network.name}", "probe=virtual", "flash"]
    command = [sys.executable, "-m", "SCons", "-Q", "-j2", *arguments]
    built = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if built.returncode:
        raise SystemExit(built.stdout + built.stderr)
    seconds, megabytes, macs = _run(project, network)
    yield (
        f"virtual board, {network.name} from its boot on, {macs / 1e6:.0f} MMAC",
        f"{seconds:.2f} s, {megabytes:.0f} MB",
    )


def _run(project: Path, network: SampleNetwork) -> tuple[float, float, int]:
    """Return seconds of the host's CPU, memory of the emulator, and products.

    The memory is the largest amount, in megabytes.
    """
    board = load_board(network.board)
    files = NpuFiles(record=project / "record")
    assert files.record
    boot = NorBoot(project / "build" / "virtual_board" / network.board / "nor.bin", board, npu=files)
    findings = project / "findings"
    command = nor_command(find_emulator(board.soc), boot, findings, "null", Limits(text="n6 done"))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    if len(findings.read_text().splitlines()) != 1:
        raise SystemExit(findings.read_text())
    assert json.loads(findings.read_text())["ended"] == "until"
    macs = sum(unit.macs for epoch in read_npu_record(files.record) for unit in epoch.units)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, macs


def main() -> int:
    """Print all figures.

    Raises:
        SystemExit: A network does not run.
    """
    for name, value in npu_speed():
        print(f"{name:<72}{value}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
