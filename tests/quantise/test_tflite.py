"""Stage 0 for float .tflite models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from graph_models import Graph, Value
from n6build.base.errors import N6Error
from n6build.compile.quantise import quantise_tflite, worker
from n6build.compile.quantise.process import QuantiseAnswer, QuantiseJob, answer_of
from n6build.compile.quantise.quantise_tflite import quantised_tflite
from n6build.compile.quantise.tflite_model import read_float_tflite
from n6build.compile.reference.compile_model import graph_of
from n6build.describe.choices import Choices
from n6build.describe.model import load_model
from n6build.describe.quantise import Method, Quantise
from n6build.judge.accuracy.figures import Accuracy
from n6build.judge.accuracy.jobs import AccuracyJob
from n6build.judge.accuracy.run_both import measured
from n6build.steps import quantise_model
from n6build.steps.quantise_model import with_int8_file
from one_op_models import halve, packed, tree_of
from samples import sample
from trained_models import CLASSES, tflite_classifier

METHODS: tuple[Method, ...] = ("minmax", "percentile", "entropy")


def job(folder: Path, settings: Quantise | None = None) -> QuantiseJob:
    return QuantiseJob(
        str(folder / "net.tflite"), (str(folder / "samples.npy"),), settings or Quantise(), compiles=True
    )


def accuracy(folder: Path, data: bytes, labels: str = "labels.npy") -> Accuracy:
    (folder / "int8.tflite").write_bytes(data)
    files = str(folder / "net.tflite"), str(folder / "int8.tflite"), (str(folder / "samples.npy"),)
    return measured(AccuracyJob(*files, (str(folder / labels),) if labels else (), CLASSES, Quantise()))


def refused(folder: Path, settings: Quantise | None = None) -> N6Error:
    with pytest.raises(N6Error) as caught:
        quantised_tflite(job(folder, settings))
    assert caught.value.where
    return caught.value


@pytest.mark.parametrize("method", METHODS)
def test_an_old_float_model_becomes_an_int8_one_that_the_compiler_takes(method: Method, tmp_path: Path) -> None:
    tflite_classifier().save(tmp_path)
    made = quantised_tflite(job(tmp_path, replace(Quantise(), method=method)))
    figures = accuracy(tmp_path, made.data)
    assert figures.float_top1 > 150
    assert figures.drop is not None
    assert abs(figures.drop) <= 1.0
    assert figures.outputs[0].sqnr_db > 25
    assert {"tensor_7", "classes"} <= {each.name for each in figures.tensors}
    assert figures.tensors[0].sqnr_db > 25
    graph = graph_of(tmp_path / "int8.tflite")
    assert {each.dtype for each in graph.tensors.values()} == {"int8", "int32"}
    assert made.lines == ("tensor_0 is 1 x 12 x 12 x 3: batch 1", f"200 samples, {method}")


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_make_the_same_bytes(method: Method, tmp_path: Path) -> None:
    tflite_classifier().save(tmp_path, 24)
    wanted = job(tmp_path, replace(Quantise(), method=method))
    first, second = (answer_of(worker.__name__, wanted, QuantiseAnswer, "net.tflite")[1] for _ in range(2))
    assert first == second == quantised_tflite(wanted).data


def test_weights_in_half_precision_are_float_weights(tmp_path: Path) -> None:
    path = tflite_classifier().save(tmp_path, 40)
    plain = quantised_tflite(job(tmp_path)).data
    tree = tree_of(path.read_bytes())
    halve(tree, tree.subgraphs[0].operators[0].inputs[1])
    path.write_bytes(packed(tree))
    data = quantised_tflite(job(tmp_path)).data
    assert abs(len(data) - len(plain)) < 200
    assert accuracy(tmp_path, data, labels="").outputs[0].sqnr_db > 25


def test_other_outputs_and_excluded_operators(tmp_path: Path) -> None:
    tflite_classifier().save(tmp_path, 16)
    kept = quantised_tflite(job(tmp_path, Quantise(outputs=("tensor_7",))))
    assert kept.lines[0] == "1 outputs kept, 1 operators behind them removed"
    (tmp_path / "kept.tflite").write_bytes(kept.data)
    assert len(graph_of(tmp_path / "kept.tflite").operators) == 3
    # The last layer stays float32.
    mixed = quantised_tflite(replace(job(tmp_path, Quantise(exclude=("classes",))), compiles=False))
    kinds = [each.type for each in tree_of(mixed.data).subgraphs[0].tensors if each.name == b"classes"]
    assert kinds == [schema.TensorType.FLOAT32]


def quantised_input(folder: Path) -> None:
    graph = Graph()
    (folder / "net.tflite").write_bytes(graph.bytes(graph.softmax(graph.input((1, 4)))))


def constant_output(folder: Path) -> None:
    graph = Graph()
    anchors = graph.add_real("ADD", [graph.constant(np.ones((1, 4), np.float32))] * 2)
    changed = graph.add_real("ADD", [graph.input((1, 4), 0.0, 0), anchors])
    (folder / "net.tflite").write_bytes(graph.bytes(changed, anchors))


def open_height(folder: Path) -> None:
    tree = tree_of((folder / "net.tflite").read_bytes())
    tree.subgraphs[0].tensors[0].shapeSignature = [-1, -1, 12, 3]
    (folder / "net.tflite").write_bytes(packed(tree))
    # Rows of numbers tell neither height nor width.
    np.save(folder / "samples.npy", np.load(folder / "samples.npy").reshape(16, -1))


def segmenter() -> bytes:
    """Return a network with open height and width, as TensorFlow writes it.

    It scales its features up to the size that a SHAPE finds.
    """
    rng = np.random.default_rng(3)
    graph = Graph()
    value = graph.input((1, 1, 1, 3), 0.0, 0)
    graph.tensors[0].shapeSignature = [-1, -1, -1, 3]
    conv = {"padding": "SAME", "strideH": 2, "strideW": 2, "fusedActivationFunction": "RELU"}
    fine, coarse = (
        [
            graph.constant(rng.normal(0, 0.3, (8, 3, 3, depth)).astype(np.float32)),
            graph.constant(np.ones(8, np.float32)),
        ]
        for depth in (3, 8)
    )
    fine_value = graph.add_real("CONV_2D", [value, *fine], (1, 1, 1, 8), table="Conv2D", **conv)
    coarse_value = graph.add_real("CONV_2D", [fine_value, *coarse], (1, 1, 1, 8), table="Conv2D", **conv)
    sizes = graph.positions("SHAPE", [fine_value], (4,), outType=schema.TensorType.INT32)
    bounds = [graph.constant(np.array(each, np.int32)) for each in ([1], [2])]
    wanted = graph.positions("SLICE", [sizes, *bounds], (2,))
    large = graph.add_real(
        "RESIZE_BILINEAR", [coarse_value, wanted], (1, 1, 1, 8), table="ResizeBilinear", halfPixelCenters=True
    )
    return graph.bytes(graph.add_real("ADD", [fine_value, large], (1, 1, 1, 8)))


def attention() -> bytes:
    """Return products of matrices: dense layers of rank 3, and two of activations."""
    rng = np.random.default_rng(3)
    graph = Graph()
    value = graph.input((1, 16, 32), 0.0, 0)

    def dense(given: Value, width: int) -> Value:
        weights = graph.constant(rng.normal(0, 0.2, (width, given.shape[-1])).astype(np.float32))
        bias = graph.constant(rng.normal(0, 0.2, width).astype(np.float32))
        return graph.add_real("FULLY_CONNECTED", [given, weights, bias], (1, 16, width), keepNumDims=True)

    query, key, values = (dense(value, 32) for _ in range(3))
    scores = graph.add_real("BATCH_MATMUL", [query, key], (1, 16, 16), table="BatchMatMul", adjY=True)
    shares = graph.add_real("SOFTMAX", [scores], (1, 16, 16), beta=0.05)
    mixed = graph.add_real("BATCH_MATMUL", [shares, values], (1, 16, 32), table="BatchMatMul")
    return graph.bytes(dense(graph.add_real("ADD", [mixed, value]), 8))


def test_products_of_matrices(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(attention())
    np.save(tmp_path / "samples.npy", np.random.default_rng(0).normal(0, 1, (24, 16, 32)).astype(np.float32))
    figures = accuracy(tmp_path, quantised_tflite(job(tmp_path)).data, "")
    assert figures.sqnr_db > 28
    assert len(figures.tensors) == 8


@pytest.mark.parametrize(("rows", "shape"), [((16, 24, 3), {}), ((16 * 24 * 3,), {"height": 16, "width": 24})])
def test_open_height_and_width_are_fixed(rows: tuple[int, ...], shape: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(segmenter())
    samples = np.random.default_rng(0).normal(0, 1, (16, 16, 24, 3)).astype(np.float32)
    np.save(tmp_path / "samples.npy", samples if len(rows) > 1 else samples[:, None])
    made = quantised_tflite(job(tmp_path, Quantise(shape=shape)))
    assert made.lines[0] == "tensor_0 is 1 x 16 x 24 x 3: batch 1, height 16, width 24"
    (port,) = read_float_tflite(tmp_path / "net.tflite", Quantise(shape={"height": 16, "width": 24})).inputs
    assert port.shape == (1, 16, 24, 3)
    # The size of RESIZE_BILINEAR is a constant now; SHAPE and SLICE are gone.
    interpreter = Interpreter(model_content=made.data)
    interpreter.allocate_tensors()
    assert interpreter.get_output_details()[0]["shape"].tolist() == [1, 8, 12, 8]
    kinds = {each["op_name"] for each in interpreter._get_ops_details()}
    assert not kinds & {"SHAPE", "SLICE"}
    assert "RESIZE_BILINEAR" in kinds


def unknown_operator(folder: Path) -> None:
    graph = Graph()
    value = graph.add_real("ADD", [graph.input((1, 4), 0.0, 0)] * 2)
    value = graph.add_real("CUMSUM", [value], table="")
    (folder / "net.tflite").write_bytes(graph.bytes(value))
    np.save(folder / "samples.npy", np.random.default_rng(0).normal(0, 1, (9, 4)).astype(np.float32))


def cut_off(folder: Path) -> None:
    path = folder / "net.tflite"
    path.write_bytes(path.read_bytes()[:400])


@pytest.mark.parametrize(
    ("change", "settings", "id", "what"),
    [
        (quantised_input, Quantise(), "N6-QUANT-001", "is already quantised: 'tensor_0' is int8"),
        (constant_output, Quantise(), "N6-QUANT-015", "is a constant: no input changes it"),
        (open_height, Quantise(), "N6-QUANT-002", "input 'tensor_0' has an open dimension 1 (height)"),
        (unknown_operator, Quantise(), "N6-NET-003", "CUMSUM"),
        (cut_off, Quantise(), "N6-NET-002", "is damaged or cut off"),
        (None, Quantise(shape={"batch": 2}), "N6-QUANT-002", "its operators do not take an input of 2 x 12 x 12 x 3"),
        (None, Quantise(shape={"hight": 2}), "N6-QUANT-002", "no input has the dimension 'hight' of quantise.shape"),
        (None, Quantise(outputs=("clases",)), "N6-QUANT-003", "no operator makes the tensor 'clases'"),
        (None, Quantise(exclude=("CONV",)), "N6-QUANT-003", 'no node has the name or operator "CONV"'),
        (None, Quantise(activations="uint8"), "N6-QUANT-007", "TFLite has no uint8 activations"),
        (None, Quantise(exclude=("CONV_2D", "RESHAPE", "FULLY_CONNECTED")), "N6-QUANT-007", "no operator is left"),
    ],
)
def test_models_and_settings_that_are_refused(
    change: object, settings: Quantise, id: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tflite_classifier().save(tmp_path, 16)
    if callable(change):
        change(tmp_path)
    monkeypatch.setattr(quantise_tflite, "collected_ranges", lambda *_: pytest.fail("a sample was computed"))
    error = refused(tmp_path, settings)
    assert error.id == id
    assert what in error.what


def test_a_quantiser_that_fails_and_one_that_makes_an_invalid_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tflite_classifier().save(tmp_path, 16)

    def fail(*_: object) -> None:
        raise ValueError("no range for tensor x\nmore")

    with monkeypatch.context() as patch:
        patch.setattr(quantise_tflite, "Quantizer", fail)
        error = refused(tmp_path)
    assert (error.id, error.what) == ("N6-QUANT-007", "ai-edge-quantizer cannot quantise it: no range for tensor x")
    with monkeypatch.context() as patch:
        patch.setattr(quantise_tflite, "collected_ranges", fail)
        error = refused(tmp_path)
    assert (error.id, error.what) == ("N6-QUANT-007", "LiteRT cannot calibrate it: no range for tensor x")
    monkeypatch.setattr(quantise_tflite, "_int8_bytes", lambda *_: b"TFL3" * 9)
    monkeypatch.setattr(quantise_tflite, "refuse_operators", lambda *_: None)
    assert refused(tmp_path).id == "N6-QUANT-008"


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tflite_classifier().save(tmp_path, 16)
    model = load_model(str(tmp_path / "net.tflite"))
    made = with_int8_file(model, Choices(samples="samples.npy"))
    assert str(made.file).endswith("quantised/net/net_int8.tflite")
    monkeypatch.setattr(quantise_model, "_NEEDED", {".tflite": (("no_such_package", "ai-edge-quantizer"),)})
    with pytest.raises(N6Error) as caught:
        with_int8_file(model, Choices(samples="samples.npy"))
    assert caught.value.id == "N6-QUANT-011"
    assert caught.value.hint == "run make setup, which installs the extra [quantise-tflite]"


def test_the_float_resnet_of_mlperf_tiny(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(sample("models/pretrainedResnet.tflite").read_bytes())
    pixels = np.random.default_rng(0).integers(0, 256, (20, 8, 8, 3)).astype(np.float32)
    np.save(tmp_path / "samples.npy", pixels.repeat(4, 1).repeat(4, 2))
    made = quantised_tflite(job(tmp_path))
    figures = accuracy(tmp_path, made.data, labels="")
    assert figures.outputs[0].sqnr_db > 15
    assert len(made.data) < 100_000


def test_the_file_is_read_only_once_its_counts_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(20))
    with pytest.raises(N6Error, match="error N6-NET-002: "):
        read_float_tflite(tmp_path / "net.tflite", Quantise())
