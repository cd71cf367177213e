"""Stage 0: an int8 model from a float one and samples."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from called import call
from float_models import Rows, quantise_file
from n6build.base.errors import N6Error
from n6build.compile.quantise import worker
from n6build.compile.quantise.process import QuantiseAnswer, QuantiseJob, answer_of
from n6build.compile.quantise.quantise_onnx import quantised
from n6build.compile.reference.compile_model import graph_of
from n6build.describe.quantise import Method, Quantise
from n6build.judge.accuracy.figures import Accuracy, lines_of
from n6build.judge.accuracy.jobs import AccuracyJob
from n6build.judge.accuracy.run_both import Sums, decibels, measured
from onnx import helper
from onnx_models import onnx_bytes
from onnxruntime.quantization import CalibrationMethod
from onnxruntime.quantization.shape_inference import quant_pre_process
from trained_models import CLASSES, SHAPE, classifier

MEASURED = """
import resource, sys
from dataclasses import replace
from n6build.compile.quantise.process import Quantise, QuantiseJob
from n6build.compile.quantise.quantise_onnx import quantised
settings = replace(Quantise(), method="percentile", most=int(sys.argv[3]))
quantised(QuantiseJob(sys.argv[1], (sys.argv[2],), settings, False))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
METHODS: tuple[Method, ...] = ("minmax", "percentile", "entropy")


def job(folder: Path, settings: Quantise | None = None, samples: str = "samples.npy") -> QuantiseJob:
    return QuantiseJob(str(folder / "net.onnx"), (str(folder / samples),), settings or Quantise(), compiles=True)


def accuracy(folder: Path, int8: Path, settings: Quantise | None = None) -> float:
    """Return the loss of an int8 model in percentage points."""
    files = str(folder / "net.onnx"), str(int8), (str(folder / "samples.npy"),), (str(folder / "labels.npy"),)
    drop = measured(AccuracyJob(*files, CLASSES, settings or Quantise())).drop
    assert drop is not None
    return drop


def by_the_library(folder: Path, method: Method) -> Path:
    """Quantise as onnxruntime's documentation does: all samples at once."""
    fixed = onnx.load(folder / "net.onnx")
    for port in (*fixed.graph.input, *fixed.graph.output):
        port.type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(onnx.version_converter.convert_version(fixed, 13), folder / "fixed.onnx")
    quant_pre_process(folder / "fixed.onnx", folder / "prepared.onnx", skip_symbolic_shape=True)
    how = {"minmax": "MinMax", "percentile": "Percentile", "entropy": "Entropy"}[method]
    rows = Rows("picture", np.load(folder / "samples.npy")[:, None])
    method_of_theirs = {"calibrate_method": CalibrationMethod[how]}
    return quantise_file(folder / "prepared.onnx", folder / "theirs.onnx", rows, **method_of_theirs)


@pytest.mark.parametrize("method", METHODS)
def test_the_ranges_are_those_that_the_library_finds_with_all_samples_at_once(method: Method, tmp_path: Path) -> None:
    classifier().save(tmp_path)
    made = quantised(job(tmp_path, replace(Quantise(), method=method)))
    (tmp_path / "ours.onnx").write_bytes(made.data)
    assert abs(accuracy(tmp_path, tmp_path / "ours.onnx")) <= 1.0
    ours, theirs = onnx.load_model_from_string(made.data), onnx.load(by_the_library(tmp_path, method))
    constants = [{each.name: each.raw_data for each in model.graph.initializer} for model in (ours, theirs)]
    assert constants[0] == constants[1]


def test_the_float_model_has_learned_its_classes() -> None:
    trained = classifier()
    session = onnxruntime.InferenceSession(trained.model)
    (found,) = session.run(None, {"picture": trained.samples})
    assert 0.85 < (found.argmax(axis=1) == trained.labels).mean() < 1


def test_batch_normalisation_is_folded_and_the_compiler_takes_the_result(tmp_path: Path) -> None:
    classifier().save(tmp_path, 16)
    made = quantised(job(tmp_path))
    (tmp_path / "int8.onnx").write_bytes(made.data)
    kinds = {node.op_type for node in onnx.load_model_from_string(made.data).graph.node}
    assert "BatchNormalization" not in kinds
    assert {each.dtype for each in graph_of(tmp_path / "int8.onnx").tensors.values()} & {"int8"}
    assert made.lines == ("picture is 1 x 3 x 12 x 12: batch 1", "16 samples, minmax")


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_make_the_same_bytes(method: Method, tmp_path: Path) -> None:
    classifier().save(tmp_path, 24)
    wanted = job(tmp_path, replace(Quantise(), method=method))
    first, second = (answer_of(worker.__name__, wanted, QuantiseAnswer, "net.onnx")[1] for _ in range(2))
    # This process has another order of sets than the two.
    assert first == second == quantised(wanted).data


def test_samples_beyond_the_number_that_is_used_change_nothing(tmp_path: Path) -> None:
    classifier().save(tmp_path)
    settings = replace(Quantise(), most=50)
    before = quantised(job(tmp_path, settings))
    samples = np.load(tmp_path / "samples.npy")
    samples[1] *= 10
    np.save(tmp_path / "samples.npy", samples)
    assert quantised(job(tmp_path, settings)).data == before.data
    assert before.lines[-1] == "50 of 200 samples, minmax"
    samples[4] *= 10
    np.save(tmp_path / "samples.npy", samples)
    assert quantised(job(tmp_path, settings)).data != before.data


