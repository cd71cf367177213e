"""Figures of backend neural_art: the three tables of docs/neural-art-compiler.md.

The figures are of the virtual NPU, not of silicon. The project's models run on their vectors and do
their tasks on held-out clips. Each file (.tflite or .onnx) runs on smoothed noise, and is compared
with the output of ST's compiler if that is in the same folder: a C file, and its blobs if it has
any. The time to compile and prove each model is printed on stderr.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from n6build.base.files import write_atomically
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.neural_art.compile_epochs import CompiledForNpu, compile_for_npu
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.operands import required_quantisation
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model, model_names
from n6build.judge.npu.blobs import read_blobs
from n6build.judge.npu.moved import bytes_moved
from n6build.judge.npu.names import names_of
from n6build.judge.npu.settings import epochs_of_blob
from n6build.judge.npu.source_settings import epochs_of_source
from n6build.judge.own_blobs.agreement import Agreement
from n6build.judge.own_blobs.envelope import Grade
from n6build.judge.own_blobs.figures import whole_work, work_of_operators
from n6build.judge.own_blobs.make_blobs import compiled_and_proved
from n6build.judge.own_blobs.reference_tensors import reference_tensors
from n6build.judge.timing.conditions import conditions_of
from n6build.judge.timing.expected import expected_time
from n6build.judge.timing.model import read_model
from n6build.judge.timing.of_network import work_of
from n6build.judge.timing.timing_table import span_text

from benchmarks.held_out import HELD_OUT, attempt_of, held_out, request_of
from benchmarks.measure import Head, Row, Rows
from models.quality import TASKS

MODELS = Head(
    (
        *("model", "on NPU, CPU", "grades", "forced: elements, equal, furthest"),
        *("free, all tensors, the last: equal, furthest", "same class", "task, held out: NPU, LiteRT"),
        *("bytes of blobs, kernels, activations", "epochs an operator", "useful MAC", "bytes moved", "of ST's"),
        "expected on the NPU",
    )
)
BESIDE = Head(("network", "compiled by", "epochs", "bytes moved", "expected on the NPU", "of it, bound by the flash"))
BOARD = load_board("nucleo-n657")
NO_DATA, UNKNOWN, WORD = "no data", "unknown", 4
NOISY = 10


def neural_art(*files: str, clips: int = 240) -> Rows:
    """Yield the accuracy and work of own blobs, of the project's models and of files."""
    models = [Path(each) for each in files]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = {task: held_out(task, clips, folder) for task in TASKS}
        compared = {model: found for model in models if (found := _beside(model, folder))}
        yield MODELS
        for each in map(load_model, model_names()):
            if each.file and each.inputs and each.file.suffix == ".tflite":
                task = done[each.name].task if each.name in done else NO_DATA
                yield _row(each.name, each.file, each.inputs, (task, UNKNOWN), folder)
        for model in models:
            of_st = f"{compared[model].ratio:.2f}" if model in compared else UNKNOWN
            yield _row(f"{model.stem} (noise)", model, _noise(model, folder), (NO_DATA, of_st), folder)
    yield HELD_OUT
    yield from (found.row(task) for task, found in done.items())
    yield BESIDE
    yield from (row for each in compared.values() for row in each.rows)
    if any(each.on_cpu for each in compared.values()):
        yield Head(("network", "operator on the CPU", "reason"))
        yield from (row for each in compared.values() for row in each.on_cpu)


@dataclass(frozen=True)
class _Beside:
    """A model, compiled by n6build and by ST.

    Attributes:
        ratio: Bytes moved by n6build's network to those by ST's.
        rows: Rows of the table.
        on_cpu: Operators that cannot be lowered, with the reason.
    """

    ratio: float
    rows: tuple[Row, Row]
    on_cpu: tuple[Row, ...]


def _beside(model: Path, folder: Path) -> _Beside | None:
    """Compile a model and compare it with ST's network, None if there is none.

    All operators that can be lowered are, whether they are precise enough or not: ST's compiler
    takes all of them, too.
    """
    network = min(model.parent.glob("*.c"), default=None)
    if network is None:
        return None
    graph, names = graph_of(model), names_of(BOARD.soc.npu)
    vectors = reference_tensors(model, graph, _noise(model, folder, 1))
    calibration = Calibration(vectors.values, 1.5)
    compiled = compile_for_npu(BOARD.soc.npu, request_of(model, BOARD), graph, calibration, {})
    # The source has the epochs of a network without blobs.
    header = network.with_name(f"{network.stem}_ecblobs.h")
    if header.exists():
        theirs = [epoch for blob in read_blobs(header) for epoch in epochs_of_blob(blob, names)]
    else:
        theirs = list(epochs_of_source(network.read_text(), names))
    work, of_st = whole_work(compiled.lowered.hardware.values()), bytes_moved(theirs)
    rows = (
        (model.stem, "n6build", str(work.epochs), f"{work.moved:,}", *_expected_of(compiled, folder)),
        (model.stem, "ST", str(len(theirs)), f"{of_st:,}", *_expected(network.parent, network.stem)),
    )
    on_cpu = tuple((model.stem, f"{each.index} ({each.operator})", each.why) for each in compiled.lowered.on_cpu)
    return _Beside(work.moved / of_st, rows, on_cpu)


