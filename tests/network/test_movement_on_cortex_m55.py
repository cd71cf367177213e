"""Operators that move elements and resize, on an emulated Cortex-M55.

One network has all of them.
"""

import re
from pathlib import Path

import movement_models as ops
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from movement_models import Step, activation, numbers, random_inputs
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.compile.reference.compile_model import compile_network
from one_op_models import Quantisation, Tensor

from network.equality import tensors_of
from network.target_network import POOLS, program, run


def _model() -> bytes:
    tensors: list[Tensor] = []
    steps: list[Step] = []

    def add(tensor: Tensor) -> int:
        tensors.append(tensor)
        return len(tensors) - 1

    def step(name: str, inputs: list[int], *shapes: tuple[int, ...], **options: object) -> list[int]:
        made = [add(activation(shape, name=f"{name}{len(tensors)}")) for shape in shapes]
        steps.append(Step(name, inputs, made, options))
        return made

    source = add(activation((1, 8, 8, 4)))
    (turned,) = step("Transpose", [source, add(numbers([0, 3, 1, 2]))], (1, 4, 8, 8))
    (back,) = step("Transpose", [turned, add(numbers([0, 2, 3, 1]))], (1, 8, 8, 4))
    ends = [add(numbers(values)) for values in ([0, 1, 1, 0], [1, 8, 8, 4], [1, 2, 2, 1])]
    (part,) = step("StridedSlice", [back, *ends], (1, 4, 4, 4))
    size = add(numbers([8, 8]))
    (smooth,) = step("ResizeBilinear", [part, size], (1, 8, 8, 4), halfPixelCenters=True)
    (rough,) = step("ResizeNearestNeighbor", [part, size], (1, 8, 8, 4))
    joint = [smooth, rough, add(ops.constant((1, 8, 8, 4)))]
    (joined,) = step("Concatenation", joint, (1, 8, 8, 12), axis=3)
    (deep,) = step("SpaceToDepth", [joined], (1, 4, 4, 48), blockSize=2)
    first, second = step("Split", [add(numbers(3)), deep], (1, 4, 4, 24), (1, 4, 4, 24), numSplits=2)
    (mixed,) = step("Concatenation", [second, first], (1, 8, 4, 24), axis=1)
    (flat,) = step("DepthToSpace", [mixed], (1, 16, 8, 6), blockSize=2)
    around = add(numbers([(0, 0), (1, 2), (2, 1), (0, 0)]))
    mode = schema.MirrorPadMode.REFLECT
    (mirrored,) = step("MirrorPad", [flat, around], (1, 19, 11, 6), mode=mode)
    (chosen,) = step("Gather", [mirrored, add(numbers([5, 0, 3]))], (1, 19, 11, 3), axis=3)
    (padded,) = step("Pad", [chosen, around], (1, 22, 14, 3))
    (end,) = step("ReverseV2", [padded, add(numbers([2]))], (1, 22, 14, 3))
    output = add(Tensor("output", (1, 22, 14, 3), np.int8, Quantisation(0.07, 2)))
    steps.append(Step("Quantize", [end], [output]))
    return ops.network(tensors, steps, [source], [output])


def test_every_epoch_has_the_reference_s_bits(tmp_path: Path, archive: Path) -> None:
    model = _model()
    (tmp_path / "model.tflite").write_bytes(model)
    compile_network(tmp_path / "model.tflite", POOLS, tmp_path)
    artifacts = read_artifacts(tmp_path, "network")
    elf = program(tmp_path, archive)
    sent = _sent((tmp_path / "network.c").read_text(), [output.name for output in artifacts.outputs])
    assert len(sent) == 16
    for seed in range(3):
        inputs = random_inputs(model, seed)
        expected = tensors_of(model, inputs)
        computed = run(elf, artifacts, inputs)
        offset = 0
        for name in sent:
            wanted = expected[name.partition("_")[2].removesuffix("_out_0")]
            assert computed[offset : offset + len(wanted)] == wanted, f"{name} differs"
            offset += len(wanted)
        assert offset == len(computed)


def _sent(source: str, outputs: list[str]) -> list[str]:
    """Return the buffers' names in the order in which the target program sends them.

    Each is sent with the epoch that completes it, outputs first.
    """
    described = re.findall(r'\.name = "(\w+)",[^}]*\}[^}]*?\.is_param = 0,\s*\.epoch = (\d+),', source)
    made = {name: int(epoch) for name, epoch in described if not name.startswith("Input_")}
    return sorted(made, key=lambda name: (made[name], name not in outputs, list(made).index(name)))
