"""The kernel of detections gives the bits of its twin on an emulated Cortex-M55.

tests/network/test_detections.py compares the twin with LiteRT.
"""

import tempfile
from pathlib import Path

import detection_models
import numpy as np
from n6build.compile.reference.compile_model import detections_together
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.graph_checks import check_graph
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import operands_of
from n6build.compile.reference.operators.detections import KIND
from n6build.compile.reference.tflite_reader import read_graph
from numpy.typing import NDArray

from kernels.case_of_call import case_of_call
from kernels.cortex_m55 import Call
from kernels.helium import Helium
from kernels.kernel_descriptors import Case


def random_case(seed: int) -> Case:
    rng = np.random.default_rng([5, seed])
    by_class, classes = bool(rng.random() < 0.5), int(rng.integers(1, 6))
    model = detection_models.post_process(
        int(rng.integers(1, 40)),
        classes,
        detections=int(rng.integers(1, 12)),
        each=int(rng.integers(1, 4)),
        by_class=by_class,
        of_class=int(rng.integers(1, 10)),
        background=bool(rng.random() < 0.5),
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tflite"
        file.write_bytes(model)
        graph = detections_together(read_graph(file))
    check_graph(graph, file.name)
    operator = next(operator for operator in graph.operators if operator.kind == KIND)
    operands = operands_of(graph, operator)
    call = KINDS[KIND].lower(operands)
    assert isinstance(call, KernelCall)

    def values(tensor: Tensor) -> NDArray[np.generic]:
        # Some scores are equal.
        drawn = rng.normal(0, 2, tensor.shape) if tensor.shape[-1] == 4 else rng.integers(0, 20, tensor.shape) / 20
        return drawn.astype(np.float32)

    return case_of_call(f"detections {seed}", call, operands.output, values)


def test_random_detections_equal_the_twin(helium: Helium) -> None:
    helium.assert_equals_twins([random_case(seed) for seed in range(30)], "-O3")


def test_nothing_is_read_or_written_beyond_a_buffer(helium: Helium) -> None:
    cases = [random_case(seed) for seed in range(30, 36)]
    helium.assert_equals_twins([Call(case, at_edge) for case in cases for at_edge in [*case.buffers, "output"]])
