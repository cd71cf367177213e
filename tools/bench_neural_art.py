#!/usr/bin/env python3
"""Figures of backend neural_art as tables for docs/neural-art-compiler.md.

tools/bench_neural_art.py [FILE...]                  the project's models, then these (.tflite or .onnx), on smoothed noise
tools/bench_neural_art.py --beside FILE NETWORK.c    one model beside what ST's compiler made of it
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))

import numpy as np
from n6build.base.files import write_atomically
from n6build.hardware.board import Board
from n6build.hardware.boards import load_board
from n6build.models.model import load_model, model_names
from n6build.network.artifacts.read_artifacts import read_artifacts
from n6build.network.ll_aton import own_version
from n6build.network.neural_art.backend import ENVELOPE
from n6build.network.neural_art.compile import CompiledForNpu, Request, compile_for_npu
from n6build.network.neural_art.layer import Calibration
from n6build.network.pools.board_pools import pools_of_networks
from n6build.network.reference.compile import graph_of
from n6build.network.reference.graph import Graph
from n6build.network.reference.operands import required_quantisation
from n6build.npu.blobs import read_blobs
from n6build.npu.moved import bytes_moved
from n6build.npu.names import Names, names_of
from n6build.npu.settings import EpochSettings, epochs_of_blob
from n6build.npu.source_settings import epochs_of_source
from n6build.own_blobs.envelope import Grade, read_envelope
from n6build.own_blobs.make import Attempt, compiled_and_proved
from n6build.own_blobs.model_program import find_program
from n6build.own_blobs.reference_tensors import ReferenceTensors, reference_tensors
from n6build.own_blobs.work import whole_work, work_of_operators
from n6build.timing.conditions import conditions_of
from n6build.timing.expected import NetworkTime, expected_time
from n6build.timing.model import read_model
from n6build.timing.of_network import work_of
from n6build.timing.show import span_text

_HEADER = (
    "| model | on NPU, CPU | grades | forced: elements, equal, furthest | last tensor free: equal, furthest | same class "
    "| words, kernels, activations | epochs an operator | useful MAC | bytes | expected on the NPU | seconds |"
)
_BESIDE = "| compiled by | epochs | bytes | expected on the NPU | of it, bound by the flash |"
_BOARD, _CLOCK = "nucleo-n657", "overdrive"
_NOISY = 10


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--beside", nargs=2, type=Path, metavar=("FILE", "NETWORK.c"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.beside:
            model, network = given.beside
            _print_beside(model, network, Path(folder))
            return 0
        print(_HEADER)
        print("|" + "---|" * (_HEADER.count("|") - 1))
        for each in map(load_model, model_names()):
            if each.file and each.inputs and each.file.suffix == ".tflite":
                print(_row(each.name, each.file, each.inputs, Path(folder)))
        for file in given.files:
            print(_row(f"{file.stem} (noise)", file, _noise(file, Path(folder)), Path(folder)))
    return 0


def _print_beside(model: Path, network: Path, folder: Path) -> None:
    """All operators that can be lowered, whether they are precise enough or not: ST's compiler takes all of them, too."""
    board = load_board(_BOARD)
    graph = graph_of(model)
    vectors = reference_tensors(model, graph, _noise(model, folder, 1))
    compiled = compile_for_npu(board.soc.npu, _request(board, model), graph, Calibration(vectors.values, 1.5), {})
    theirs = _epochs_of_st(network, names_of(board.soc.npu))
    work = whole_work(compiled.lowered.hardware.values())
    print(_BESIDE)
    print("|" + "---|" * (_BESIDE.count("|") - 1))
    ours = _time(compiled, board, folder)
    print(f"| n6build, {model.stem} | {work.epochs} | {work.moved:,} | {_on_npu(ours)} | {_by_flash(ours)} |")
    st = _expected(network.parent, network.stem, board)
    print(f"| ST | {len(theirs)} | {bytes_moved(theirs):,} | {_on_npu(st)} | {_by_flash(st)} |")
    print(f"\nours / ST's: {work.moved / bytes_moved(theirs):.2f} times the bytes; the goal is 1.5")
    for each in compiled.lowered.on_cpu:
        print(f"on the CPU: operator {each.index} ({each.operator}), {each.why}")


def _epochs_of_st(network: Path, names: Names) -> list[EpochSettings]:
    """Of its blobs, or, where it has none, of its source."""
    header = network.with_name(f"{network.stem}_ecblobs.h")
    if header.exists():
        return [epoch for blob in read_blobs(header) for epoch in epochs_of_blob(blob, names)]
    return list(epochs_of_source(network.read_text(), names))