def test_excluded_nodes_stay_float(tmp_path: Path) -> None:
    classifier().save(tmp_path, 16)
    wanted = replace(job(tmp_path, replace(Quantise(), exclude=("second",))), compiles=False)
    nodes = {node.name: node for node in onnx.load_model_from_string(quantised(wanted).data).graph.node}
    assert nodes["second"].input[1] == "w2"
    assert nodes["dense"].input[1] != "last"


def test_other_outputs_and_open_sizes_are_fixed_with_a_line(tmp_path: Path) -> None:
    trained = classifier()
    model = onnx.load_model_from_string(trained.model)
    for axis, name in ((2, "height"), (3, "width")):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
    trained.save(tmp_path, 16)
    onnx.save(model, tmp_path / "net.onnx")
    settings = replace(Quantise(), outputs=("r2",), shape={"height": 12})
    made = quantised(job(tmp_path, settings))
    kept = onnx.load_model_from_string(made.data)
    assert [each.name for each in kept.graph.output] == ["r2"]
    assert made.lines[:2] == (
        "1 outputs kept, 2 nodes behind them removed",
        "picture is 1 x 3 x 12 x 12: batch 1, height 12, width 12",
    )


def test_a_model_of_two_inputs_takes_an_array_for_each(tmp_path: Path) -> None:
    node, shape = helper.make_node("Add", ["one", "two"], ["sum"], "add"), [1, 4]
    data = onnx_bytes([node], {"one": shape, "two": shape}, {"sum": shape}, opset=17, ir_version=8)
    (tmp_path / "net.onnx").write_bytes(data)
    rng = np.random.default_rng(0)
    one, two = rng.normal(0, 1, (2, 9, 4)).astype(np.float32)
    np.savez(tmp_path / "samples.npz", one=one, two=two)
    made = quantised(job(tmp_path, samples="samples.npz"))
    assert sum(node.op_type == "QuantizeLinear" for node in onnx.load_model_from_string(made.data).graph.node) == 3


def test_the_ratio_is_that_of_powers() -> None:
    sums = Sums(["a"])
    sums.add([np.array([3.0, 4.0])], [np.array([3.0, 4.5])], 1)
    sums.add([np.array([0.0, 5.0])], [np.array([5.0, 4.0])], 1)
    found = sums.figures()
    assert found.outputs[0].sqnr_db == decibels(25 + 25, 0.25 + 26)
    assert (found.outputs[0].same, found.float_top1, found.int8_top1, found.labelled) == (1, 2, 1, 2)
    assert found.drop == 50
    assert decibels(1, 0) == 150
    assert decibels(0, 1) == 0


def test_the_float_model_may_select_fewer_boxes() -> None:
    sums = Sums(["selected"])
    sums.add([np.array([[0, 0, 7]])], [np.array([[0, 0, 7], [-1, -1, -1]])])
    assert sums.figures().sqnr_db == 150


def test_the_tensors_inside_that_lose_most_are_named_first(tmp_path: Path) -> None:
    classifier().save(tmp_path, 40)
    # A channel that is far outside takes the steps of all others.
    model = onnx.load(tmp_path / "net.onnx")
    (bias,) = (each for each in model.graph.initializer if each.name == "b2")
    values = onnx.numpy_helper.to_array(bias).copy()
    values[0] += 2000
    bias.CopyFrom(onnx.numpy_helper.from_array(values, "b2"))
    onnx.save(model, tmp_path / "net.onnx")
    (tmp_path / "int8.onnx").write_bytes(quantised(job(tmp_path)).data)
    files = str(tmp_path / "net.onnx"), str(tmp_path / "int8.onnx"), (str(tmp_path / "samples.npy"),), ()
    tensors = measured(AccuracyJob(*files, CLASSES, Quantise())).tensors
    assert {"r1", "r2", "classes"} <= {each.name for each in tensors}
    assert [each.sqnr_db for each in tensors] == sorted(each.sqnr_db for each in tensors)
    lines = list(lines_of(Accuracy(40, (), tensors=tensors)))
    assert lines[1].startswith(f"least SQNR of {len(tensors)} tensors inside: {tensors[0].sqnr_db:.1f} dB (")


def test_memory_does_not_grow_with_the_samples(tmp_path: Path) -> None:
    """Percentiles of all samples at once would keep every activation."""
    classifier().save(tmp_path)
    large = np.lib.format.open_memmap(tmp_path / "many.npy", "w+", np.float32, (20_000, *SHAPE))
    large[:] = np.tile(np.load(tmp_path / "samples.npy"), (100, 1, 1, 1))
    del large
    peaks = []
    for most in ("8", "300"):
        result = call(sys.executable, "-c", MEASURED, tmp_path / "net.onnx", tmp_path / "many.npy", most, cwd=tmp_path)
        peaks.append(int(result.stdout.splitlines()[-1]))
    assert peaks[1] - peaks[0] < 40_000  # KiB; the activations of 300 samples have 4 MB, the file has 34 MB.


def test_errors_of_the_process_are_those_of_the_library(tmp_path: Path) -> None:
    classifier().save(tmp_path, 4)
    with pytest.raises(N6Error) as caught:
        answer_of(worker.__name__, job(tmp_path), QuantiseAnswer, "net.onnx")
    assert (caught.value.id, caught.value.where) == ("N6-QUANT-006", "samples.npy")
