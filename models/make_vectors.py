"""Write a model's test vectors, inputs.npy and expected.npy: `python -m models.make_vectors [name ...]` from the root.

They come from the split VECTORS, which is used for nothing else. A classifier gets one clip for each of its first ten
classes: the first it recognises, for vectors prove the arithmetic of a board, and quality is measured on TEST. An
autoencoder gets the first ten clips. What model.yaml has to say of model and vectors is printed.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.int8_model import Int8Model
from models.quality import TASKS
from models.splits import VECTORS, Task, clips

COUNT = 10


def first_recognised(model: Int8Model, task: Task, label: int) -> NDArray[np.int8]:
    """Quantised features of the first clip of a class that the model puts into this class."""
    for index in range(label, 100 * len(task.CLASSES), len(task.CLASSES)):
        inputs = model.quantised(task.clip(VECTORS, index)[0][None])
        if model.outputs(inputs).argmax() == label:
            recognised: NDArray[np.int8] = inputs[0]
            return recognised
    raise ValueError(f"no clip of class {task.CLASSES[label]} is recognised")


def choose(model: Int8Model, task: Task) -> tuple[NDArray[np.int8], list[str]]:
    """Inputs (10, *input shape) and the names of their classes."""
    if len(task.CLASSES) < COUNT:
        features, labels = clips(task, VECTORS, COUNT)
        return model.quantised(features), [task.CLASSES[label] for label in labels]
    inputs = [first_recognised(model, task, label) for label in range(COUNT)]
    return np.stack(inputs), list(task.CLASSES[:COUNT])


def write(folder: Path, task: Task) -> None:
    """Write inputs.npy, int8, and expected.npy (10, n), of the output's type, into the model's folder."""
    path = folder / f"{folder.name}.tflite"
    model = Int8Model(path)
    inputs, labels = choose(model, task)
    np.save(folder / "inputs.npy", inputs)
    np.save(folder / "expected.npy", model.outputs(inputs))
    print(f'{folder.name}:\n  sha256: "{hashlib.sha256(path.read_bytes()).hexdigest()}"')
    print(f"  labels: {json.dumps(labels)}")


if __name__ == "__main__":
    for name in sys.argv[1:] or TASKS:
        write(Path(__file__).parent / name, TASKS[name])