def _request(board: Board, model: Path) -> Request:
    return Request(model, "network", pools_of_networks(board, "extflash", [{}])[0], own_version(), ())


def _time(compiled: CompiledForNpu, board: Board, folder: Path) -> NetworkTime:
    """As of the files that the backend writes."""
    for name, content in compiled.files.items():
        write_atomically(folder / name, content)
    return _expected(folder, "network", board)


def _expected(folder: Path, name: str, board: Board) -> NetworkTime:
    artifacts = read_artifacts(folder, name, ())
    return expected_time(work_of(artifacts, board.soc), read_model(), conditions_of(board, _CLOCK))


def _on_npu(found: NetworkTime) -> str:
    epochs = [each for each in found.epochs if each.on != "CPU"]
    return f"{sum(each.ms for each in epochs):.2f} ms ({span_text(sum(each.low for each in epochs), _high(found))})"


def _high(found: NetworkTime) -> float | None:
    highs = [each.high for each in found.epochs if each.on != "CPU"]
    return None if None in highs else sum(each or 0.0 for each in highs)


def _by_flash(found: NetworkTime) -> str:
    return f"{sum(each.ms for each in found.epochs if each.on != 'CPU' and each.bound == 'flash'):.2f} ms"


def _row(name: str, file: Path, vectors_file: Path, folder: Path) -> str:
    board = load_board(_BOARD)
    graph: Graph = graph_of(file)
    vectors: ReferenceTensors = reference_tensors(file, graph, vectors_file)
    started = time.perf_counter()
    calibration = Calibration(vectors.values, 1.5)
    request = _request(board, file)
    attempt = Attempt(board.soc, find_program(board.soc), request, graph, calibration, vectors, read_envelope(ENVELOPE))
    compiled, proof = compiled_and_proved(attempt)
    seconds = time.perf_counter() - started
    counted = Counter(each.grade for each in attempt.grades(compiled))
    grades = ", ".join(f"{counted[grade]} {grade.word}" for grade in Grade if counted[grade])
    elements = sum(each.elements for each in proof.forced)
    equal = sum(each.equal * each.elements for each in proof.forced) / elements
    last = next(each for each in proof.free if each.buffer == proof.last)
    epochs = compiled.lowered.hardware.values()
    work = whole_work(epochs)
    cells = (
        name,
        f"{len(epochs)}, {len(compiled.lowered.network.epochs) - len(epochs)}",
        grades,
        f"{elements:,}, {100 * equal:.2f} %, {max(each.furthest for each in proof.forced)}",
        f"{100 * last.equal:.1f} %, {last.furthest}",
        f"{proof.same_class} of {proof.vectors}",
        f"{sum(len(block.words) for block in compiled.blocks):,}, {len(compiled.kernels):,}, {compiled.placement.peak:,}",
        f"{work.epochs / len(work_of_operators(epochs)):.1f}",
        f"{100 * work.useful / work.macs:.0f} %",
        f"{work.moved:,}",
        _on_npu(_time(compiled, board, folder)),
        f"{seconds:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def _noise(file: Path, folder: Path, count: int = _NOISY) -> Path:
    """A file of vectors. Smoothed, so that neighbours are alike; for a model that takes real numbers, those that int8 stands
    for."""
    graph = graph_of(file)
    taken = graph.tensors[graph.inputs[0]]
    shape = taken.shape
    rng = np.random.default_rng(7)
    values = rng.integers(-128, 128, (count, *shape[1:])).astype(float)
    for _ in range(2):
        values = (values + np.roll(values, 1, 1) + np.roll(values, 1, 2) + np.roll(values, 2, 2)) / 4
    moved = values * 2.2 + rng.normal(0, 40, (count, *[1] * (len(shape) - 1)))
    vectors = folder / f"{file.stem}.npy"
    noise = np.clip(moved, -128, 127).astype(np.int8)
    if taken.dtype == "float32":
        quantised = next(each for each in graph.operators if each.inputs[0] == taken.index)
        how = required_quantisation(graph.tensors[quantised.output])
        np.save(vectors, ((noise.astype(np.int16) - how.zero_point) * how.scale).astype(np.float32))
    else:
        np.save(vectors, noise)
    return vectors


if __name__ == "__main__":
    sys.exit(main())
