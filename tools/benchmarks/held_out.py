"""Accuracy of blobs of backend neural_art on the tasks of the project's models.

It is measured in the model of the NPU, for `tools/bench.py neural-art`. Neither training nor calibration
saw the clips.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from n6build.compile.board_pools import pools_of_networks
from n6build.compile.ll_aton import own_version
from n6build.compile.neural_art.backend import ENVELOPE
from n6build.compile.neural_art.compile_epochs import Request
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.graph import Graph
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model
from n6build.judge.own_blobs.envelope import read_envelope
from n6build.judge.own_blobs.make_blobs import Attempt, compiled_and_proved
from n6build.judge.own_blobs.model_program import find_program
from n6build.judge.own_blobs.proof import free_outputs
from n6build.judge.own_blobs.reference_tensors import MOST_VECTORS, ReferenceTensors, reference_tensors
from numpy.typing import NDArray

from benchmarks.measure import Head, Row
from models.int8_model import Int8Model
from models.quality import TASKS, area_under_roc
from models.splits import TEST, clips

HELD_OUT = Head(("task", "clips", "same class as LiteRT", "NPU", "LiteRT", "last tensor: equal, within 1, furthest"))


@dataclass(frozen=True)
class HeldOut:
    """The result of a task.

    Attributes:
        clips: Number of clips.
        same: Number of clips that get the same class; None for an autoencoder.
        npu: Accuracy, or for an autoencoder the area under the ROC curve of its error.
        litert: The same of LiteRT.
        far: Distances of the elements of the last tensor.
        undecided: Largest distance between LiteRT's two largest values where the class differs.
    """

    clips: int
    same: int | None
    npu: float
    litert: float
    far: NDArray[np.int16]
    undecided: int = 0

    @property
    def task(self) -> str:
        """Return both results in words."""
        if self.same is None:
            return f"area under ROC {self.npu:.4f}, {self.litert:.4f}"
        return f"accuracy {100 * self.npu:.1f} %, {100 * self.litert:.1f} %"

    def row(self, name: str) -> Row:
        """Return a row of the table `HELD_OUT`."""
        far = f"{100 * (self.far == 0).mean():.1f} %, {100 * (self.far <= 1).mean():.1f} %, {self.far.max()}"
        same = "" if self.same is None else str(self.same)
        return name, str(self.clips), same, f"{self.npu:.4f}", f"{self.litert:.4f}", far


def request_of(model: Path, board: Board) -> Request:
    """Return the request to compile a model for external flash."""
    return Request(model, "network", pools_of_networks(board, "extflash", [{}])[0], own_version(), ())


def attempt_of(model: Path, board: Board, graph: Graph, vectors: ReferenceTensors) -> Attempt:
    """Return the attempt to compile a model and to prove its blobs."""
    calibration = Calibration(vectors.values, 1.5)
    program, envelope = find_program(board.soc), read_envelope(ENVELOPE)
    return Attempt(board.soc, program, request_of(model, board), graph, calibration, vectors, envelope)


def held_out(name: str, count: int, folder: Path) -> HeldOut:
    """Return the result of free runs in the model of the NPU.

    Operators that stay on the CPU in between are LiteRT's. The model's own vectors calibrate it.
    """
    model, board = load_model(name), load_board("nucleo-n657")
    assert model.file is not None
    assert model.inputs is not None
    graph, task, int8 = graph_of(model.file), TASKS[name], Int8Model(model.file)
    own = reference_tensors(model.file, graph, model.inputs)
    compiled, _ = compiled_and_proved(attempt_of(model.file, board, graph, own))
    features, labels = clips(task, TEST, count)
    inputs = int8.quantised(features)
    parts = []
    for first in range(0, count, MOST_VECTORS):
        np.save(folder / "part.npy", inputs[first : first + MOST_VECTORS])
        parts.append(
            free_outputs(find_program(board.soc), compiled, reference_tensors(model.file, graph, folder / "part.npy"))
        )
    ours, theirs = (np.concatenate(each) for each in zip(*parts, strict=True))

    far = np.abs(ours - theirs)
    if ours.shape[1] == len(task.CLASSES):
        found, wanted = ours.argmax(1), theirs.argmax(1)
        other = found != wanted
        two = np.sort(theirs[other], 1)[:, -2:]
        undecided = int((two[:, 1] - two[:, 0]).max(initial=0))
        accuracies = float((found == labels).mean()), float((wanted == labels).mean())
        return HeldOut(count, count - int(other.sum()), *accuracies, far, undecided)
    areas = [area_under_roc(int8.reconstruction_error(inputs, outputs), labels) for outputs in (ours, theirs)]
    return HeldOut(count, None, areas[0], areas[1], far)
