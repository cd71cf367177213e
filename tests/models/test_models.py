"""Every model of the project is the file that its model.yaml describes.

Its outputs are those of its vectors.
"""

import re
from pathlib import Path

import numpy as np
import pytest
import reference_interpreter
from n6build.compile.backend import check_sha256
from n6build.describe.model import Model, load_model, model_names
from numpy.typing import NDArray

from models.int8_model import Int8Model
from models.make_vectors import choose
from models.quality import TASKS, quality

OPERATORS = {
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "FULLY_CONNECTED",
    "SOFTMAX",
    "RESHAPE",
    "ADD",
    "PAD",
    "MAX_POOL_2D",
    "AVERAGE_POOL_2D",
    "QUANTIZE",
    "DEQUANTIZE",
}


@pytest.fixture(params=model_names())
def model(request: pytest.FixtureRequest) -> Model:
    return load_model(request.param)


def file_of(model: Model) -> Path:
    assert model.file is not None
    return model.file


def vectors(model: Model) -> tuple[NDArray[np.int8], NDArray[np.generic]]:
    assert model.inputs and model.expected
    return np.load(model.inputs), np.load(model.expected)


def of_kind(result: str) -> list[Model]:
    return [model for model in map(load_model, model_names()) if model.result == result]


def test_the_three_models_are_there_and_each_has_its_task() -> None:
    assert set(model_names()) == {"miniresnet", "keyword", "anomaly"} == set(TASKS)


def test_the_file_is_the_one_that_model_yaml_describes(model: Model) -> None:
    assert model.sha256 is not None
    check_sha256(file_of(model), model.sha256)


def test_the_file_holds_no_path_and_no_date(model: Model) -> None:
    content = file_of(model).read_bytes()
    assert not re.search(rb"/(home|root|tmp|usr|var|opt|Users)/|20\d\d-[01]\d-[0-3]\d", content)


def test_the_shapes_are_fixed_and_the_types_are_those_of_model_yaml(model: Model) -> None:
    interpreter = reference_interpreter.load(file_of(model).read_bytes())
    (given,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    assert np.dtype(given["dtype"]) == model.network.input_type == "int8"
    assert np.dtype(result["dtype"]) == model.network.output_type
    for detail in interpreter.get_tensor_details():
        assert -1 not in detail["shape_signature"], detail["name"]
    assert given["shape"][0] == result["shape"][0] == 1


def test_every_operator_is_an_int8_operator_of_the_reference_backend(model: Model) -> None:
    interpreter = reference_interpreter.load(file_of(model).read_bytes())
    types = {detail["index"]: detail["dtype"] for detail in interpreter.get_tensor_details()}
    for operator in interpreter._get_ops_details():
        assert operator["op_name"] in OPERATORS
        results = np.int8 if operator["op_name"] != "DEQUANTIZE" else np.float32
        assert types[operator["inputs"][0]] is np.int8
        assert types[operator["outputs"][0]] is results


def test_convolutions_have_a_scale_for_each_channel(model: Model) -> None:
    interpreter = reference_interpreter.load(file_of(model).read_bytes())
    details = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
    for operator in interpreter._get_ops_details():
        if operator["op_name"] in ("CONV_2D", "DEPTHWISE_CONV_2D"):
            channels = details[operator["outputs"][0]]["shape"][3]
            assert details[operator["inputs"][1]]["quantization_parameters"]["scales"].size == channels


def test_the_vectors_fit_the_model(model: Model) -> None:
    interpreter = reference_interpreter.load(file_of(model).read_bytes())
    (given,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    inputs, expected = vectors(model)
    assert inputs.dtype == given["dtype"]
    assert inputs.shape == (10, *given["shape"][1:])
    assert expected.dtype == result["dtype"]
    assert expected.shape == (10, *result["shape"][1:])
    assert len(model.labels) == 10


def test_the_reference_interpreter_gives_the_expected_outputs_exactly(model: Model) -> None:
    for inputs, expected in zip(*vectors(model), strict=True):
        (outputs,) = reference_interpreter.outputs(file_of(model).read_bytes(), inputs)
        np.testing.assert_array_equal(outputs[0], expected)


def test_the_vectors_are_clips_of_the_task(model: Model) -> None:
    chosen, labels = choose(Int8Model(file_of(model)), TASKS[model.name])
    inputs, _ = vectors(model)
    assert tuple(labels) == model.labels
    # On another processor, the logarithm may be on the other side of a rounding.
    assert np.abs(chosen.astype(int) - inputs).max() <= 1


@pytest.mark.parametrize("model", of_kind("classification"), ids=lambda model: model.name)
def test_a_classifier_puts_each_vector_into_the_class_of_its_label(model: Model) -> None:
    _, expected = vectors(model)
    assert model.classes == tuple(TASKS[model.name].CLASSES)
    assert len(model.classes) == expected.shape[1]
    assert tuple(model.classes[index] for index in expected.argmax(axis=1)) == model.labels
    assert len(set(model.labels)) == 10


@pytest.mark.parametrize("model", of_kind("reconstruction"), ids=lambda model: model.name)
def test_an_autoencoder_rebuilds_normal_vectors_better_than_anomalous_ones(model: Model) -> None:
    inputs, expected = vectors(model)
    errors = Int8Model(file_of(model)).reconstruction_error(inputs, expected)
    anomalous = np.array([label == "anomalous" for label in model.labels])
    assert set(model.labels) == {"normal", "anomalous"}
    assert np.median(errors[anomalous]) > errors[~anomalous].max()


# Every run covers this by test_an_autoencoder_rebuilds_normal_vectors_better_than_anomalous_ones; the models are files
# whose digests are in model.yaml (test_model_descriptions.py).
@pytest.mark.slow
def test_the_quality_is_what_model_yaml_says(model: Model) -> None:
    assert model.quality is not None
    # These are a tenth of the clips for the number in model.yaml; the tolerance is four standard deviations of a share
    # near 0.96.
    assert quality(file_of(model), TASKS[model.name], count=200) == pytest.approx(model.quality.value, abs=0.055)
