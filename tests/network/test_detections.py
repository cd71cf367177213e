"""The operator that detectors end with finds what LiteRT's own kernel finds."""

import detection_models as models
import numpy as np
import pytest
import reference_interpreter

from network.host_network import Build

MODELS = {
    "fast": models.post_process(60, 5),
    "fast without background": models.post_process(60, 5, background=False, least=0.5),
    "two classes each": models.post_process(50, 4, each=2, detections=7),
    "by class": models.post_process(60, 5, by_class=True, of_class=6),
    "few places by class": models.post_process(60, 3, by_class=True, of_class=20, detections=4),
    "uint8": models.post_process(60, 5, dtype=np.uint8),
    "several classes of uint8": models.post_process(40, 6, by_class=True, of_class=8, dtype=np.uint8),
    "nothing found": models.post_process(20, 3, least=2.0),
    "one anchor": models.post_process(1, 1),
}
# Boxes that a model with several classes each has places for.
PLACES = {"two classes each": 7}
# Exponentials are rounded differently, in ulps of the largest number.
ULPS = 4


def inputs_of(name: str, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    given = []
    for detail in reference_interpreter.load(MODELS[name]).get_input_details():
        shape = tuple(detail["shape"])
        if detail["dtype"] == np.uint8:
            # No two boxes have the same score: of those, LiteRT leaves the order open.
            scores = np.resize(rng.permutation(256).astype(np.uint8), np.prod(shape)).reshape(shape)
            given.append(rng.integers(80, 160, shape, dtype=np.uint8) if shape[-1] == 4 else scores)
        elif detail["name"] == "boxes":
            given.append(rng.normal(0, 2, shape).astype(np.float32))
        else:
            given.append(rng.uniform(0, 1, shape).astype(np.float32))
    return given


@pytest.mark.parametrize("name", MODELS)
def test_detections(host_network: Build, name: str) -> None:
    network = host_network(MODELS[name])
    for seed in range(6):
        inputs = inputs_of(name, seed)
        network.trace(inputs)
        made = [np.frombuffer(data, np.float32) for data in network.final.values()]
        boxes, classes, scores, (number,) = (
            each.reshape(-1) for each in reference_interpreter.outputs(MODELS[name], *inputs)
        )
        count = int(number) * len(scores) // PLACES.get(name, len(scores))
        assert made[3][0] == number
        assert np.array_equal(made[1][:count], classes[:count])
        assert np.array_equal(made[2][:count], scores[:count])
        if count:
            wanted = boxes[: 4 * count].astype(np.float32)
            largest = np.spacing(np.abs(wanted).max())
            assert np.abs(made[0][: 4 * count] - wanted).max() <= ULPS * largest
        assert not made[2][count:].any()
