"""Steps for the headers of an application, such as app_config.h and n6_decoder.h.

Only models whose model.yaml describes an application, or a decoder, have these headers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.same_fields import with_fields_of
from n6build.base.templates import with_included
from n6build.compile.application.activation_buffers import buffers_header
from n6build.compile.application.app_config import TEMPLATE, InProject, app_config
from n6build.compile.application.vision_project import OWN_CONFIG
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.application import Application, PostProcessing
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.postprocess.header import TEMPLATE as DECODER
from n6build.judge.postprocess.header import decoder_header
from n6build.judge.postprocess.layout import ID as LAYOUT
from n6build.judge.postprocess.layout import layout_of
from n6build.judge.postprocess.picture_header import TEMPLATE as PICTURE
from n6build.judge.postprocess.picture_header import picture_header
from n6build.judge.postprocess.st_macros import st_decoder
from n6build.steps.compiled_network import NetworkFiles, NetworkSteps


@dataclass(frozen=True)
class Asked:
    """Post-processing of an application of ST, whose macros follow from the network.

    Attributes:
        name: Its name, with or without the types of input and output.
        project: Name of the third-party project that it is for; empty without one.
        decoders: Post-processing that this project has.
    """

    name: str
    project: str = ""
    decoders: tuple[str, ...] = ()


@dataclass(frozen=True)
class AppHeadersParameters(NetworkFiles):
    """Parameters of the step.

    Attributes:
        application: Application that model.yaml describes; None if it describes none.
        asked: Post-processing whose macros follow from the network; None for that of model.yaml.
        postprocess: Decoder that model.yaml describes.
        classes: Labels of the outputs.
    """

    application: Application | None
    asked: Asked | None
    postprocess: Postprocess | None
    classes: tuple[str, ...]


@dataclass(frozen=True)
class DecoderHeaderParameters(NetworkFiles):
    """Parameters of the step for n6_decoder.h and n6_picture.h.

    Attributes:
        model: Name of the model.
        postprocess: Decoder that model.yaml describes.
        preprocess: Pre-processing that model.yaml describes.
        classes: Labels of the outputs.
    """

    model: str
    postprocess: Postprocess
    preprocess: Preprocess
    classes: tuple[str, ...]


def config_of(network: NetworkSteps) -> str:
    """Return the path of a network's app_config.h."""
    return f"{network.folder}_app/app_config.h"


def app_headers_steps(folder: str, network: NetworkSteps, asked: Asked | None = None) -> tuple[Step, ...]:
    """Return the steps for the headers that model.yaml or the command line describes.

    Args:
        folder: Folder for the headers.
        network: Compiled network of the model.
        asked: Post-processing of the command line or of a third-party project.
    """
    model = network.model
    steps = []
    if model.application is not None or asked:
        steps.append(_application_step(folder, network, asked))
    if model.postprocess is not None and LAYOUT not in model.waived:
        parameters = with_fields_of(DecoderHeaderParameters, network, model, model=model.name)
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


def _application_step(folder: str, network: NetworkSteps, asked: Asked | None) -> Step:
    model = network.model
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/app_config.h", f"{folder}/app_buffers.h"),
        sources=network.described,
        parameters=to_parameters(
            with_fields_of(
                AppHeadersParameters, network, model, asked=asked, postprocess=model.postprocess if asked else None
            )
        ),
        templates=tuple(map(project_path, with_included(TEMPLATE))),
        function="n6build.steps.app_headers:make_app_headers",
    )


def make_app_headers(call: Call) -> None:
    """Write app_config.h and app_buffers.h.

    Raises:
        N6Error: N6-APP-012 or N6-CHECK-042 if the post-processing does not fit the network; N6-APP-014 if the
            project does not have it; N6-APP-015 if the network leaves buffers to the application.
    """
    given = call.parameters_as(AppHeadersParameters)
    artifacts = given.artifacts()
    config, buffers = call.outputs
    application, classes, project = given.application or Application(), given.classes, InProject()
    if given.asked:
        decoder = st_decoder(given.asked.name, given.postprocess, artifacts.inputs, artifacts.outputs, classes)
        if given.asked.project:
            project = InProject(OWN_CONFIG, sets_camera=given.application is not None)
            _check_decoder(decoder.name, given.asked)
            check_buffers((*artifacts.inputs, *artifacts.outputs), given.asked)
        own = application.post_processing
        constants = {**decoder.constants, **own.constants}
        application = replace(application, post_processing=PostProcessing(decoder.name, constants))
        classes = decoder.classes
    write_atomically(config, app_config(application, classes, artifacts, project))
    write_atomically(buffers, buffers_header(artifacts.pools, artifacts.inputs))


def _check_decoder(name: str, asked: Asked) -> None:
    if name not in asked.decoders:
        what = f"{asked.project} has no post-processing {name}; it has {', '.join(asked.decoders)}"
        raise N6Error("N6-APP-014", what, where="application", hint="choose a network that fits one of these")


def check_buffers(ports: Sequence[IoBuffer], asked: Asked) -> None:
    """Check that a network has its inputs and outputs in its own memory.

    Raises:
        N6Error: N6-APP-015 if it leaves a buffer to the application.
    """
    for port in ports:
        if port.own:
            what = f"{asked.project} takes inputs and outputs from the network, but this one leaves {port.name} to it"
            hint = "compile the network without --no-inputs-allocation and --no-outputs-allocation"
            raise N6Error("N6-APP-015", what, where="application", hint=hint)


def make_decoder_header(call: Call) -> None:
    """Write n6_decoder.h and n6_picture.h.

    Raises:
        N6Error: N6-CHECK-042 if the outputs do not fit the decoder.
    """
    given = call.parameters_as(DecoderHeaderParameters)
    artifacts = given.artifacts()
    layout = layout_of(given.postprocess, artifacts.inputs, artifacts.outputs, given.classes)
    decoder, picture = call.outputs
    write_atomically(decoder, decoder_header(layout, given.model))
    write_atomically(picture, picture_header(artifacts.inputs, given.preprocess, given.model))
