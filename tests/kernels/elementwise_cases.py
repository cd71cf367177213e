"""Random elementwise operators."""

import elementwise_models as ops
import numpy as np
from one_op_models import Quantisation

from kernels.kernel_descriptors import Case
from kernels.lowered_cases import case_of


def _quantisation(rng: np.random.Generator) -> Quantisation:
    """Every other one with a power of two, with which many values lie halfway between integers."""
    scale = float(np.float32(10 ** rng.uniform(-2.5, -0.5)))
    return Quantisation(scale if rng.random() < 0.5 else 2.0 ** round(np.log2(scale)), int(rng.integers(-128, 128)))


def lookup(rng: np.random.Generator, elements: int) -> Case:
    values = rng.integers(-128, 128, (1, elements), dtype=np.int8)
    operator = ("ABS", "LEAKY_RELU", "RELU6")[int(rng.integers(3))]
    model = ops.unary(operator, values.shape, _quantisation(rng), _quantisation(rng))
    return case_of(f"lookup of {operator} {elements}", model, values)
