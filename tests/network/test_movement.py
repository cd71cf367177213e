"""Operators that only move elements give the reference interpreter's bits, and cost nothing where the elements lie right."""

from collections.abc import Callable

import movement_models as ops
import numpy as np
import pytest
from movement_models import random_inputs

from network.equality import assert_equal_everywhere
from network.host_network import HostNetwork

Build = Callable[..., HostNetwork]

ALONE = {
    "transpose to channels first": ops.transpose((1, 5, 7, 3), (0, 3, 1, 2)),
    "transpose to channels last": ops.transpose((1, 3, 5, 7), (0, 2, 3, 1)),
    "transpose of two": ops.transpose((9, 13), (1, 0)),
    "transpose of outer dimensions": ops.transpose((3, 4, 5), (1, 0, 2)),
    "transpose of six": ops.transpose((2, 3, 2, 3, 2, 3), (5, 3, 1, 4, 2, 0)),
    "strided slice": ops.strided_slice((1, 9, 7, 4), (0, 1, 0, 0), (1, 9, 7, 4), (1, 2, 3, 1)),
    "strided slice of channels": ops.strided_slice((1, 3, 5, 8), (0, 0, 0, 2), (1, 3, 5, 7), (1, 1, 1, 2)),
    "strided slice backwards": ops.strided_slice((1, 10), (0, 8), (1, 1), (1, -2)),
    "strided slice with masks": ops.strided_slice((1, 6, 5, 4), (9, 1, 0), (9, 0, 3), beginMask=1, endMask=3),
    "strided slice with an ellipsis": ops.strided_slice((1, 3, 4, 5), (0, 0, 1), (1, 0, 4), ellipsisMask=2),
    "strided slice with a new axis": ops.strided_slice((3, 7), (0, 0, 1), (3, 0, 6), newAxisMask=2),
    "strided slice that drops an axis": ops.strided_slice((3, 4, 7), (0, -1, 1), (3, 0, 6), shrinkAxisMask=2),
    "slice": ops.slice_of((1, 6, 7, 5), (0, 1, 2, 1), (1, 4, -1, 3)),
    "split of channels": ops.split((1, 3, 4, 6), 3, 3),
    "split from the end": ops.split((1, 3, 4, 6), -2, 2),
    "split in parts of any size": ops.split_v((1, 3, 4, 7), 3, (1, 4, 2)),
    "split with a rest": ops.split_v((1, 3, 4, 7), 2, (1, -1)),
    "unpack": ops.unpack((2, 3, 5), 1),
    "unpack of the last": ops.unpack((1, 4, 3), -1),
    "concatenation of channels": ops.concatenation(3, [(1, 4, 5, 3), (1, 4, 5, 1), (1, 4, 5, 8)]),
    "concatenation from the end": ops.concatenation(-2, [(1, 4, 5, 3), (1, 4, 2, 3)]),
    "concatenation of rows": ops.concatenation(1, [(1, 4, 5, 3), (1, 1, 5, 3)]),
    "concatenation with a constant": ops.concatenation(
        1, [ops.constant((1, 6, 4)), (1, 2, 4), ops.constant((1, 1, 4), 2)]
    ),
    "pack": ops.pack(0, [(3, 4), (3, 4)]),
    "pack of the last": ops.pack(-1, [(3, 4), (3, 4), (3, 4)]),
    "gather": ops.gather((1, 5, 4), 1, (4, 0, 0, 3)),
    "gather of channels": ops.gather((1, 3, 4, 6), -1, (5, 1, 3)),
    "gather by a table": ops.gather((6, 5), 0, ((4, 0), (1, 5))),
    "space to depth": ops.space_to_depth((1, 6, 8, 3), 2),
    "depth to space": ops.depth_to_space((1, 3, 4, 12), 2),
    "depth to space of one channel": ops.depth_to_space((1, 3, 4, 9), 3),
}


@pytest.mark.parametrize("name", ALONE)
def test_an_operator_alone(host_network: Build, name: str) -> None:
    model = ALONE[name]
    network = host_network(model)
    for seed in range(3):
        assert_equal_everywhere(network, model, random_inputs(model, seed))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, np.bool_])
def test_elements_of_any_type_are_moved(host_network: Build, dtype: type[np.generic]) -> None:
    for model in (
        ops.transpose((1, 3, 4, 5), (0, 3, 1, 2), dtype),
        ops.concatenation(2, [(1, 3, 2), (1, 3, 1)], dtype),
        ops.strided_slice((1, 5, 4), (0, 0, 1), (1, 5, 4), dtype=dtype),
    ):
        network = host_network(model)
        assert_equal_everywhere(network, model, random_inputs(model, 1))


WAYS = [(False, False), (True, False), (False, True)]
RESIZED = [
    ((3, 4), (6, 8)),
    ((5, 4), (9, 13)),
    ((9, 7), (4, 3)),
    ((1, 1), (3, 3)),
    ((4, 6), (16, 24)),
    ((5, 1), (1, 4)),
]


@pytest.mark.parametrize(("align_corners", "half_pixel_centers"), WAYS)
@pytest.mark.parametrize(("given", "made"), RESIZED)
@pytest.mark.parametrize("name", ["ResizeBilinear", "ResizeNearestNeighbor"])
def test_images_are_resized(
    host_network: Build,
    name: str,
    given: tuple[int, int],
    made: tuple[int, int],
    align_corners: bool,
    half_pixel_centers: bool,
) -> None:
    for channels in (1, 3, 19):
        model = ops.resize(name, given, made, channels, align_corners, half_pixel_centers)
        network = host_network(model)
        for seed in range(3):
            assert_equal_everywhere(network, model, random_inputs(model, seed))
