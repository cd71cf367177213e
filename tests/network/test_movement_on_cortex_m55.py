"""Operators that move elements and resize, on an emulated Cortex-M55.

One network has all of them.
"""

import re
from pathlib import Path

import movement_models as ops
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from graph_models import Graph
from movement_models import random_inputs

from network.equality import assert_sent, tensors_of
from network.target_network import BuildTarget


def _model() -> bytes:
    graph = Graph()
    source = graph.input((1, 8, 8, 4), ops.SCALED.per_tensor, ops.SCALED.zero_point)
    back = graph.transpose(graph.transpose(source, 0, 3, 1, 2), 0, 2, 3, 1)
    ends = [graph.numbers(*values) for values in ((0, 1, 1, 0), (1, 8, 8, 4), (1, 2, 2, 1))]
    part = graph.add("STRIDED_SLICE", [back, *ends], (1, 4, 4, 4), table="StridedSlice")
    smooth = graph.resize(part, 8, 8, halfPixelCenters=True)
    rough = graph.resize(part, 8, 8, "NearestNeighbor")
    fixed = graph.random.integers(-128, 128, (1, 8, 8, 4), dtype=np.int8)
    joined = graph.concat(smooth, rough, graph.constant(fixed, source.scale, source.zero_point))
    deep = graph.add("SPACE_TO_DEPTH", [joined], (1, 4, 4, 48), table="SpaceToDepth", blockSize=2)
    mixed = graph.concat(*graph.split(deep, 2)[::-1], axis=1)
    flat = graph.add("DEPTH_TO_SPACE", [mixed], (1, 16, 8, 6), version=1, table="DepthToSpace", blockSize=2)
    around = ((0, 0), (1, 2), (2, 1), (0, 0))
    reflect = {"version": 1, "table": "MirrorPad", "mode": schema.MirrorPadMode.REFLECT}
    mirrored = graph.add("MIRROR_PAD", [flat, graph.constant(np.array(around, np.int32))], (1, 19, 11, 6), **reflect)
    chosen = graph.add("GATHER", [mirrored, graph.numbers(5, 0, 3)], (1, 19, 11, 3), table="Gather", axis=3)
    padded = graph.pad(chosen, *around)
    end = graph.add("REVERSE_V2", [padded, graph.numbers(2)], padded.shape, version=1, table="ReverseV2")
    return graph.bytes(graph.add("QUANTIZE", [end], end.shape, (0.07, 2), table="Quantize"))


def test_every_epoch_has_the_reference_s_bits(tmp_path: Path, target_network: BuildTarget) -> None:
    model = _model()
    network = target_network(model)
    sent = _sent((tmp_path / "network.c").read_text(), [output.name for output in network.artifacts.outputs])
    assert len(sent) == 16
    for seed in range(3):
        inputs = random_inputs(model, seed)
        expected = tensors_of(model, inputs)
        wanted = ((name, expected[name.partition("_")[2].removesuffix("_out_0")]) for name in sent)
        assert_sent(network.run(inputs), wanted)


def _sent(source: str, outputs: list[str]) -> list[str]:
    """Return the buffers' names in the order in which the target program sends them.

    Each is sent with the epoch that completes it, outputs first.
    """
    described = re.findall(r'\.name = "(\w+)",[^}]*\}[^}]*?\.is_param = 0,\s*\.epoch = (\d+),', source)
    made = {name: int(epoch) for name, epoch in described if not name.startswith("Input_")}
    return sorted(made, key=lambda name: (made[name], name not in outputs, list(made).index(name)))
