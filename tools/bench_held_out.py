"""Accuracy of blobs of backend neural_art on the tasks of the project's models.

It is measured in the model of the NPU, for bench_neural_art.py. Neither training nor calibration
saw the clips.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site_scons"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from n6build.compile.board_pools import pools_of_networks
from n6build.compile.ll_aton import own_version
from n6build.compile.neural_art.backend import ENVELOPE
from n6build.compile.neural_art.compile_epochs import Request
from n6build.compile.neural_art.layer import Calibration
from n6build.compile.reference.compile_model import graph_of
from n6build.describe.hardware.boards import load_board
from n6build.describe.model import load_model
from n6build.judge.own_blobs.envelope import read_envelope
from n6build.judge.own_blobs.make_blobs import Attempt, compiled_and_proved
from n6build.judge.own_blobs.model_program import find_program
from n6build.judge.own_blobs.proof import free_outputs
from n6build.judge.own_blobs.reference_tensors import MOST_VECTORS, reference_tensors
from numpy.typing import NDArray

from models.int8_model import Int8Model
from models.quality import TASKS, area_under_roc
from models.splits import TEST, clips

HELD_OUT = "| task | clips | same class as LiteRT | NPU | LiteRT | last tensor: equal, within 1, furthest |"


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


def held_out(name: str, count: int, folder: Path) -> HeldOut:
    """Return the result of free runs in the model of the NPU.

    Operators that stay on the CPU in between are LiteRT's. The model's own vectors calibrate it.
    """
    model, board = load_model(name), load_board("nucleo-n657")
    assert model.file is not None
    assert model.inputs is not None
    graph, task, int8 = graph_of(model.file), TASKS[name], Int8Model(model.file)
    own = reference_tensors(model.file, graph, model.inputs)
    request = Request(model.file, "network", pools_of_networks(board, "extflash", [{}])[0], own_version(), ())
    program = find_program(board.soc)
    attempt = Attempt(board.soc, program, request, graph, Calibration(own.values, 1.5), own, read_envelope(ENVELOPE))
    compiled, _ = compiled_and_proved(attempt)
    features, labels = clips(task, TEST, count)
    inputs = int8.quantised(features)
    parts = []
    for first in range(0, count, MOST_VECTORS):
        np.save(folder / "part.npy", inputs[first : first + MOST_VECTORS])
        parts.append(free_outputs(program, compiled, reference_tensors(model.file, graph, folder / "part.npy")))
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


def held_out_row(task: str, found: HeldOut) -> str:
    """Return a row of the table `HELD_OUT`."""
    far = f"{100 * (found.far == 0).mean():.1f} %, {100 * (found.far <= 1).mean():.1f} %, {found.far.max()}"
    same = "" if found.same is None else f"{found.same}"
    return f"| {task} | {found.clips} | {same} | {found.npu:.4f} | {found.litert:.4f} | {far} |"
