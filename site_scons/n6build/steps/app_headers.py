"""Step for app_config.h and app_buffers.h, the headers of an application.

Only models whose model.yaml describes an application have these headers.
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
from n6build.engine.step import Call, Step, to_parameters
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


def app_headers_steps(folder: str, network: NetworkSteps) -> tuple[Step, ...]:
    """Return the step for both headers, or none without an application in model.yaml.

    Args:
        folder: Folder for the headers.
        network: Compiled network of the model.
    """
    model = network.model
    if model.application is None:
        return ()
    step = Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/app_config.h", f"{folder}/app_buffers.h"),
        sources=network.described,
        parameters=to_parameters(
            AppHeadersParameters(model.application, model.classes, network.name, network.folder, network.weights)
        ),
        templates=tuple(map(project_path, with_included(TEMPLATE))),
        function="n6build.steps.app_headers:make_app_headers",
    )
    return (step,)


def make_app_headers(call: Call) -> None:
    """Write app_config.h and app_buffers.h."""
    given = call.parameters_as(AppHeadersParameters)
    artifacts = read_artifacts(Path(given.folder), given.name, given.weights)
    config, buffers = call.outputs
    write_atomically(config, app_config(given.application, given.classes, artifacts))
    write_atomically(buffers, buffers_header(artifacts.pools, artifacts.inputs))
