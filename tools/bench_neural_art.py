#!/usr/bin/env python3
"""Figures of backend neural_art: the three tables of docs/neural-art-compiler.md.

    tools/bench_neural_art.py [--clips 240] [FILE...]

The figures are of the virtual NPU, not of silicon. The project's models run on their vectors and do
their tasks on held-out clips. Each FILE (.tflite or .onnx) runs on smoothed noise, and is compared
with the output of ST's compiler if that is in the same folder: a C file, and its blobs if it has
any. The time to compile and prove each model is printed on stderr.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from bench_held_out import HELD_OUT, HeldOut, held_out, held_out_row
from n6build.base.files import write_atomically
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.board_pools import pools_of_networks
from n6build.compile.ll_aton import own_version
from n6build.compile.neural_art.backend import ENVELOPE
from n6build.compile.neural_art.compile_epochs import CompiledForNpu, Request, compile_for_npu
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.graph import Graph
from n6build.compile.reference.operands import required_quantisation
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model, model_names
from n6build.judge.npu.blobs import read_blobs
from n6build.judge.npu.moved import bytes_moved
from n6build.judge.npu.names import Names, names_of
from n6build.judge.npu.settings import EpochSettings, epochs_of_blob
from n6build.judge.npu.source_settings import epochs_of_source
from n6build.judge.own_blobs.agreement import Agreement
from n6build.judge.own_blobs.envelope import Grade, read_envelope
from n6build.judge.own_blobs.make_blobs import Attempt, compiled_and_proved
from n6build.judge.own_blobs.model_program import find_program
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors, reference_tensors
from n6build.judge.own_blobs.workload import whole_work, work_of_operators
from n6build.judge.timing.conditions import conditions_of
from n6build.judge.timing.expected import NetworkTime, expected_time
from n6build.judge.timing.model import read_model
from n6build.judge.timing.of_network import work_of
from n6build.judge.timing.timing_table import span_text

from models.quality import TASKS

_HEADER = (
    "| model | on NPU, CPU | grades | forced: elements, equal, furthest | free, all tensors, the last: equal, furthest "
    "| same class | task, held out: NPU, LiteRT | bytes of blobs, kernels, activations | epochs an operator | useful MAC "
    "| bytes moved | of ST's | expected on the NPU |"
)
_BESIDE = "| network | compiled by | epochs | bytes moved | expected on the NPU | of it, bound by the flash |"
_NO_DATA, _UNKNOWN, _WORD = "no data", "unknown", 4
_BOARD, _CLOCK = "nucleo-n657", "overdrive"
_NOISY = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--clips", type=int, default=240)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = {task: held_out(task, given.clips, folder) for task in TASKS}
        beside = [found for file in given.files if (found := _beside(file, folder))]
        _print_table(_HEADER, _rows(given.files, done, {each.model: each for each in beside}, folder))
        _print_table(HELD_OUT, (held_out_row(task, found) for task, found in done.items()))
        _print_table(_BESIDE, (row for each in beside for row in each.rows))
    for each in beside:
        for reason in each.on_cpu:
            print(f"{each.model.stem}, on the CPU: {reason}")
    return 0


def _print_table(header: str, rows: Iterable[str]) -> None:
    print(header)
    print("|" + "---|" * (header.count("|") - 1))
    for row in rows:
        print(row)
    print(flush=True)


@dataclass(frozen=True)
class _Beside:
    """A model, compiled by n6build and by ST.

    Attributes:
        model: Model file.
        ratio: Bytes moved by n6build's network to those by ST's.
        rows: Rows of the table.
        on_cpu: Operators that cannot be lowered, with the reason.
    """

    model: Path
    ratio: float
    rows: tuple[str, str]
    on_cpu: tuple[str, ...]


def _beside(model: Path, folder: Path) -> _Beside | None:
    """Compile a model and compare it with ST's network, None if there is none.

    All operators that can be lowered are, whether they are precise enough or not: ST's compiler
    takes all of them, too.
    """
    network = min(model.parent.glob("*.c"), default=None)
    if network is None:
        return None
    board = load_board(_BOARD)
    graph = graph_of(model)
    vectors = reference_tensors(model, graph, _noise(model, folder, 1))
    compiled = compile_for_npu(board.soc.npu, _request(board, model), graph, Calibration(vectors.values, 1.5), {})
    theirs = _epochs_of_st(network, names_of(board.soc.npu))
    work, bytes_of_st = whole_work(compiled.lowered.hardware.values()), bytes_moved(theirs)
    rows = (
        _beside_row(model.stem, "n6build", work.epochs, work.moved, _time(compiled, board, folder)),
        _beside_row(model.stem, "ST", len(theirs), bytes_of_st, _expected(network.parent, network.stem, board)),
    )
    on_cpu = tuple(f"operator {each.index} ({each.operator}), {each.why}" for each in compiled.lowered.on_cpu)
    return _Beside(model, work.moved / bytes_of_st, rows, on_cpu)


def _beside_row(model: str, by: str, epochs: int, moved: int, takes: NetworkTime) -> str:
    return f"| {model} | {by} | {epochs} | {moved:,} | {_on_npu(takes)} | {_by_flash(takes)} |"


def _epochs_of_st(network: Path, names: Names) -> list[EpochSettings]:
    """Return the epochs of a network's blobs, or of its source if it has none."""
    header = network.with_name(f"{network.stem}_ecblobs.h")
    if header.exists():
        return [epoch for blob in read_blobs(header) for epoch in epochs_of_blob(blob, names)]
    return list(epochs_of_source(network.read_text(), names))


