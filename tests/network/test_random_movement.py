"""Random chains of operators that move elements, bit by bit.

Every tensor has the reference interpreter's bits.
"""

import movement_models as ops
import numpy as np
import pytest
import reference_interpreter
from movement_models import random_inputs
from one_op_models import Quantisation, quantize

from network.equality import assert_equal_everywhere
from network.host_network import Build, noextmem
from network.network_models import chain

CHAINS = 40
_MOST_ELEMENTS = 4000


def _random_operator(rng: np.random.Generator, shape: list[int]) -> bytes:  # noqa: PLR0911
    """Return a random operator that takes a tensor of this shape.

    Dimension 0 stays a batch of 1.
    """
    rank = len(shape)
    axis = int(rng.integers(1, rank))
    match int(rng.integers(12)):
        case 0:
            return ops.transpose(shape, [0, *(1 + int(other) for other in rng.permutation(rank - 1))])
        case 1:
            begin = [0, *(int(rng.integers(size)) for size in shape[1:])]
            end = [1, *(int(rng.integers(b + 1, s + 1)) for b, s in zip(begin[1:], shape[1:], strict=True))]
            return ops.strided_slice(shape, begin, end, [1, *(int(step) for step in rng.integers(1, 3, rank - 1))])
        case 2:
            return ops.concatenation(axis, [shape, ops.constant([1, *shape[1:]], int(rng.integers(99)))])
        case 3 if rank < 5:
            return ops.expand_dims(shape, axis)
        case 4 if 1 in shape[1:] and rank > 2:
            return ops.squeeze(shape, [shape.index(1, 1)])
        case 5:
            return ops.reverse(shape, [axis])
        case 6:
            return ops.gather(shape, axis, rng.integers(0, shape[axis], int(rng.integers(1, 6))).tolist())
        case 7:
            paddings = [(0, 0), *((int(a), int(b)) for a, b in rng.integers(0, 3, (rank - 1, 2)))]
            return ops.pad(shape, paddings)
        case 8:
            limits = [min(size - 1, 2) + 1 for size in shape]
            paddings = [(int(rng.integers(limit)), int(rng.integers(limit))) for limit in limits]
            return ops.mirror_pad(shape, paddings, symmetric=False)
        case 9 if rank == 4:
            made = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
            name = ("ResizeBilinear", "ResizeNearestNeighbor")[int(rng.integers(2))]
            return ops.resize(name, (shape[1], shape[2]), made, shape[3], half_pixel_centers=True)
        case 10 if rank == 4 and shape[1] % 2 == 0 and shape[2] % 2 == 0:
            return ops.space_to_depth(shape, 2)
        case 11 if rank == 4 and shape[3] % 4 == 0:
            return ops.depth_to_space(shape, 2)
    return ops.tile(shape, [1, *(int(times) for times in rng.integers(1, 3, rank - 1))])


def _output_shape(model: bytes) -> list[int]:
    shape: list[int] = reference_interpreter.load(model).get_output_details()[0]["shape"].tolist()
    return shape


def _random_chain(rng: np.random.Generator) -> bytes:
    shape = [1, *(int(size) for size in rng.integers(1, 9, int(rng.integers(2, 4))))]
    models = [quantize(tuple(shape), np.int8, np.int8, Quantisation(0.06, 1), ops.SCALED)] if rng.random() < 0.5 else []
    for _ in range(int(rng.integers(1, 6))):
        models.append(_random_operator(rng, shape))
        shape = _output_shape(models[-1])
        if np.prod(shape) > _MOST_ELEMENTS:
            break
    if rng.random() < 0.5:
        models.append(quantize(tuple(shape), np.int8, np.int8, ops.SCALED, Quantisation(0.07, 2)))
    return chain(*models)


@pytest.mark.parametrize("seed", range(CHAINS))
def test_a_random_chain(host_network: Build, seed: int) -> None:
    model = _random_chain(np.random.default_rng(seed))
    network = host_network(model, noextmem() if seed % 4 == 0 else None)
    assert_equal_everywhere(network, model, random_inputs(model, seed))
