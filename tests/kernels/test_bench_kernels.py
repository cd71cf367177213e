"""The figures of `tools/bench.py kernels` count the right instructions."""

from itertools import pairwise
from math import prod
from pathlib import Path

import pytest
from benchmarks import layers
from benchmarks.kernels import Bench

from kernels import cortex_m55
from kernels.cortex_m55 import Call

LAYERS = [
    layers.fully_connected(20, 7),
    layers.depthwise((5, 4, 17)),
    layers.pool("MAX", (6, 6, 8), (2, 2), (2, 2)),
]


@pytest.mark.slow
def test_a_layer_costs_the_instructions_that_the_machine_counted(
    machine: cortex_m55.Machine, runners: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N6BUILD_SAMPLES", "")
    bench = Bench(tmp_path)
    counted = cortex_m55.run(machine, runners["-O2"], [Call(layer.ours) for layer in LAYERS], tmp_path)
    for layer, result in zip(LAYERS, counted, strict=True):
        measured = bench.measure(layer)
        # The machine also counts the call, less that of an empty function.
        assert measured.ours.instructions == pytest.approx(result.instructions, abs=8)
        assert measured.theirs is None
        assert measured.ours.cycles > measured.ours.instructions / 2


@pytest.mark.parametrize("name", [name for name in layers.NETWORKS if "ResNet" not in name])
def test_each_layer_of_a_network_takes_what_the_one_before_makes(name: str) -> None:
    """ResNet is left out, because it has layers beside one another."""
    for before, after in pairwise(layers.NETWORKS[name]()):
        assert prod(before.ours.output[0]) == after.theirs.inputs[0].size, f"{before.name}, then {after.name}"
