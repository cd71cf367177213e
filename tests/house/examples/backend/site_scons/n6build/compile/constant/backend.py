"""Backend constant, which compiles models whose name begins with 'constant'.

The reference backend does the work; the console shows the name of this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from n6build.base.console import say
from n6build.base.environment import Environment
from n6build.base.yaml_schema import Section
from n6build.compile.backend import Backend, Compilation, ModelSource, require_file
from n6build.compile.reference import backend as reference
from n6build.engine.step import Call, Step


@dataclass(frozen=True)
class Options:
    """Options below network.constant in a model.yaml.

    Attributes:
        greeting: Example of an option; it has no effect.
    """

    greeting: str = "constant"


def _check_options(section: Section) -> None:
    section.load(Options)


def _step(given: Compilation) -> Step:
    return replace(
        reference.BACKEND.step(given), verb="Network", function="n6build.compile.constant.backend:make_constant_network"
    )


def _suits(source: ModelSource, environment: Environment) -> bool:
    return source.name.startswith("constant")


def _check(source: ModelSource) -> None:
    require_file("constant", source)


BACKEND = Backend(
    name="constant",
    preference=9,
    strict=True,
    exact=True,
    for_npu=False,
    suits=_suits,
    check=_check,
    check_options=_check_options,
    step=_step,
    kernels=reference.BACKEND.kernels,
)


def make_constant_network(call: Call) -> None:
    """Compile the network with the reference backend.

    The step names this function as 'module:name'; see engine/step.py.
    """
    say("Backend", "constant", "as the reference backend")
    reference.make_reference_network(call)
