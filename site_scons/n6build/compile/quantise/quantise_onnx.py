"""Post-training quantisation of a float ONNX model by ONNX Runtime.

The model is prepared, calibrated on samples, quantised, and checked.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationMethod, QuantType
from onnxruntime.quantization.calibrate import TensorsData
from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry
from onnxruntime.quantization.shape_inference import quant_pre_process

from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of
from n6build.compile.quantise.calibration import ranges_of
from n6build.compile.quantise.float_model import first_line, named_operators, refuse_constant_outputs
from n6build.compile.quantise.opened_model import opened
from n6build.compile.quantise.process import QuantiseJob
from n6build.compile.quantise.samples import Sample, Samples, check_samples, fitted, rows
from n6build.compile.quantise.sessions import open_session
from n6build.compile.reference.compile_model import graph_of
from n6build.compile.reference.graph_checks import check_graph
from n6build.describe.quantise import Quantise

_TYPES = {"int8": QuantType.QInt8, "uint8": QuantType.QUInt8, "int16": QuantType.QInt16}
_IR_OF_CONSTANTS = 4
_SHOWN = 300
# Errors that do not depend on ranges: an unknown operator, one that stays float32, a feature that no kernel has.
_OF_OPERATORS = ("N6-NET-003", "N6-NET-004", "N6-NET-008")


@dataclass(frozen=True)
class Quantised:
    """An int8 model.

    Attributes:
        data: Bytes of the .onnx file.
        lines: Lines about shapes, outputs and samples.
    """

    data: bytes
    lines: tuple[str, ...]


def quantised(job: QuantiseJob) -> Quantised:
    """Quantise a float model.

    Raises:
        N6Error: N6-QUANT-001 to N6-QUANT-008; the errors of the reference compiler for operators that it does not have.
    """
    file, settings = Path(job.model), job.settings
    found = opened(file, [Path(each) for each in job.samples], settings, job.preprocess)
    check_samples(found.samples, found.inputs, settings.most)
    with tempfile.TemporaryDirectory(prefix="n6build-quantise-") as folder:
        work = Path(folder)
        prepared = _prepared(onnx.load_model_from_string(found.model), work, file.name)
        operators = [(node.name, node.op_type) for node in prepared.graph.node]
        excluded = list(named_operators(operators, settings.exclude, file.name))
        if job.compiles:
            refuse_constant_outputs(prepared, file.name)
            _refuse_operators(prepared, settings, excluded, work, file.name)
        used = found.samples.spread(settings.most)
        ranges = _calibrated(work, settings, partial(rows, found.samples, found.inputs, settings.most), file.name)
        data = _int8_bytes(prepared, ranges, settings, excluded, file.name)
        _check_result(data, fitted(found.samples, used[0], found.inputs), file.name)
    return Quantised(data, (*found.lines, text_of_samples(found.samples, settings)))


def text_of_samples(samples: Samples, settings: Quantise) -> str:
    """Return the used samples and the method: `50 of 200 samples, minmax`."""
    used = min(samples.count, settings.most)
    count = f"{used} of {samples.count}" if used < samples.count else f"{used}"
    return f"{count} samples, {settings.method}"


def _prepared(model: onnx.ModelProto, work: Path, where: str) -> onnx.ModelProto:
    """Return the model with constants folded, and with all shapes.

    BatchNormalization is folded into the convolution before it. Every node has a name. The model is
    also written to prepared.onnx.

    Raises:
        N6Error: N6-QUANT-004 if ONNX Runtime refuses the model.
    """
    source, target = work / "fixed.onnx", work / "prepared.onnx"
    # Before it, initializers are inputs, and may be replaced.
    model.ir_version = max(model.ir_version, _IR_OF_CONSTANTS)
    onnx.save(model, source)
    try:
        quant_pre_process(source, target, skip_symbolic_shape=True)
        prepared = onnx.load(target)
    except Exception as error:  # The library raises errors of many kinds.
        what = f"ONNX Runtime refuses the float model: {_reason(source, error)}"
        raise N6Error("N6-QUANT-004", what, where=where, hint="export the model again, with operator set 17") from error
    for number, node in enumerate(prepared.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
    onnx.save(prepared, target)
    return prepared


def _reason(model: Path, error: Exception) -> str:
    """Return why a session cannot be made.

    The quantiser replaces that error by a later one.
    """
    try:
        open_session(content_of(model))
    except Exception as found:
        return first_line(found)
    return first_line(error)


def _calibrated(work: Path, settings: Quantise, samples: Callable[[], Iterator[Sample]], where: str) -> TensorsData:
    """Return the ranges of activations.

    Raises:
        N6Error: N6-QUANT-007 if the calibration fails.
    """
    try:
        return ranges_of(work / "prepared.onnx", _operators(), settings.method, samples, work)
    except N6Error:
        raise
    except Exception as error:
        what = f"ONNX Runtime cannot calibrate it: {first_line(error)}"
        raise N6Error("N6-QUANT-007", what, where=where, hint="check the samples on the float model") from error


def _operators() -> list[str]:
    return sorted({*QLinearOpsRegistry, *QDQRegistry})


def _int8_bytes(
    model: onnx.ModelProto, ranges: TensorsData, settings: Quantise, excluded: list[str], where: str
) -> bytes:
    """Return the quantised model.

    Raises:
        N6Error: N6-QUANT-007 if the quantiser fails.
    """
    whole = onnx.ModelProto.FromString(model.SerializeToString())
    kind, smaller = _TYPES[settings.activations], False
    arguments: tuple[Any, ...] = (
        whole,
        settings.per_channel,
        smaller,
        QuantType.QInt8,
        kind,
        ranges,
        [],
        excluded,
        _operators(),
        {},
    )
    try:
        quantizer = QDQQuantizer(*arguments)
        quantizer.quantize_model()
        quantizer.model.topological_sort()
        made: onnx.ModelProto = quantizer.model.model
    except Exception as error:
        what = f"ONNX Runtime cannot quantise it: {first_line(error)}"
        raise N6Error(
            "N6-QUANT-007", what, where=where, hint="exclude the node: quantise: {exclude: [name]}"
        ) from error
    if not any(node.op_type == "QuantizeLinear" for node in made.graph.node):
        kinds = ", ".join(sorted({node.op_type for node in model.graph.node}))
        what = f"none of its operators can be quantised: {kinds[:_SHOWN]}"
        raise N6Error("N6-QUANT-007", what, where=where, hint="check quantise.exclude and quantise.outputs")
    data: bytes = made.SerializeToString(deterministic=True)
    return data


def _refuse_operators(model: onnx.ModelProto, settings: Quantise, excluded: list[str], work: Path, where: str) -> None:
    """Reject a model whose operators the compiler lacks, before any calibration.

    Raises:
        N6Error: The error of the reference compiler, which names the nodes.
    """
    names = {name for node in model.graph.node for name in (*node.input, *node.output)}
    one = np.float32(1)
    ranges = TensorsData(CalibrationMethod.MinMax, dict.fromkeys(names, (-one, one)))
    trial = work / "trial.onnx"
    # One scale for all channels is faster, and has the same nodes.
    trial.write_bytes(_int8_bytes(model, ranges, replace(settings, per_channel=False), excluded, where))
    refuse_operators(trial, where)


def refuse_operators(trial: Path, where: str) -> None:
    """Reject a quantised model whose operators the compiler lacks.

    Args:
        trial: The quantised model, with any ranges.
        where: Name of the float model.

    Raises:
        N6Error: The error of the reference compiler, which names the nodes.
    """
    try:
        check_graph(graph_of(trial), where)
    except N6Error as error:
        if error.id in _OF_OPERATORS:
            raise N6Error(error.id, f"once quantised, {error.what}", where=where, hint=error.hint) from error


def _check_result(data: bytes, sample: Sample, where: str) -> None:
    """Check that the int8 model is a valid graph which computes finite values.

    Raises:
        N6Error: N6-QUANT-008 if it is not.
    """
    checks: tuple[Callable[[], Any], ...] = (
        lambda: onnx.checker.check_model(onnx.load_model_from_string(data), full_check=True),
        lambda: open_session(data).run(None, sample),
    )
    for check in checks:
        try:
            check()
        except Exception as error:
            what = f"ONNX Runtime's quantiser made an invalid model: {first_line(error)}"
            raise N6Error("N6-QUANT-008", what, where=where, hint="exclude the node that it names") from error
