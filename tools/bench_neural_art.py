#!/usr/bin/env python3
"""Figures of backend neural_art as a table for docs/neural-art-compiler.md.

tools/bench_neural_art.py [FILE.tflite...]      the project's models, then these, on smoothed noise
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

import numpy as np
from n6build.hardware.boards import load_board
from n6build.models.model import load_model, model_names
from n6build.network.ll_aton import own_version
from n6build.network.neural_art.backend import ENVELOPE
from n6build.network.neural_art.compile import Request
from n6build.network.neural_art.layer import Calibration
from n6build.network.pools.board_pools import pools_of_networks
from n6build.network.reference.compile import graph_of
from n6build.own_blobs.envelope import Grade, read_envelope
from n6build.own_blobs.grades import grades_of
from n6build.own_blobs.make import Attempt, compiled_and_proved
from n6build.own_blobs.model_program import find_program
from n6build.own_blobs.reference_tensors import reference_tensors

_HEADER = (
    "| model | on NPU, CPU | grades | forced: elements, equal, furthest | last tensor free: equal, furthest | same class "
    "| words, kernels, activations | useful MAC | bytes | seconds |"
)
_NOISY = 10


def main() -> int:
    """Prints the table."""
    print(_HEADER)
    print("|" + "---|" * (_HEADER.count("|") - 1))
    for name in model_names():
        model = load_model(name)
        if model.file and model.inputs and model.file.suffix == ".tflite":
            print(_row(name, model.file, model.inputs))
    with tempfile.TemporaryDirectory() as folder:
        for file in map(Path, sys.argv[1:]):
            vectors = Path(folder) / f"{file.stem}.npy"
            np.save(vectors, _noise(file))
            print(_row(f"{file.stem} (noise)", file, vectors))
    return 0


def _row(name: str, file: Path, vectors_file: Path) -> str:
    board = load_board("nucleo-n657")
    graph = graph_of(file)
    vectors = reference_tensors(file, graph, vectors_file)
    started = time.perf_counter()
    request = Request(file, "network", pools_of_networks(board, "extflash", [{}])[0], own_version(), ())
    attempt = Attempt(board.soc, find_program(board.soc), request, graph, Calibration(vectors.values, 1.5), vectors)
    compiled, proof = compiled_and_proved(attempt)
    seconds = time.perf_counter() - started
    counted = Counter(each.grade for each in grades_of(compiled.blocks, board.soc.npu, read_envelope(ENVELOPE)))
    grades = ", ".join(f"{counted[grade]} {grade.word}" for grade in Grade if counted[grade])
    elements = sum(each.elements for each in proof.forced)
    equal = sum(each.equal * each.elements for each in proof.forced) / elements
    last = next(each for each in proof.free if each.buffer == proof.last)
    epochs = compiled.lowered.hardware.values()
    macs, useful = sum(each.macs for each in epochs), sum(each.useful for each in epochs)
    cells = (
        name,
        f"{len(epochs)}, {len(compiled.lowered.network.epochs) - len(epochs)}",
        grades,
        f"{elements:,}, {100 * equal:.2f} %, {max(each.furthest for each in proof.forced)}",
        f"{100 * last.equal:.1f} %, {last.furthest}",
        f"{proof.same_class} of {proof.vectors}",
        f"{sum(len(block.words) for block in compiled.blocks):,}, {len(compiled.kernels):,}, {compiled.placement.peak:,}",
        f"{100 * useful / macs:.0f} %",
        f"{sum(each.moved for each in epochs):,}",
        f"{seconds:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def _noise(file: Path) -> np.ndarray:
    """Smoothed, so that neighbours are alike."""
    graph = graph_of(file)
    shape = graph.tensors[graph.inputs[0]].shape
    rng = np.random.default_rng(7)
    values = rng.integers(-128, 128, (_NOISY, *shape[1:])).astype(float)
    for _ in range(2):
        values = (values + np.roll(values, 1, 1) + np.roll(values, 1, 2) + np.roll(values, 2, 2)) / 4
    moved = values * 2.2 + rng.normal(0, 40, (_NOISY, *[1] * (len(shape) - 1)))
    return np.clip(moved, -128, 127).astype(np.int8)


if __name__ == "__main__":
    sys.exit(main())
