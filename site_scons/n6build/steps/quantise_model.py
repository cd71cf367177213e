"""Stage 0: steps that make an int8 model of a float one, and measure it.

The int8 file is the model of every later step.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import kib, say
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, file_size, sha256, write_atomically
from n6build.base.paths import project_path
from n6build.base.processor import processor_class
from n6build.describe.choices import Choices
from n6build.describe.model import Model
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Quantise
from n6build.describe.sample_files import sample_files
from n6build.describe.tensorflow_models import refuse_tensorflow
from n6build.engine.step import Call, Step, Tool, to_parameters
from n6build.steps.int8_accuracy import accuracy_step

# Modules and packages that quantise, and the extra that has them, by the suffix of the float model.
_NEEDED = {
    ".onnx": (("onnxruntime", "onnxruntime"),),
    ".tflite": (("onnxruntime", "onnxruntime"), ("ai_edge_quantizer", "ai-edge-quantizer")),
}
_EXTRAS = {".onnx": "quantise", ".tflite": "quantise-tflite"}


@dataclass(frozen=True)
class QuantiseParameters:
    """Parameters of the step; the sources are the float model and its samples.

    Attributes:
        settings: Settings of stage 0.
        compiles: The reference compiler takes the int8 model, and can refuse operators before any calibration.
        preprocess: Pre-processing of pictures, sounds and tables.
    """

    settings: Quantise
    compiles: bool
    preprocess: Preprocess


def with_int8_file(model: Model, choices: Choices) -> Model:
    """Return the model with the int8 file that stage 0 makes.

    A model without stage 0 stays as it is.

    Args:
        model: Model with its float file.
        choices: Choices of the command line.

    Raises:
        N6Error: N6-QUANT-001 for a model that stage 0 cannot take; N6-MODEL-002 for one of TensorFlow; N6-QUANT-010
            without samples; N6-QUANT-011 without the packages that quantise.
    """
    if not choices.samples and model.quantise is None:
        if choices.dataset:
            hint = "add samples=FOLDER, or quantise: {samples: samples.npy} in model.yaml"
            raise N6Error("N6-QUANT-010", "option dataset is for a model that is quantised here", hint=hint)
        return model
    if choices.samples and len(choices.models) > 1:
        what = "option samples is for a single model"
        raise N6Error("N6-QUANT-010", what, hint="write quantise: {samples: ...} into the model.yaml of each")
    settings, samples = model.quantise or Quantise(), Path(choices.samples) if choices.samples else model.samples
    settings = replace(settings, most=choices.most or settings.most)
    if model.file is None or model.prebuilt is not None:
        what = "is compiled already: there is no float model to quantise"
        raise N6Error(
            "N6-QUANT-001", what, where=model.name, hint="omit samples= and quantise:, or give the float .onnx file"
        )
    suffix = model.file.suffix
    refuse_tensorflow(model.file, model.file.name)
    if suffix not in _NEEDED:
        what = f"stage 0 quantises .onnx and .tflite models, not {suffix}"
        hint = "docs/quantise.md shows how to convert other formats"
        raise N6Error("N6-QUANT-001", what, where=model.file.name, hint=hint)
    if samples is None:
        what = "there are no samples to calibrate with"
        hint = "add samples=FOLDER, or quantise: {samples: samples.npy} in model.yaml"
        raise N6Error("N6-QUANT-010", what, where=model.name, hint=hint)
    missing = next((package for name, package in _NEEDED[suffix] if importlib.util.find_spec(name) is None), None)
    if missing is not None:
        what = f"package {missing}, which quantises {suffix} models, is not installed"
        hint = f"run make setup, which installs the extra [{_EXTRAS[suffix]}]"
        raise N6Error("N6-QUANT-011", what, where=model.name, hint=hint)
    made = Path(f"{choices.build}/quantised/{model.name}/{model.file.stem}_int8{suffix}")
    return replace(
        model,
        file=made,
        reference=made if model.reference == model.file else model.reference,
        quantise=settings,
        float_file=model.file,
        samples=samples,
        dataset=Path(choices.dataset) if choices.dataset else model.dataset,
    )


def quantise_steps(model: Model, *, compiles: bool) -> tuple[Step, ...]:
    """Return the steps of stage 0, or none for a model that is not quantised here.

    Args:
        model: Model of `with_int8_file`.
        compiles: Whether a backend of n6build compiles the int8 model.

    Raises:
        N6Error: N6-QUANT-005 if there are no samples in the file or folder.
    """
    if model.quantise is None or model.float_file is None or model.samples is None or model.file is None:
        return ()
    samples = sample_files(model.samples)
    int8 = project_path(model.file)
    tool = processor_tool()
    step = Step(
        verb="Quantise",
        stage="network",
        outputs=(int8,),
        sources=(project_path(model.float_file), *map(project_path, samples)),
        parameters=to_parameters(QuantiseParameters(model.quantise, compiles, model.preprocess)),
        function="n6build.steps.quantise_model:make_int8_model",
        tools=(tool,),
    )
    return step, accuracy_step(model, model.quantise, samples, tool)


def processor_tool() -> Tool:
    """Return the class of the processor as a tool.

    It is in the signature of steps that compute in float.
    Float kernels differ between classes, and with them the last bits of a range.
    """
    return Tool("processor", sha256(processor_class().encode()))


def make_int8_model(call: Call) -> None:
    """Quantise the model.

    Raises:
        N6Error: N6-QUANT-001 to N6-QUANT-009, N6-MODEL-006; errors of the reference compiler for unknown operators.
    """
    from n6build.compile.quantise import worker  # noqa: PLC0415 - planning quantises nothing.
    from n6build.compile.quantise.process import QuantiseAnswer, QuantiseJob, answer_of  # noqa: PLC0415

    given = call.parameters_as(QuantiseParameters)
    model, *samples = call.sources
    for path in call.sources:
        digest_of(path)
    wanted = given.settings.sha256
    if wanted and digest_of(model) != wanted:
        what = f"is not the file that model.yaml describes (sha256 {wanted[:12]}...)"
        hint = f"write quantise.sha256: {digest_of(model)} if you trained the model again"
        raise N6Error("N6-MODEL-006", what, where=model.name, hint=hint)
    job = QuantiseJob(str(model), tuple(map(str, samples)), given.settings, given.compiles, given.preprocess)
    answer, data = answer_of(worker.__name__, job, QuantiseAnswer, model.name)
    write_atomically(call.outputs[0], data)
    *shapes, used = answer.lines
    for line in shapes:
        say("Shape", line)
    channels = "a scale for each channel" if given.settings.per_channel else "one scale for all channels"
    sizes = f"{kib(file_size(model))} to {kib(len(data))}"
    say("Quantised", model.name, f"{given.settings.activations}, {used}, {channels}, {sizes}")
