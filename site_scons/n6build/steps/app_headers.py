"""Steps for the headers of an application, such as app_config.h and n6_decoder.h.

Only models whose model.yaml describes an application, or a decoder, have these headers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.compile.application.activation_buffers import buffers_header
from n6build.compile.application.app_config import TEMPLATE, app_config
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.describe.application import Application
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.postprocess.header import TEMPLATE as DECODER
from n6build.judge.postprocess.header import decoder_header
from n6build.judge.postprocess.layout import ID as LAYOUT
from n6build.judge.postprocess.layout import layout_of
from n6build.judge.postprocess.picture_header import TEMPLATE as PICTURE
from n6build.judge.postprocess.picture_header import picture_header
from n6build.steps.compiled_network import NetworkSteps


@dataclass(frozen=True)
class AppHeadersParameters:
    """Parameters of the step.

    Attributes:
        application: Application that model.yaml describes.
        classes: Labels of the outputs.
        name: Name of the compiled network.
        folder: Folder of the compiled network.
        weights: Names of the network's raw weight files.
    """

    application: Application
    classes: tuple[str, ...]
    name: str
    folder: str
    weights: tuple[str, ...]


@dataclass(frozen=True)
class DecoderHeaderParameters:
    """Parameters of the step for n6_decoder.h and n6_picture.h.

    Attributes:
        model: Name of the model.
        postprocess: Decoder that model.yaml describes.
        preprocess: Pre-processing that model.yaml describes.
        classes: Labels of the outputs.
        name: Name of the compiled network.
        folder: Folder of the compiled network.
        weights: Names of the network's raw weight files.
    """

    model: str
    postprocess: Postprocess
    preprocess: Preprocess
    classes: tuple[str, ...]
    name: str
    folder: str
    weights: tuple[str, ...]


def app_headers_steps(folder: str, network: NetworkSteps) -> tuple[Step, ...]:
    """Return the steps for the headers that model.yaml describes.

    Args:
        folder: Folder for the headers.
        network: Compiled network of the model.
    """
    model = network.model
    steps = []
    if model.application is not None:
        steps.append(_application_step(folder, network, model.application))
    if model.postprocess is not None and LAYOUT not in model.waived:
        parameters = DecoderHeaderParameters(
            model.name,
            model.postprocess,
            model.preprocess,
            model.classes,
            network.name,
            network.folder,
            network.weights,
        )
        steps.append(
            Step(
                verb="Header",
                stage="header",
                outputs=(f"{folder}/n6_decoder.h", f"{folder}/n6_picture.h"),
                sources=network.described,
                parameters=to_parameters(parameters),
                templates=(project_path(DECODER), project_path(PICTURE)),
                function="n6build.steps.app_headers:make_decoder_header",
            )
        )
    return tuple(steps)


def _application_step(folder: str, network: NetworkSteps, application: Application) -> Step:
    model = network.model
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/app_config.h", f"{folder}/app_buffers.h"),
        sources=network.described,
        parameters=to_parameters(
            AppHeadersParameters(application, model.classes, network.name, network.folder, network.weights)
        ),
        templates=tuple(map(project_path, with_included(TEMPLATE))),
        function="n6build.steps.app_headers:make_app_headers",
    )


def make_app_headers(call: Call) -> None:
    """Write app_config.h and app_buffers.h."""
    given = call.parameters_as(AppHeadersParameters)
    artifacts = read_artifacts(Path(given.folder), given.name, given.weights)
    config, buffers = call.outputs
    write_atomically(config, app_config(given.application, given.classes, artifacts))
    write_atomically(buffers, buffers_header(artifacts.pools, artifacts.inputs))


def make_decoder_header(call: Call) -> None:
    """Write n6_decoder.h and n6_picture.h.

    Raises:
        N6Error: N6-CHECK-042 if the outputs do not fit the decoder.
    """
    given = call.parameters_as(DecoderHeaderParameters)
    artifacts = read_artifacts(Path(given.folder), given.name, given.weights)
    layout = layout_of(given.postprocess, artifacts.inputs, artifacts.outputs, given.classes)
    decoder, picture = call.outputs
    write_atomically(decoder, decoder_header(layout, given.model))
    write_atomically(picture, picture_header(artifacts.inputs, given.preprocess, given.model))
