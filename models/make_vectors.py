"""Write the test vectors of models, inputs.npy and expected.npy.

Usage, from the root: `python -m models.make_vectors [name ...]`.

Vectors come from the split VECTORS, which has no other use. A classifier gets one clip for each of
its first ten classes: the first clip that it recognises. This choice is allowed, because vectors
prove the arithmetic of a board; quality is measured on TEST. An autoencoder gets the first ten clips.

The script prints the model's hash and the labels of the vectors, for model.yaml.
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
    """Return the quantised features of the first clip that the model recognises.

    Args:
        model: A classifier.
        task: Its task.
        label: Class of the clip.

    Raises:
        ValueError: The model recognises none of the first 100 clips of the class.
    """
    for index in range(label, 100 * len(task.CLASSES), len(task.CLASSES)):
        inputs = model.quantised(task.clip(VECTORS, index)[0][None])
        if model.outputs(inputs).argmax() == label:
            recognised: NDArray[np.int8] = inputs[0]
            return recognised
    raise ValueError(f"no clip of class {task.CLASSES[label]} is recognised")


def choose(model: Int8Model, task: Task) -> tuple[NDArray[np.int8], list[str]]:
    """Return ten inputs, (10, *input shape), and the names of their classes."""
    if len(task.CLASSES) < COUNT:
        features, labels = clips(task, VECTORS, COUNT)
        return model.quantised(features), [task.CLASSES[label] for label in labels]
    inputs = [first_recognised(model, task, label) for label in range(COUNT)]
    return np.stack(inputs), list(task.CLASSES[:COUNT])


def write(folder: Path, task: Task) -> None:
    """Write inputs.npy and expected.npy into the model's folder.

    inputs.npy is int8, (10, *input shape); expected.npy has the output's type, (10, n).

    Args:
        folder: Folder of the model, with its name.
        task: Task of the model.
    """
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
