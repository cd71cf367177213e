"""Random float32 graphs against onnxruntime."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import random_islands
from kernels.host_kernels import HostKernels

from benchmarks.measure import FIGURES, Head, Rows

_STEP = 1.001


def islands(graphs: int = 2000, first: int = 0) -> Rows:
    """Yield the distances of random float32 graphs from onnxruntime.

    Args:
        graphs: Number of graphs.
        first: Seed of the first one; a graph that is off is printed with its seed.
    """
    outside: list[tuple[int, str]] = []
    furthest: Counter[str] = Counter()
    steps = elements = 0
    with tempfile.TemporaryDirectory() as folder:
        kernels = HostKernels(Path(folder))
        for seed in range(first, first + graphs):
            found = random_islands.compared(kernels, Path(folder), seed)
            if not found.is_within(_STEP):
                outside.append((seed, " ".join(found.kinds)))
            if found.is_quantised:
                steps, elements = steps + found.differing, elements + found.elements
            else:
                label = found.kinds[-1] if len(found.kinds) == 1 else "several operators"
                furthest[label] = max(furthest[label], int(np.ceil(found.distance)))
        selections = sum(
            random_islands.selection_distance(kernels, Path(folder), seed) > 0 for seed in range(first, first + graphs)
        )
    yield FIGURES
    yield "graphs", str(graphs), ">= 2000"
    yield "graphs outside their limits", str(len(outside)), "0"
    yield "quantised elements that are one step off", f"{steps} of {elements}", ""
    yield "random NonMaxSuppression that differ", f"{selections} of {graphs}", "0"
    yield Head(("operator", "largest distance in ulps of the largest number"))
    for label, distance in furthest.most_common():
        yield label, str(distance)
    if outside:
        yield Head(("seed", "operators of a graph outside its limits"))
        for seed, kinds in outside:
            yield str(seed), kinds
