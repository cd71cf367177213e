"""ONNX models that cannot be compiled: one located error, never a traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import qdq_models
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.compile.reference.onnx.constants import folded
from onnx import TensorProto, helper
from onnx_models import onnx_model
from qdq_models import Qdq, Scale

from network.onnx_equality import onnx_graph

A = Scale(0.031, -3)
CLASSIFIER = qdq_models.classifier()
MIXTURE = qdq_models.mixture()


def edited(change: Callable[[Any], object], model: bytes = CLASSIFIER) -> bytes:
    """Return the model after `change` of its protobuf."""
    proto = onnx.load_model_from_string(model)
    change(proto)
    return bytes(proto.SerializeToString())


def _external(proto: Any) -> None:
    tensor = proto.graph.initializer[3]
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../weights.bin")


def _control_flow(proto: Any) -> None:
    branch = helper.make_graph([helper.make_node("Identity", ["c"], ["d"])], "b", [], [])
    proto.graph.node.append(helper.make_node("If", ["c"], ["d"], then_branch=branch, else_branch=branch))


def _dynamic(proto: Any) -> None:
    proto.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"


def _new_operators(proto: Any) -> None:
    for place, node in enumerate(proto.graph.node[1:], 1):
        node.op_type = f"New{place}"


def _dilated() -> bytes:
    """Return a dilated transposed convolution, which nothing supports."""
    model = Qdq()
    inputs = [model.input((1, 3, 5, 5), A), _weights(model)]
    return model.model([model.operator("ConvTranspose", inputs, A, dilations=[2, 2])])


def _qgemm_with_zero_point() -> bytes:
    model = Qdq()
    scale = [model.constant(np.float32(0.1)), model.constant(np.int8(0))]
    given = model.node("QuantizeLinear", [model.port((1, 3)), *scale])
    weights = [model.constant(np.ones((3, 2), np.int8)), scale[0], model.constant(np.int8(5))]
    made = model.node("QLinearMatMul", [*given, *scale, *weights, *scale])
    return model.model(model.node("DequantizeLinear", [*made, *scale]))


def _unquantised_output() -> bytes:
    model = Qdq()
    name = model.input((1, 3, 5, 5), A)
    return model.model([name, model.constant(np.zeros(3, np.float64))], [TensorProto.FLOAT, TensorProto.DOUBLE])


def _weights(model: Qdq) -> str:
    return model.weights(np.ones((3, 2, 1, 1), np.int8), 0.01)


def _unquantised_input() -> bytes:
    model = Qdq()
    scale = [model.constant(np.float32(0.1)), model.constant(np.int8(0))]
    made = model.node("QLinearSigmoid", [model.port((1, 3)), *scale, *scale], domain="com.microsoft")
    return model.model(model.node("DequantizeLinear", [*made, *scale]))


def _int16() -> bytes:
    model = Qdq(21)
    return model.model([model.input((1, 3), Scale(0.1, 0, "int16"))])


def _operator(kind: str, shape: tuple[int, ...] = (1, 3, 5, 5), **attributes: Any) -> bytes:
    model = Qdq()
    return model.model([model.operator(kind, [model.input(shape, A)], A, **attributes)])


def _resized(sizes: list[int], **attributes: Any) -> bytes:
    model = Qdq()
    nothing = model.constant(np.zeros(0, np.float32))
    inputs = [model.input((1, 3, 5, 5), A), nothing, nothing, model.constant(np.array(sizes, np.int64))]
    return model.model([model.operator("Resize", inputs, A, mode="nearest", **attributes)])


def _set(name: str, value: int) -> Callable[[Any], None]:
    def change(proto: Any) -> None:
        node = next(node for node in proto.graph.node if node.op_type == "Conv")
        kept = [each for each in node.attribute if each.name != name]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute(name, value)])

    return change


def _selected(
    most: int = 3,
    overlap: float = 0.5,
    score: float = 0.1,
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((1, 9, 4), (1, 2, 9)),
    form: int = 0,
) -> tuple[Qdq, str]:
    """Return a model with a NonMaxSuppression, and its output."""
    model = Qdq()
    names = [model.input(shape, A) for shape in shapes]
    names += [model.constant(np.array([each], dtype)) for each, dtype in ((most, np.int64), (overlap, np.float32))]
    names.append(model.constant(np.array([score], np.float32)))
    return model, model.node("NonMaxSuppression", names, center_point_box=form)[0]


def _selection(**options: Any) -> bytes:
    model, name = _selected(**options)
    return model.model([name], [TensorProto.INT64])


def _behind_a_selection() -> bytes:
    """Return a model that looks up the classes of selected boxes."""
    model, name = _selected()
    classes = model.node("Gather", [name, model.constant(np.array([1], np.int64))], axis=1)
    return model.model([name, *classes], [TensorProto.INT64] * 2)


REFUSED = {
    "a node behind selected boxes": (
        _behind_a_selection(),
        "N6-NET-005",
        "(Gather) 'gather_16': reads 'nonmaxsuppression_14', of which the input decides the number of rows",
    ),
    "a selection of no box": (_selection(most=0), "N6-NET-007", "selects 0 boxes of a class"),
    "a selection by an overlap above 1": (_selection(overlap=1.5), "N6-NET-007", "iou_threshold 1.5 is outside 0 to 1"),
    "a selection by no number": (_selection(score=np.nan), "N6-NET-007", "input 4 is not a finite number"),
    "a selection of other boxes": (
        _selection(shapes=((1, 9, 4), (1, 2, 8))),
        "N6-NET-007",
        "boxes [1, 9, 4] and scores [1, 2, 8] do not fit together",
    ),
    "a selection in another form": (_selection(form=2), "N6-NET-008", "center_point_box is 2"),
    "no ONNX": (b"TFL3 is none", "N6-NET-001", "is not an ONNX model"),
    "empty": (b"", "N6-NET-001", "has no ONNX graph"),
    "float32": (
        onnx_model(quantised=False),
        "N6-NET-004",
        "none of its 1 nodes is quantised; this backend computes int8",
    ),
    "a new operator set": (
        edited(lambda proto: setattr(proto.opset_import[0], "version", 99)),
        "N6-NET-008",
        "has the operator set 99",
    ),
    "weights in another file": (edited(_external), "N6-NET-008", "keeps its weights in another file"),
    "control flow": (edited(_control_flow), "N6-NET-008", "has control flow: If"),
    "a dynamic shape": (edited(_dynamic), "N6-NET-005", "is not fixed: [1, 3, 'height', 14]"),
    "an old operator set": (
        edited(lambda proto: setattr(proto.opset_import[0], "version", 9)),
        "N6-NET-008",
        "has the operator set 9",
    ),
    "an unknown domain": (
        edited(lambda proto: setattr(proto.graph.node[8], "domain", "com.acme")),
        "N6-NET-003",
        "com.acme.",
    ),
    "unknown operators": (
        edited(_new_operators),
        "N6-NET-003",
        "26 of its 27 nodes are unsupported:\n    node 1 (New1), the producer of",
    ),
    "a dilated transposed convolution": (_dilated(), "N6-NET-008", "is dilated"),
    "asymmetric weights": (_qgemm_with_zero_point(), "N6-NET-006", "zero point other than 0"),
    "an output that is not quantised": (
        _unquantised_output(),
        "N6-NET-004",
        "is not quantised, or a constant of another type",
    ),
    "an input that is not quantised": (_unquantised_input(), "N6-NET-004", "is not an int8 tensor"),
    "16 bits": (_int16(), "N6-NET-004", "quantises to int16"),
    "groups that do not fit": (edited(_set("group", 5)), "N6-NET-007", "do not fit its input"),
    "a pooling over three dimensions": (
        _operator("AveragePool", (1, 3, 4, 4, 4), kernel_shape=[2, 2, 2]),
        "N6-NET-007",
        "has the shape [1, 3, 4, 4, 4]",
    ),
    "a resize to something else than a multiple": (
        _resized([1, 3, 5, 8]),
        "N6-NET-008",
        "resizes [1, 3, 5, 5] to [1, 3, 5, 8] by 'nearest'",
    ),
    "a resize that repeats elements unequally": (
        _resized([1, 3, 10, 10], nearest_mode="floor"),
        "N6-NET-008",
        "['', 'floor']",
    ),
    "a quantiser without a constant scale": (
        edited(lambda proto: proto.graph.node[0].input.__setitem__(1, proto.graph.input[0].name)),
        "N6-NET-007",
        "has to be a constant",
    ),
    "a node that reads what nothing makes": (
        edited(lambda proto: proto.graph.node[2].input.__setitem__(0, "nowhere")),
        "N6-NET-002",
        "which no node produces",
    ),
    "a constant that is cut off": (
        edited(lambda proto: setattr(proto.graph.initializer[2], "raw_data", b"\0")),
        "N6-NET-002",
        "does not match its declaration",
    ),
}


@pytest.mark.parametrize(("model", "number", "what"), REFUSED.values(), ids=REFUSED)
def test_is_refused(tmp_path: Path, model: bytes, number: str, what: str) -> None:
    with pytest.raises(N6Error) as caught:
        onnx_graph(model, tmp_path)
    assert caught.value.id.startswith(number)
    assert what in str(caught.value)
    assert "model.onnx" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("kind", "names"), [("Expand", ["", "a"]), ("Tile", ["", "a"]), ("Range", ["a", "a"]), ("Range", ["a", "a", "b"])]
)
def test_a_damaged_node_of_constants_is_not_computed(kind: str, names: list[str]) -> None:
    given = {"a": np.array([2], np.int64), "b": np.zeros(0, np.int64)}
    assert folded(helper.make_node(kind, names, ["c"]), given, 13) is None


def test_all_that_is_refused_is_said_at_once(tmp_path: Path) -> None:
    """The error also has the nodes behind a refused node.

    It leaves out nodes that only read the missing output.
    """
    model = Qdq()
    name = model.input((1, 4, 6, 6), A)
    name = model.operator("LpNormalization", [name], A)
    name = model.qdq(model.node("Sigmoid", model.node("Det", [name]))[0], A)
    name = model.input((1, 4, 6, 6), A)
    made = model.node("LpNormalization", [name])
    name = model.qdq(model.node("Relu", made)[0], A)
    name = model.operator("AveragePool", [name], A, kernel_shape=[2, 2], ceil_mode=1, count_include_pad=1)
    with pytest.raises(N6Error) as caught:
        onnx_graph(model.model([name]), tmp_path)
    refused = [line for line in caught.value.what.splitlines() if line.startswith("    ")]
    assert [line.split()[2] for line in refused] == [
        "(LpNormalization),",
        "(Det),",
        "(LpNormalization),",
        "(AveragePool)",
    ]
    assert caught.value.id == "N6-NET-003"
    assert caught.value.hint
    assert "AveragePool: export it without dilation, and without ceil_mode" in caught.value.hint


def test_a_float_model_gets_the_option_that_quantises_it(tmp_path: Path) -> None:
    with pytest.raises(N6Error) as caught:
        onnx_graph(onnx_model(quantised=False), tmp_path)
    assert caught.value.hint
    assert "samples=samples.npy" in caught.value.hint
    assert "quantise: {samples: samples.npy}" in caught.value.hint


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_damage_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from([CLASSIFIER, MIXTURE])))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(damaged)), st.integers(0, len(damaged))))
    folder = tmp_path_factory.mktemp("damaged")
    try:
        onnx_graph(bytes(damaged[:cut]), folder)
    except N6Error as error:
        assert error.id.startswith("N6-NET-0")
