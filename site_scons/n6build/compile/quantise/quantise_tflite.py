"""Post-training quantisation of a float .tflite model by ai-edge-quantizer.

Ranges of activations are those that the methods of ONNX Runtime find, so that a method means the same
for both formats, and the samples need no memory.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_quantizer import qtyping
from ai_edge_quantizer.algorithm_manager import AlgorithmName
from ai_edge_quantizer.quantizer import Quantizer
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.compile.quantise.calibration import collected_ranges
from n6build.compile.quantise.float_model import first_line, named_operators
from n6build.compile.quantise.opened_model import samples_of
from n6build.compile.quantise.process import QuantiseJob
from n6build.compile.quantise.quantise_onnx import Quantised, refuse_operators, text_of_samples
from n6build.compile.quantise.samples import Sample, check_samples, fitted, rows
from n6build.compile.quantise.sessions import TfliteSession
from n6build.compile.quantise.tflite_model import FloatTflite, read_float_tflite, with_codes_of_each_reader
from n6build.compile.reference.refusals import error_of_all
from n6build.compile.reference.tflite_reader import read_graph
from n6build.describe.quantise import Quantise

_BITS = {"int8": 8, "int16": 16}
Ranges = Mapping[str, tuple[float, float]]


def quantised_tflite(job: QuantiseJob) -> Quantised:
    """Quantise a float .tflite model.

    Raises:
        N6Error: N6-QUANT-001 to N6-QUANT-008; the errors of the reference compiler for a damaged file, and for
            operators that it does not have.
    """
    file, settings = Path(job.model), job.settings
    if settings.activations not in _BITS:
        what = f"TFLite has no {settings.activations} activations with int8 weights"
        raise N6Error("N6-QUANT-007", what, where=file.name, hint="set quantise.activations: int8")
    files = [Path(each) for each in job.samples]
    model = read_float_tflite(file, settings, files)
    found = samples_of(files, model.inputs, job.preprocess)
    check_samples(found, model.inputs, settings.most)
    excluded = named_operators(model.operators, settings.exclude, file.name)
    if job.compiles:
        _refuse_operators(model, settings, excluded, file.name)
    samples = partial(rows, found, model.inputs, settings.most)
    session = TfliteSession(model.data, all_tensors=True)

    def activations() -> Iterator[tuple[str, NDArray[np.floating[Any]]]]:
        for sample in samples():
            session.run(sample)
            for name, values in session.tensors(model.activations):
                yield name, np.asarray(values, np.float32).ravel()

    try:
        ranges = collected_ranges(activations, settings.method)
    except N6Error:
        raise
    except Exception as error:  # The library raises errors of many kinds.
        what = f"LiteRT cannot calibrate it: {first_line(error)}"
        raise N6Error("N6-QUANT-007", what, where=file.name, hint="check the samples on the float model") from error
    data = _int8_bytes(model, ranges, settings, excluded, file.name)
    _check_result(data, fitted(found, 0, model.inputs), file.name)
    return Quantised(data, (*model.lines, text_of_samples(found, settings)))


def _refuse_operators(model: FloatTflite, settings: Quantise, excluded: tuple[str, ...], where: str) -> None:
    """Reject a model with operators that the compiler lacks, before any calibration.

    Raises:
        N6Error: The error of the reference compiler, which names the operators.
    """
    with tempfile.TemporaryDirectory(prefix="n6build-quantise-") as folder:
        trial = Path(folder) / "trial.tflite"
        trial.write_bytes(model.data)
        # The quantiser does not know every operator. Other refusals depend on the type.
        unknown = [each for each in read_graph(trial).refused if each.id == "N6-NET-003"]
        if unknown:
            raise error_of_all(unknown, f"{len(model.operators)} operators", where)
        ranges = dict.fromkeys(model.activations, (-1.0, 1.0))
        trial.write_bytes(_int8_bytes(model, ranges, settings, excluded, where))
        refuse_operators(trial, where)


def _int8_bytes(model: FloatTflite, ranges: Ranges, settings: Quantise, excluded: tuple[str, ...], where: str) -> bytes:
    """Return the quantised model.

    Raises:
        N6Error: N6-QUANT-007 if the quantiser fails, or quantises nothing.
    """
    granularity = qtyping.QuantGranularity.CHANNELWISE if settings.per_channel else qtyping.QuantGranularity.TENSORWISE
    every = qtyping.TFLOperationName.ALL_SUPPORTED
    try:
        quantizer = Quantizer(model.data)
        quantizer.add_static_config(".*", every, _BITS[settings.activations], 8, granularity)
        for name in excluded:
            # The library searches for it in the names of the operator's outputs, each with a semicolon.
            quantizer.update_quantization_recipe(f"^{re.escape(name)};", every, algorithm_key=AlgorithmName.NO_QUANTIZE)
        found = {name: {"min": np.float32(low), "max": np.float32(high)} for name, (low, high) in ranges.items()}
        data = with_codes_of_each_reader(bytes(quantizer.quantize(found, enable_progress_report=False).quantized_model))
    except Exception as error:
        what = f"ai-edge-quantizer cannot quantise it: {first_line(error)}"
        hint = "exclude the operator: quantise: {exclude: [name]}"
        raise N6Error("N6-QUANT-007", what, where=where, hint=hint) from error
    if len(excluded) == len(model.operators):
        raise N6Error("N6-QUANT-007", "no operator is left to quantise", where=where, hint="check quantise.exclude")
    return data


def _check_result(data: bytes, sample: Sample, where: str) -> None:
    """Check that LiteRT runs the int8 model.

    Raises:
        N6Error: N6-QUANT-008 if it does not.
    """
    try:
        TfliteSession(data).run(sample)
    except Exception as error:
        what = f"ai-edge-quantizer made an invalid model: {first_line(error)}"
        hint = "exclude the operator that it names"
        raise N6Error("N6-QUANT-008", what, where=where, hint=hint) from error