def _expected_of(compiled: CompiledForNpu, folder: Path) -> tuple[str, str]:
    """Return the expected times, from the files that the backend writes."""
    for name, content in compiled.files.items():
        write_atomically(folder / name, content)
    return _expected(folder, "network")


def _expected(folder: Path, name: str) -> tuple[str, str]:
    """Return the expected time of the epochs on the NPU, and the wait for flash."""
    work = work_of(read_artifacts(folder, name, ()), BOARD.soc)
    found = expected_time(work, read_model(), conditions_of(BOARD, "overdrive"))
    epochs = [each for each in found.epochs if each.on != "CPU"]
    high = None if any(each.high is None for each in epochs) else sum(each.high or 0.0 for each in epochs)
    by_flash = sum(each.ms for each in epochs if each.bound == "flash")
    whole = f"{sum(each.ms for each in epochs):.2f} ms ({span_text(sum(each.low for each in epochs), high)})"
    return whole, f"{by_flash:.2f} ms"


def _row(name: str, file: Path, vectors_file: Path, task_and_of_st: tuple[str, str], folder: Path) -> Row:
    graph = graph_of(file)
    vectors = reference_tensors(file, graph, vectors_file)
    started = time.perf_counter()
    attempt = attempt_of(file, BOARD, graph, vectors)
    compiled, proof = compiled_and_proved(attempt)
    print(f"{name}: compiled and proved in {time.perf_counter() - started:.1f} s", file=sys.stderr)
    counted = Counter(each.grade for each in attempt.grades(compiled))
    last = next(each for each in proof.free if each.buffer == proof.last)
    epochs = compiled.lowered.hardware.values()
    work = whole_work(epochs)
    words = sum(len(block.words) for block in compiled.blocks)
    task, of_st = task_and_of_st
    return (
        name,
        f"{len(epochs)}, {len(compiled.lowered.network.epochs) - len(epochs)}",
        ", ".join(f"{counted[grade]} {grade.word}" for grade in Grade if counted[grade]),
        f"{sum(each.elements for each in proof.forced):,}, {_all_of(proof.forced)}",
        f"{_all_of(proof.free)}; {_all_of([last])}",
        f"{proof.same_class} of {proof.vectors}",
        task,
        f"{WORD * words:,}, {len(compiled.kernels):,}, {compiled.placement.peak:,}",
        f"{work.epochs / len(work_of_operators(epochs)):.1f}",
        f"{100 * work.useful / work.macs:.0f} %",
        f"{work.moved:,}",
        of_st,
        _expected_of(compiled, folder)[0],
    )


def _all_of(tensors: Sequence[Agreement]) -> str:
    elements = sum(each.elements for each in tensors)
    equal = sum(each.equal * each.elements for each in tensors) / elements
    return f"{100 * equal:.2f} %, {max(each.furthest for each in tensors)}"


def _noise(file: Path, folder: Path, count: int = NOISY) -> Path:
    """Write a file of smoothed vectors, in which neighbours are alike.

    A model that takes real numbers gets the values of int8 noise; a model of uint8 gets equally
    bright values.
    """
    graph = graph_of(file)
    taken = graph.tensors[graph.inputs[0]]
    rng = np.random.default_rng(7)
    values = rng.integers(-128, 128, (count, *taken.shape[1:])).astype(float)
    for _ in range(2):
        values = (values + np.roll(values, 1, 1) + np.roll(values, 1, 2) + np.roll(values, 2, 2)) / 4
    moved = values * 2.2 + rng.normal(0, 40, (count, *[1] * (len(taken.shape) - 1)))
    noise = np.clip(moved, -128, 127).astype(np.int8)
    vectors = folder / f"{file.stem}.npy"
    if taken.dtype == "float32":
        quantised = next(each for each in graph.operators if each.inputs[0] == taken.index)
        how = required_quantisation(graph.tensors[quantised.output])
        np.save(vectors, ((noise.astype(np.int16) - how.zero_point) * how.scale).astype(np.float32))
    elif taken.dtype == "uint8":
        np.save(vectors, (noise.astype(np.int16) + 128).astype(np.uint8))
    else:
        np.save(vectors, noise)
    return vectors
