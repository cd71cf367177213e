"""Measure the quality of the int8 models on clips that they have not seen.

The clips are those of the split TEST.

Usage, from the root: `python -m models.quality [name ...]`.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models import audio_events, machine_hum, spoken_words
from models.int8_model import Int8Model
from models.splits import TEST, Task, clips

TASKS: dict[str, Task] = {"miniresnet": audio_events, "keyword": spoken_words, "anomaly": machine_hum}
HELD_OUT = 2000


def area_under_roc(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve.

    It is the share of pairs in which the clip of class 1 scores higher than the clip of class 0.
    Equal scores count half.
    """
    zeros, ones = np.sort(scores[labels == 0]), scores[labels == 1]
    below = np.searchsorted(zeros, ones, "left") + np.searchsorted(zeros, ones, "right")
    return float(below.mean() / 2 / zeros.size)


def quality(model: Path, task: Task, count: int = HELD_OUT) -> float:
    """Return the quality of a model on clips of TEST.

    Args:
        model: The .tflite.
        task: Its task.
        count: Number of clips.

    Returns:
        Accuracy of a classifier; for an autoencoder, the area under the ROC curve of its
        reconstruction error.
    """
    features, labels = clips(task, TEST, count)
    int8 = Int8Model(model)
    inputs = int8.quantised(features)
    outputs = int8.outputs(inputs)
    if outputs.shape[1] == len(task.CLASSES):
        return float((outputs.argmax(axis=1) == labels).mean())
    return area_under_roc(int8.reconstruction_error(inputs, outputs), labels)


if __name__ == "__main__":
    for name in sys.argv[1:] or TASKS:
        print(f"{name}: {quality(Path(__file__).parent / name / f'{name}.tflite', TASKS[name]):.4f}")
