"""Operators that move or choose elements, with operands that do not match.

Each is refused with the operands' names, never with a traceback.
"""

from pathlib import Path
from typing import Any

import choosing_models
import hypothesis.strategies as st
import movement_models as ops
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from hypothesis import given, settings
from n6build.compile.reference.compile_model import compile_network
from one_op_models import pad

from network.host_network import extflash
from network.network_models import as_file, compile_or_refuse, edit, model_error, mutated, set_options, set_quantisation

SUBJECTS = {
    "TRANSPOSE": ops.transpose((1, 5, 7, 3), (0, 3, 1, 2)),
    "STRIDED_SLICE": ops.strided_slice((1, 9, 7, 4), (0, 1, 0, 0), (1, 9, 7, 4), (1, 2, 3, 1), shrinkAxisMask=2),
    "SLICE": ops.slice_of((1, 6, 7, 5), (0, 1, 2, 1), (1, 4, -1, 3)),
    "SPLIT": ops.split((1, 3, 4, 6), 3, 3),
    "SPLIT_V": ops.split_v((1, 3, 4, 7), 3, (1, 4, 2)),
    "UNPACK": ops.unpack((2, 3, 5), 1),
    "CONCATENATION": ops.concatenation(3, [(1, 4, 5, 3), ops.constant((1, 4, 5, 1)), (1, 4, 5, 8)]),
    "PACK": ops.pack(-1, [(3, 4), (3, 4), (3, 4)]),
    "SPACE_TO_DEPTH": ops.space_to_depth((1, 6, 8, 3), 2),
    "DEPTH_TO_SPACE": ops.depth_to_space((1, 3, 4, 12), 2),
    "SPACE_TO_BATCH_ND": ops.space_to_batch((1, 5, 6, 2), (2, 2), [(1, 2), (0, 2)]),
    "BATCH_TO_SPACE_ND": ops.batch_to_space((4, 4, 4, 2), (2, 2), [(1, 2), (0, 2)]),
    "GATHER": ops.gather((1, 5, 4), 1, (4, 0, 0, 3)),
    "TILE": ops.tile((1, 3, 4, 2), (1, 2, 1, 3)),
    "BROADCAST_TO": ops.broadcast_to((1, 3, 1, 4), (1, 3, 5, 4)),
    "REVERSE_V2": ops.reverse((1, 4, 5, 3), (1,)),
    "MIRROR_PAD": ops.mirror_pad((1, 4, 5, 3), [(0, 0), (3, 2), (1, 4), (0, 0)], symmetric=False),
    "PAD": ops.pad((1, 5, 3), [(0, 0), (2, 1), (1, 0)]),
    "EXPAND_DIMS": ops.expand_dims((1, 6, 4), 2),
    "SQUEEZE": ops.squeeze((1, 6, 1, 4), (2,)),
    "RESIZE_BILINEAR": ops.resize("ResizeBilinear", (3, 4), (6, 8), 3),
    "RESIZE_NEAREST_NEIGHBOR": ops.resize("ResizeNearestNeighbor", (3, 4), (6, 8), 3),
    "GATHER_ND": choosing_models.gather_nd((4, 3, 2), (5, 2)),
    "LESS": choosing_models.comparison("Less", ((1, 5, 1), (1, 1, 4))),
    "LOGICAL_AND": choosing_models.logical("And", ((1, 5, 1), (1, 1, 4))),
    "SELECT": choosing_models.select((5,), (5, 4), (5, 4), kind="Select"),
    "SELECT_V2": choosing_models.select((5, 1), (1, 4), (5, 4)),
    "CAST": ops.cast((1, 6), np.int8, np.float32),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_an_output_of_another_size_is_refused(name: str, tmp_path: Path) -> None:
    def enlarge(tree: Any) -> None:
        shape = tree.subgraphs[0].tensors[-1].shape
        tree.subgraphs[0].tensors[-1].shape = [*shape[:-1], int(shape[-1]) + 1]

    error = model_error(edit(SUBJECTS[name], enlarge), tmp_path)
    assert error.id == "N6-NET-007"
    assert f"({name})" in error.what and "output" in error.what
    assert error.hint


def _set_numbers(position: int, *values: int) -> Any:
    def change(tree: Any) -> None:
        tensor = tree.subgraphs[0].tensors[position]
        tree.buffers[tensor.buffer].data = np.frombuffer(np.array(values, np.int32).tobytes(), np.uint8)

    return change


NUMBERS = {
    "axis twice": ("TRANSPOSE", _set_numbers(1, 0, 1, 1, 2)),
    "axis beyond": ("TRANSPOSE", _set_numbers(1, 0, 3, 4, 1)),
    "step of nothing": ("STRIDED_SLICE", _set_numbers(3, 1, 0, 1, 1)),
    "index beyond": ("STRIDED_SLICE", _set_numbers(1, 0, 9, 0, 0)),
    "negative begin": ("SLICE", _set_numbers(1, 0, -2, 2, 1)),
    "split axis": ("SPLIT", _set_numbers(0, 7)),
    "sizes of another sum": ("SPLIT_V", _set_numbers(1, 1, 4, 3)),
    "sizes below zero": ("SPLIT_V", _set_numbers(1, -3, 4, 6)),
    "concatenation axis": ("CONCATENATION", set_options(axis=4)),
    "other concatenation axis": ("CONCATENATION", set_options(axis=1)),
    "pack axis": ("PACK", set_options(axis=3)),
    "unpack axis": ("UNPACK", set_options(axis=-4)),
    "no block": ("SPACE_TO_DEPTH", set_options(blockSize=0)),
    "negative block": ("DEPTH_TO_SPACE", set_options(blockSize=-2)),
    "many blocks": ("SPACE_TO_BATCH_ND", _set_numbers(1, 10_000, 10_000)),
    "blocks below zero": ("BATCH_TO_SPACE_ND", _set_numbers(1, -2, -2)),
    "crops below zero": ("BATCH_TO_SPACE_ND", _set_numbers(2, -1, 2, 0, 2)),
    "gathered beyond": ("GATHER", _set_numbers(1, 4, 0, 5, 3)),
    "gathered before": ("GATHER", _set_numbers(1, 4, 0, -1, 3)),
    "gathered batches": ("GATHER", set_options(batchDims=1)),
    "more batches than there are": ("GATHER", set_options(batchDims=-9)),
    "gather axis": ("GATHER", set_options(axis=3)),
    "times": ("TILE", _set_numbers(1, 1, 2, -1, 3)),
    "reverse axis": ("REVERSE_V2", _set_numbers(1, 4)),
    "too much to mirror": ("MIRROR_PAD", _set_numbers(1, 0, 0, 4, 2, 1, 4, 0, 0)),
    "negative padding": ("PAD", _set_numbers(1, 0, 0, -2, 1, 1, 0)),
    "size": ("RESIZE_BILINEAR", _set_numbers(1, 6, 9)),
    "other size": ("RESIZE_NEAREST_NEIGHBOR", _set_numbers(1, 5, 8)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_do_not_fit_are_refused(name: str, tmp_path: Path) -> None:
    kind, change = NUMBERS[name]
    error = model_error(edit(SUBJECTS[kind], change), tmp_path)
    assert (error.id, f"({kind})" in error.what, bool(error.hint)) == ("N6-NET-007", True, True)


def test_a_concatenation_of_other_scales_is_refused(tmp_path: Path) -> None:
    error = model_error(edit(SUBJECTS["CONCATENATION"], set_quantisation(2, scale=[0.07])), tmp_path)
    assert (error.id, "'input2'" in error.what) == ("N6-NET-006", True)


@pytest.mark.parametrize("scale", [float("inf"), float("nan")])
def test_scales_that_no_source_can_hold_are_refused(scale: float, tmp_path: Path) -> None:
    def spoil(tree: Any) -> None:
        tree.subgraphs[0].tensors[0].quantization = schema.QuantizationParametersT()
        tree.subgraphs[0].tensors[0].quantization.scale = [scale]
        tree.subgraphs[0].tensors[0].quantization.zeroPoint = [0]

    for dtype in (np.int8, np.int32):
        error = model_error(edit(ops.transpose((1, 5, 3), (0, 2, 1), dtype), spoil), tmp_path)
        assert (error.id, "'input'" in error.what) == ("N6-NET-006", True)


def test_a_padding_of_another_type_is_refused(tmp_path: Path) -> None:
    model = pad((1, 4, 5, 3), [(0, 0), (1, 1), (1, 1), (0, 0)], ops.SCALED, 77)

    def widen(tree: Any) -> None:
        tensor = tree.subgraphs[0].tensors[2]
        tensor.type = schema.TensorType.INT32
        tree.buffers[tensor.buffer].data = np.frombuffer(np.array([3], np.int32).tobytes(), np.uint8)

    error = model_error(edit(model, widen), tmp_path)
    assert (error.id, "'value' (int32)" in error.what) == ("N6-NET-007", True)


def test_elements_without_a_scale_are_moved(tmp_path: Path) -> None:
    def forget(tree: Any) -> None:
        for tensor in tree.subgraphs[0].tensors:
            tensor.quantization = None

    compile_network(as_file(edit(SUBJECTS["TRANSPOSE"], forget), tmp_path), extflash(), tmp_path / "out")
    assert (tmp_path / "out" / "network.c").is_file()


@pytest.mark.parametrize(
    ("kind", "change", "word"),
    [
        ("CONCATENATION", set_options(fusedActivationFunction=schema.ActivationFunctionType.RELU), "RELU"),
        ("STRIDED_SLICE", set_options(offset=True), "ends"),
    ],
)
def test_options_that_are_not_supported_are_named(kind: str, change: Any, word: str, tmp_path: Path) -> None:
    error = model_error(edit(SUBJECTS[kind], change), tmp_path)
    assert (error.id, word in error.what, bool(error.hint)) == ("N6-NET-008", True, True)


def test_a_shape_that_leaves_the_network_is_refused(tmp_path: Path) -> None:
    model = ops.operator("Shape", [ops.activation((1, 3, 4))], dtype=np.int32, outType=schema.TensorType.INT32)
    error = model_error(model, tmp_path)
    assert (error.id, "(SHAPE)" in error.what) == ("N6-NET-007", True)


@settings(max_examples=400)
@given(data=st.data())
def test_mutated_models_never_end_in_a_traceback(data: st.DataObject, tmp_path: Path) -> None:
    compile_or_refuse(mutated(data, SUBJECTS[data.draw(st.sampled_from(sorted(SUBJECTS)))], 3), tmp_path)
