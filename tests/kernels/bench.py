"""Counts the instructions that each kernel executes on an emulated Cortex-M55, per multiply-accumulate or element.

An instruction is not a cycle: a vector instruction takes two beats, and loads overlap with multiplications.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import cases
import machines
from descriptors import Case


def workloads() -> list[Case]:
    """Layers of usual networks; `work` is what instructions are divided by."""
    rng = np.random.default_rng(1)
    return [
        cases.conv_2d(rng, (32, 32, 16), 16, (3, 3)),
        cases.conv_2d(rng, (16, 16, 64), 64, (3, 3)),
        cases.conv_2d(rng, (70, 56, 1), 64, (7, 7), (2, 2), padding="VALID"),
        cases.conv_2d(rng, (16, 16, 64), 64, (1, 1)),
        cases.conv_2d(rng, (16, 14, 64), 128, (1, 1), (2, 2)),
        cases.conv_2d(rng, (48, 48, 3), 16, (3, 3), (2, 2)),
        cases.depthwise_conv_2d(rng, (24, 24, 32)),
        cases.depthwise_conv_2d(rng, (48, 48, 8)),
        cases.depthwise_conv_2d(rng, (6, 6, 128)),
        cases.depthwise_conv_2d(rng, (49, 10, 1), 64, (10, 4), (2, 2)),
        cases.fully_connected(rng, 1, 3584, 10),
        cases.fully_connected(rng, 1, 640, 128, "RELU"),
        cases.add(rng, (1, 18432)),
        cases.pool_2d(rng, "MAX", (34, 27, 64), (3, 3), (2, 2), "VALID"),
        cases.pool_2d(rng, "AVERAGE", (25, 5, 64), (25, 5), (25, 5), "VALID"),
        cases.pad(rng, (32, 25, 64), [(1, 1), (1, 1), (0, 0)]),
        cases.softmax(rng, 1, 10, 0.1),
        cases.requantize(rng, 10000, True, False),
        cases.quantize(rng, 10000, False),
        cases.dequantize(rng, 10000, False),
        cases.copy(rng, 10000),
    ]


def measure(chosen: Sequence[Case], optimisation: str = "-O2") -> list[int]:
    """Instructions of one call of each."""
    machine = machines.find()
    if machine is None:
        raise SystemExit("no emulator of a Cortex-M55: neither the virtual board nor qemu-system-arm")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        elf = machines.build_runner(machine, folder, optimisation)
        return [result.instructions for result in machines.run(machine, elf, chosen, folder, repeats=4)]


def main() -> None:
    chosen = workloads()
    for case, instructions in zip(chosen, measure(chosen, *sys.argv[1:]), strict=True):
        print(f"{instructions:9d}  {instructions / case.work:8.3f}  {case.name}")


if __name__ == "__main__":
    main()