def _request(board: Board, model: Path) -> Request:
    return Request(model, "network", pools_of_networks(board, "extflash", [{}])[0], own_version(), ())


def _time(compiled: CompiledForNpu, board: Board, folder: Path) -> NetworkTime:
    """Return the expected time, from the files that the backend writes."""
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


def _rows(
    files: Sequence[Path], done: Mapping[str, HeldOut], beside: Mapping[Path, _Beside], folder: Path
) -> Iterator[str]:
    for each in map(load_model, model_names()):
        if each.file and each.inputs and each.file.suffix == ".tflite":
            task = _task(done[each.name]) if each.name in done else _NO_DATA
            yield _row(each.name, each.file, each.inputs, task, _UNKNOWN, folder)
    for file in files:
        of_st = f"{beside[file].ratio:.2f}" if file in beside else _UNKNOWN
        yield _row(f"{file.stem} (noise)", file, _noise(file, folder), _NO_DATA, of_st, folder)


def _task(found: HeldOut) -> str:
    if found.same is None:
        return f"area under ROC {found.npu:.4f}, {found.litert:.4f}"
    return f"accuracy {100 * found.npu:.1f} %, {100 * found.litert:.1f} %"


def _row(name: str, file: Path, vectors_file: Path, task: str, of_st: str, folder: Path) -> str:
    board = load_board(_BOARD)
    graph: Graph = graph_of(file)
    vectors: ReferenceTensors = reference_tensors(file, graph, vectors_file)
    started = time.perf_counter()
    calibration = Calibration(vectors.values, 1.5)
    request = _request(board, file)
    attempt = Attempt(board.soc, find_program(board.soc), request, graph, calibration, vectors, read_envelope(ENVELOPE))
    compiled, proof = compiled_and_proved(attempt)
    print(f"{name}: compiled and proved in {time.perf_counter() - started:.1f} s", file=sys.stderr)
    counted = Counter(each.grade for each in attempt.grades(compiled))
    grades = ", ".join(f"{counted[grade]} {grade.word}" for grade in Grade if counted[grade])
    last = next(each for each in proof.free if each.buffer == proof.last)
    epochs = compiled.lowered.hardware.values()
    work = whole_work(epochs)
    words = sum(len(block.words) for block in compiled.blocks)
    cells = (
        name,
        f"{len(epochs)}, {len(compiled.lowered.network.epochs) - len(epochs)}",
        grades,
        f"{sum(each.elements for each in proof.forced):,}, {_all_of(proof.forced)}",
        f"{_all_of(proof.free)}; {_all_of([last])}",
        f"{proof.same_class} of {proof.vectors}",
        task,
        f"{_WORD * words:,}, {len(compiled.kernels):,}, {compiled.placement.peak:,}",
        f"{work.epochs / len(work_of_operators(epochs)):.1f}",
        f"{100 * work.useful / work.macs:.0f} %",
        f"{work.moved:,}",
        of_st,
        _on_npu(_time(compiled, board, folder)),
    )
    return f"| {' | '.join(cells)} |"


def _all_of(tensors: Sequence[Agreement]) -> str:
    elements = sum(each.elements for each in tensors)
    equal = sum(each.equal * each.elements for each in tensors) / elements
    return f"{100 * equal:.2f} %, {max(each.furthest for each in tensors)}"


def _noise(file: Path, folder: Path, count: int = _NOISY) -> Path:
    """Write a file of smoothed vectors, in which neighbours are alike.

    A model that takes real numbers gets the values of int8 noise; a model of uint8 gets equally
    bright values.
    """
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
    elif taken.dtype == "uint8":
        np.save(vectors, (noise.astype(np.int16) + 128).astype(np.uint8))
    else:
        np.save(vectors, noise)
    return vectors


if __name__ == "__main__":
    sys.exit(main())
